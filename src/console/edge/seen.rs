//! Reads what an answer may have shown of a task: whole transcripts, out of its log.

use crate::runtime::{Error, Output, TaskView};

use super::super::app::seen::{Showing, Transcript};

/// The longest log that is read for this.
const MOST_BYTES: u64 = 4 << 20;

/// Reads the streams that an answer shows. Blocking. None when one is too long to be looked through.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn read(
    task: &TaskView,
    showings: Vec<Showing>,
) -> Result<Option<Vec<(Showing, Transcript)>>, Error> {
    let output = Output::stored(task)?;
    let mut read = Vec::new();
    for showing in showings {
        let text = |to| output.all_now(showing.stream, to, MOST_BYTES);
        let Some(all) = text(u64::MAX)? else { return Ok(None) };
        let before = if showing.from == 0 { String::new() } else { text(showing.from)?.unwrap_or_default() };
        let until = showing.to.map_or(Ok(None), text)?;
        read.push((showing, Transcript { all, before, until }));
    }
    Ok(Some(read))
}

//! Reads what an answer may have shown of commands: whole transcripts, out of their logs.

use std::sync::Arc;

use crate::runtime::{Error, Output, TaskView};

use crate::console::app::coverage::{Showing, Shown};
use crate::console::app::coverage::{Told, Transcript};

/// The longest logs that are read for this, all of an answer together.
const MOST_BYTES: u64 = 4 << 20;

/// Reads the streams that an answer shows. Blocking. Of several commands the one that cannot be read says why.
///
/// # Errors
/// Why there is nothing to be read of the only one.
pub(in crate::console) fn read(shown: Vec<(Shown, Option<Arc<TaskView>>)>) -> Result<Vec<Told>, String> {
    let mut room = MOST_BYTES;
    let told = shown.into_iter().map(|(Shown { name, task, showings }, known)| {
        let streams = match (&task, known) {
            (Ok(_), Some(task)) => streams(&task, showings, &mut room),
            (Ok(_), None) => Err("it is no longer on the list".to_owned()),
            (Err(why), _) => Err((*why).to_owned()),
        };
        if name.is_empty() {
            return Ok(Told { name, streams: Ok(streams?) });
        }
        Ok(Told { name, streams })
    });
    told.collect()
}

fn streams(
    task: &TaskView,
    showings: Vec<Showing>,
    room: &mut u64,
) -> Result<Vec<(Showing, Transcript)>, String> {
    let said = |error: Error| error.to_string();
    let output = Output::stored(task).map_err(said)?;
    let mut read = Vec::new();
    for showing in showings {
        let text = |to, room| output.all_now(showing.stream, to, room).map_err(said);
        let Some(all) = text(u64::MAX, *room)? else {
            return Err("there is more of it than the 4 MiB that are looked through".to_owned());
        };
        let before = match showing.from {
            0 => String::new(),
            from => text(from, *room)?.unwrap_or_default(),
        };
        let until = showing.to.map_or(Ok(None), |to| text(to, *room))?;
        *room = room.saturating_sub(all.len() as u64);
        read.push((showing, Transcript { all, before, until }));
    }
    Ok(read)
}

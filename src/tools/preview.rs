//! What an answer shows of a task's output: the preview, the file with the exact stream, and the cursor to continue
//! reading from.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::budget::{OutputBudget, Room};
use super::receipt::{Artifact, fit_output, safe_size};
use crate::envelope::preview::{self, Preview, PreviewBudget, ReadOn, StreamText};
use crate::envelope::{SafeText, TaskId};
use crate::model::Error;
use crate::runtime::{OutputStream, StoredOutput};

/// A stream as shown in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamPreview {
    /// Its preview; `None` if it is blank.
    pub preview: Option<Preview>,
    /// The file with the exact stream, if the preview leaves something out.
    pub artifact: Option<PathBuf>,
    /// Bytes that even the file does not contain.
    pub dropped_bytes: u64,
    /// Whether the output is gone.
    pub is_lost: bool,
    /// How the truncation marker says to read what is left out.
    pub read_on: ReadOn,
}

impl StreamPreview {
    /// Truncates a text to a budget, without instructions to read on and before any file is written.
    pub fn of(text: &StreamText, budget: impl Into<PreviewBudget>) -> Self {
        Self { preview: preview::cut(text, budget), ..Self::default() }
    }

    /// Truncates a command's standard output and standard error to a shared budget. `id` is the id with which to read
    /// the rest.
    pub fn pair(
        stdout: &StreamText,
        stderr: &StreamText,
        id: &TaskId,
        budget: impl Into<PreviewBudget>,
    ) -> (Self, Self) {
        let is_empty = |text: &StreamText| matches!(text, StreamText::Whole(text) if text.is_empty());
        // Lines are counted over all output unless a stream is named.
        let read_on = |name: &str, other| ReadOn {
            with: Some(if is_empty(other) { id.to_string() } else { format!("{id} stream={name}") }),
            from_line: None,
        };
        let (on_stdout, on_stderr) = (read_on("stdout", stderr), read_on("stderr", stdout));
        let (a, b) = preview::cut_pair((stdout, &on_stdout), (stderr, &on_stderr), budget);
        let shown = |preview, read_on| Self { preview, read_on, ..Self::default() };
        (shown(a, on_stdout), shown(b, on_stderr))
    }

    /// Reads both streams of a command and truncates them to a shared budget.
    pub(super) async fn streams(
        output: &StoredOutput,
        id: &TaskId,
        budget: OutputBudget,
    ) -> Result<(Self, Self), Error> {
        let (stdout, stderr) = output.both_streams(budget.chars.whole).await?;
        let (stdout, stderr) = Self::pair(&stdout, &stderr, id, budget.chars);
        // The visible names of hidden characters are longer than the characters.
        let size = |shown: &Self| shown.preview.as_ref().map_or(Room::NONE, |shown| safe_size(&shown.text));
        let (a, b) = budget.room.split(size(&stdout), size(&stderr));
        let (stdout, stderr) = (stdout.within(a), stderr.within(b));
        let is_lost = output.is_lost();
        Ok((Self { is_lost, ..stdout }, Self { is_lost, ..stderr }))
    }

    /// Reads all output from a position on, in order of arrival, and writes the file if something is left out.
    pub(super) async fn read_merged(
        output: &StoredOutput,
        id: &TaskId,
        from: u64,
        budget: OutputBudget,
    ) -> Result<Self, Error> {
        let text = output.text(OutputStream::Merged, from, budget.chars.whole).await?;
        let fits = matches!(&text, StreamText::Whole(text) if text.len() <= budget.chars.whole && budget.room.excess(text).is_none());
        let from_line = if from > 0 && !fits { Some(output.line_at(from).await?) } else { None };
        let read_on = ReadOn { with: Some(id.to_string()), from_line };
        let preview = preview::cut_with(&text, budget.chars, &read_on);
        let shown = Self { is_lost: output.is_lost(), preview, read_on, ..Self::default() };
        Ok(shown.within(budget.room).keep(output, OutputStream::Merged).await)
    }

    /// Truncates the preview to a room, if it exceeds it.
    #[must_use]
    pub fn within(mut self, room: Room) -> Self {
        if let Some(shown) = &mut self.preview {
            // Trailing blank lines are not part of a receipt.
            let text = shown.text.trim_end_matches('\n');
            if room.excess(&SafeText::lines(text)).is_some() {
                *shown = Preview { text: fit_output(text, room, &self.read_on), truncated: true };
            }
        }
        self
    }

    /// Writes the file if something is left out. If that fails, no file is offered.
    pub(super) async fn keep(self, output: &StoredOutput, stream: OutputStream) -> Self {
        let mut shown = self;
        if shown.is_truncated() && !shown.is_lost {
            match output.artifact(stream).await {
                Ok(path) => shown.artifact = Some(path),
                Err(error) => tracing::warn!(%error, "the answer is sent without the file of its output"),
            }
            match output.dropped_bytes(stream) {
                Ok(dropped) => shown.dropped_bytes = dropped,
                Err(error) => {
                    tracing::warn!(%error, "the answer is sent without the count of bytes that were not kept")
                }
            }
        }
        shown
    }

    pub(super) fn text(&self) -> Option<String> {
        let text = self.preview.as_ref().map(|preview| preview.text.clone());
        text.filter(|text| !text.trim().is_empty())
    }

    /// Returns whether part of the stream is missing.
    pub fn is_truncated(&self) -> bool {
        self.is_lost || self.preview.as_ref().is_some_and(|preview| preview.truncated)
    }

    /// Returns whether TaskOutput can read what is missing.
    pub(super) fn can_be_read_on(&self) -> bool {
        self.is_truncated() && !self.is_lost
    }

    /// Adds its file to a list; returns the index in the list.
    pub(super) fn list_artifact(&self, list: &mut Vec<Artifact>) -> Option<usize> {
        let path = self.artifact.as_ref()?.to_string_lossy().into_owned();
        list.push(Artifact { path });
        Some(list.len() - 1)
    }
}

/// A position in a task's output from which to continue reading. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutputCursor(u64);

impl OutputCursor {
    /// Returns the cursor for a position in the merged output.
    pub fn at(position: u64) -> Self {
        Self(position)
    }

    /// Returns the position in the merged output.
    pub fn position(self) -> u64 {
        self.0
    }
}

impl fmt::Display for OutputCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{:x}", self.0)
    }
}

impl FromStr for OutputCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let digits = text.strip_prefix('c').ok_or(InvalidCursor)?;
        let cursor = u64::from_str_radix(digits, 16).map(Self).map_err(|_| InvalidCursor)?;
        // Accepts only what `Display` writes: no sign, no leading zeros.
        if cursor.to_string() == text { Ok(cursor) } else { Err(InvalidCursor) }
    }
}

/// A text that is not a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what `next_cursor` of an earlier answer said")]
pub struct InvalidCursor;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        for position in [0, 1, 4096, u64::MAX] {
            let cursor = OutputCursor::at(position);
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for bad in ["", "c", "12", "c+1", "c01", "cC", "c-1", "cg", "c10000000000000000"] {
            assert_eq!(bad.parse::<OutputCursor>(), Err(InvalidCursor), "{bad}");
        }
    }

    #[test]
    fn a_preview_that_was_cut_stays_marked_as_truncated() {
        let of =
            |chars: usize, budget: usize| StreamPreview::of(&StreamText::Whole("x".repeat(chars)), budget);
        assert!(!of(0, 100).is_truncated() && !of(100, 100).is_truncated() && of(101, 100).is_truncated());
        let cut = of(1_000, 2_000).within(Room::chars(400));
        assert!(cut.is_truncated() && cut.text().is_some_and(|text| text.chars().count() <= 400));
        assert_eq!(of(1_000, 2_000).within(Room::chars(1_000)), of(1_000, 2_000));
        assert_eq!(of(10, 100).within(Room::NONE).text(), None, "nothing is no text");
        assert_eq!(Room::default().budget(Some(64_000)).chars, 36_000.into());
        assert_eq!(Room::default().budget(Some(50)).chars, 200.into());
    }
}

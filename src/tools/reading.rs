//! What an answer shows of a task's output: the preview, the file that holds the rest, and the
//! place to read on from.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::{OUTPUT_ROOM, safe_chars};
use crate::envelope::preview::{self, Preview, Text};
use crate::runtime::{Error, Output, Stream};

/// A file with an exact stream, for what a preview left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Artifact {
    /// Absolute path on this machine.
    pub(super) path: String,
}

/// A stream as an answer shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Its preview; none when it is blank.
    pub preview: Option<Preview>,
    /// The file with the exact stream, when something of it is not shown.
    pub artifact: Option<PathBuf>,
    /// Bytes that even the file does not have.
    pub dropped_bytes: u64,
}

impl Shown {
    /// Returns how a single stream is shown within a budget, before any file is made.
    #[must_use]
    pub fn of(text: &Text, budget_chars: usize) -> Self {
        Self { preview: preview::cut(text, budget_chars), ..Self::default() }
    }

    /// Returns how two streams are shown within one budget.
    #[must_use]
    pub fn pair(a: &Text, b: &Text, budget_chars: usize) -> (Self, Self) {
        let (a, b) = preview::cut_pair(a, b, budget_chars);
        let shown = |preview| Self { preview, ..Self::default() };
        (shown(a), shown(b))
    }

    /// Reads both streams of a command and cuts them to one budget.
    pub(super) async fn streams(output: &Output, budget_chars: usize) -> Result<(Self, Self), Error> {
        let stdout = output.text(Stream::Stdout, 0, budget_chars).await?;
        let stderr = output.text(Stream::Stderr, 0, budget_chars).await?;
        Ok(Self::pair(&stdout, &stderr, budget_chars))
    }

    /// Tells whether a reader will miss something: the preview was cut, or a receipt has no room
    /// for all of it beside `others` more streams.
    #[must_use]
    pub fn leaves_out(&self, others: usize) -> bool {
        let room = OUTPUT_ROOM / (others + 1);
        self.preview.as_ref().is_some_and(|shown| shown.truncated || safe_chars(&shown.text) > room)
    }

    /// Makes the file, when something is left out. A file that cannot be made is not offered.
    pub(super) async fn keep(self, others: usize, output: &Output, stream: Stream) -> Self {
        let is_cut = self.leaves_out(others);
        self.keep_if(is_cut, output, stream).await
    }

    /// Makes the file, when the preview was cut or the receipt will cut it.
    pub(super) async fn keep_if(mut self, is_cut: bool, output: &Output, stream: Stream) -> Self {
        if is_cut || self.truncated() {
            match output.artifact(stream).await {
                Ok(path) => self.artifact = Some(path),
                Err(error) => tracing::warn!(%error, "the answer goes without the file of its output"),
            }
            match output.dropped(stream) {
                Ok(dropped) => self.dropped_bytes = dropped,
                Err(error) => tracing::warn!(%error, "the answer goes without the count of bytes not kept"),
            }
        }
        self
    }

    pub(super) fn text(&self) -> Option<String> {
        self.preview.as_ref().map(|preview| preview.text.clone())
    }

    pub(super) fn truncated(&self) -> bool {
        self.preview.as_ref().is_some_and(|preview| preview.truncated)
    }

    /// Adds its file to a list; returns its place there.
    pub(super) fn list_artifact(&self, list: &mut Vec<Artifact>) -> Option<usize> {
        let path = self.artifact.as_ref()?.to_string_lossy().into_owned();
        list.push(Artifact { path });
        Some(list.len() - 1)
    }
}

/// A place in a task's output, to read on from. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(u64);

impl Cursor {
    /// Returns the cursor of a position in the merged output.
    #[must_use]
    pub fn at(position: u64) -> Self {
        Self(position)
    }

    /// Returns the position in the merged output.
    #[must_use]
    pub fn position(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{:x}", self.0)
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let digits = text.strip_prefix('c').ok_or(InvalidCursor)?;
        let cursor = u64::from_str_radix(digits, 16).map(Self).map_err(|_| InvalidCursor)?;
        // Only what Display writes: no sign, no leading zeros.
        if cursor.to_string() == text { Ok(cursor) } else { Err(InvalidCursor) }
    }
}

/// A text that is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what `next_cursor` of an earlier answer said")]
pub struct InvalidCursor;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        for position in [0, 1, 4096, u64::MAX] {
            let cursor = Cursor::at(position);
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for bad in ["", "c", "12", "c+1", "c01", "cC", "c-1", "cg", "c10000000000000000"] {
            assert_eq!(bad.parse::<Cursor>(), Err(InvalidCursor), "{bad}");
        }
    }

    #[test]
    fn a_file_is_wanted_for_what_the_preview_or_the_receipt_leaves_out() {
        let of = |chars: usize, budget: usize| Shown::of(&Text::Whole("x".repeat(chars)), budget);
        assert!(!of(0, 100).leaves_out(0));
        assert!(!of(100, 100).leaves_out(1));
        assert!(of(101, 100).leaves_out(0));
        assert!(!of(32_000, 32_000).leaves_out(0));
        assert!(of(32_000, 64_000).leaves_out(1));
        assert!(of(50_000, 64_000).leaves_out(0));
    }
}

//! A paste: text between two markers, which lasts until the second one, however long that takes.

use std::ops::Range;
use std::time::Duration;

use memchr::memmem;

use super::{ESCAPE, MOST_PASTE, PasteTrouble, TerminalInput};

/// The marker at its beginning.
pub(super) const BEGIN: &[u8] = b"\x1b[200~";
/// The marker at its end.
pub(super) const END: &[u8] = b"\x1b[201~";
/// After this time without a byte, the Escape key drops a paste.
const STALLED: Duration = Duration::from_secs(2);

/// A paste whose end has not come yet.
#[derive(Debug, Default)]
pub(super) struct OpenPaste {
    text: Vec<u8>,
    /// How many bytes came before the text, because it is too long.
    forgotten: usize,
    is_stalled: bool,
    /// How many Escape characters came after a stall: the key, if nothing follows them.
    escapes: usize,
}

impl OpenPaste {
    /// Takes more bytes. At the end of the paste, returns what came of it and the bytes behind it.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> Option<(TerminalInput, &'a [u8])> {
        // The marker may have begun in the bytes before.
        let from = self.text.len().saturating_sub(END.len() - 1);
        self.text.extend(std::iter::repeat_n(0x1b, self.escapes));
        self.text.extend_from_slice(bytes);
        (self.is_stalled, self.escapes) = (false, 0);
        let Some(at) = memmem::find(&self.text[from..], END) else {
            if self.text.len() > MOST_PASTE + END.len() {
                let over = self.text.len() - (END.len() - 1);
                self.text.drain(..over);
                self.forgotten += over;
            }
            return None;
        };
        let behind = self.text.len() - (from + at + END.len());
        self.text.truncate(from + at);
        let total = self.total();
        let pasted = match total > MOST_PASTE {
            true => TerminalInput::PasteTrouble(PasteTrouble::TooLong(total)),
            false => TerminalInput::Paste(text(std::mem::take(&mut self.text))),
        };
        Some((pasted, &bytes[bytes.len() - behind..]))
    }

    /// Takes the Escape key if it may be meant to drop the paste; tells whether that is the case.
    pub(super) fn may_leave(&mut self, bytes: &[u8]) -> bool {
        let may_leave = self.is_stalled && bytes.iter().all(|byte| *byte == 0x1b);
        self.escapes += if may_leave { bytes.len() } else { 0 };
        may_leave
    }

    /// Returns how long to wait for the next byte; none if only a byte makes a difference.
    pub(super) fn patience(&self) -> Option<Duration> {
        match (self.escapes, self.is_stalled) {
            (0, true) => None,
            (0, false) => Some(STALLED),
            (_, _) => Some(ESCAPE),
        }
    }

    /// Handles the end of that time. A paste that was dropped must not be used any more.
    pub(super) fn time_out(&mut self) -> PasteTrouble {
        if self.escapes > 0 {
            return PasteTrouble::Dropped(self.total());
        }
        self.is_stalled = true;
        PasteTrouble::Stalled
    }

    fn total(&self) -> usize {
        self.forgotten + self.text.len()
    }
}

/// Returns where the first paste among the bytes begins.
pub(super) fn begin(bytes: &[u8]) -> Option<usize> {
    memmem::find(bytes, BEGIN)
}

/// Returns where the first marker of an end is.
pub(super) fn end(bytes: &[u8]) -> Option<Range<usize>> {
    memmem::find(bytes, END).map(|at| at..at + END.len())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

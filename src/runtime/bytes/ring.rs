//! The buffer that carries one task's bytes from the pump to a parser.

use std::time::Duration;

use crate::terminal::Dialogue;

/// Bytes that may wait for a parser; at this limit the pump stops reading the task, whose writes then block.
pub(super) const RING_BYTES: usize = 256 << 10;
/// The same for all tasks together: while many wait, each may have less.
const ALL_BYTES: usize = 24 << 20;
/// What each may have in any case: it is what one read may bring.
const LEAST_BYTES: usize = 64 << 10;
/// How long a parser holds a terminal before it checks for waiting readers.
pub(super) const SLICE: Duration = Duration::from_millis(1);
const SLICE_BYTES: std::ops::RangeInclusive<usize> = 4 << 10..=RING_BYTES;

/// The bytes, and their state on the way to a parser.
#[derive(Debug, Default)]
pub(super) struct ByteRing {
    pub(super) bytes: Vec<u8>,
    /// A parser is working on the ring, or the ring is queued for one.
    pub(super) queued: bool,
    /// The pump stopped reading because the ring was full.
    pub(super) blocked: bool,
    pub(super) slice: Slice,
    /// For a command with a terminal beside its streams.
    pub(super) dialogue: Dialogue,
}

/// Returns how many bytes of a task may wait for a parser while so many tasks wait.
pub(super) fn share(waiting: usize) -> usize {
    (ALL_BYTES / waiting.max(1)).clamp(LEAST_BYTES, RING_BYTES)
}

impl ByteRing {
    /// Appends bytes; `aside` says that they were written to a terminal beside the command's streams. Returns whether
    /// the ring is full: it is once it holds `most` bytes, until a parser takes them, even if more may wait by then.
    pub(super) fn ingest(&mut self, aside: bool, bytes: &[u8], most: usize) -> bool {
        self.bytes.extend_from_slice(&self.dialogue.draw(aside, bytes));
        self.blocked |= self.bytes.len() >= most;
        self.blocked
    }

    /// Exchanges the bytes for an empty buffer; returns whether the ring was full.
    pub(super) fn swap_out(&mut self, piece: &mut Vec<u8>) -> bool {
        std::mem::swap(&mut self.bytes, piece);
        std::mem::take(&mut self.blocked)
    }

    /// Puts back the unparsed part of a piece and empties the piece; returns whether there is more to parse.
    pub(super) fn put_back(&mut self, piece: &mut Vec<u8>, parsed: usize) -> bool {
        if parsed < piece.len() {
            self.bytes.splice(..0, piece.drain(parsed..));
        }
        piece.clear();
        if self.bytes.is_empty() && self.bytes.capacity() > 0 {
            // A quiet task holds no buffer: the parser keeps the larger one.
            let own = std::mem::take(&mut self.bytes);
            if own.capacity() > piece.capacity() {
                *piece = own;
            }
        }
        self.queued = !self.bytes.is_empty();
        self.queued
    }
}

/// How many of a task's bytes recently took about one slice of time to parse.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice(usize);

impl Default for Slice {
    fn default() -> Self {
        Self(*SLICE_BYTES.start())
    }
}

impl Slice {
    pub(super) fn bytes(self) -> usize {
        self.0
    }

    /// Adapts to a slice of `fed` bytes that took `spent`.
    pub(super) fn adapt(&mut self, fed: usize, spent: Duration) {
        let next = if spent > SLICE * 2 {
            self.0 / 2
        } else if fed == self.0 && spent < SLICE {
            self.0 * 2
        } else {
            self.0
        };
        self.0 = next.clamp(*SLICE_BYTES.start(), *SLICE_BYTES.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unparsed_bytes_come_before_newer_bytes() {
        let (mut ring, mut piece) = (ByteRing::default(), Vec::new());
        ring.ingest(false, b"abcdef", RING_BYTES);
        assert!(!ring.swap_out(&mut piece));
        ring.ingest(false, b"gh", RING_BYTES);
        assert!(ring.put_back(&mut piece, 4));
        assert_eq!((ring.bytes.as_slice(), piece.as_slice()), (&b"efgh"[..], &b""[..]));
    }

    #[test]
    fn a_full_ring_reports_that_and_a_quiet_ring_holds_no_memory() {
        let (mut ring, mut piece) = (ByteRing::default(), Vec::new());
        assert!(ring.ingest(false, &vec![b'y'; RING_BYTES], RING_BYTES));
        assert!(ring.swap_out(&mut piece));
        ring.ingest(false, b"more", RING_BYTES);
        let parsed = piece.len();
        assert!(ring.put_back(&mut piece, parsed));
        assert!(!ring.swap_out(&mut piece));
        assert!(!ring.put_back(&mut piece, 4));
        assert_eq!(ring.bytes.capacity(), 0);
        assert!(piece.capacity() >= RING_BYTES, "kept for the next task");
    }

    #[test]
    fn the_share_of_each_task_shrinks_with_the_number_of_waiting_tasks() {
        assert_eq!([0, 1, 96, 192, 100_000].map(share), [256, 256, 256, 128, 64].map(|kib| kib << 10));
        let mut ring = ByteRing::default();
        assert!(!ring.ingest(false, &vec![b'y'; LEAST_BYTES], share(1)));
        assert!(ring.ingest(false, b"y", share(1_000)));
        assert!(ring.ingest(false, b"y", share(1)), "the task waits until a parser has taken the bytes");
        assert!(ring.swap_out(&mut Vec::new()));
        assert!(!ring.ingest(false, b"y", share(1)));
    }

    #[test]
    fn a_slice_grows_while_it_is_quick_and_shrinks_when_it_is_not() {
        let mut slice = Slice::default();
        let first = slice.bytes();
        slice.adapt(first, SLICE / 2);
        assert_eq!(slice.bytes(), first * 2);
        slice.adapt(first, SLICE / 2);
        assert_eq!(slice.bytes(), first * 2, "less than a slice tells nothing");
        slice.adapt(first * 2, SLICE * 3);
        slice.adapt(first, SLICE * 3);
        assert_eq!(slice.bytes(), first, "never below the least");
    }
}

//! When the lines of a log arrived, as precisely as its marks tell.

use std::io;

use super::LogHistory;
use super::log::LogBytes;

/// Maximum number of bytes read for the lines of a page.
const MOST_BYTES: u64 = 1024 * 1024;

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns when the first byte of each of the given lines arrived, in milliseconds since the task
    /// started; `None` for a line without any bytes yet, and for lines more than a mebibyte after the first.
    /// The lines must be in order.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn times(&self, lines: &[u64]) -> io::Result<Vec<Option<u32>>> {
        let mut times = vec![None; lines.len()];
        let Some(&first) = lines.first() else { return Ok(times) };
        let Some(start) = self.start_of(first)? else { return Ok(times) };
        let bytes = self.log.read_range(start..(start + MOST_BYTES).min(self.log.len()))?;
        let feeds = memchr::memchr_iter(b'\n', &bytes).map(|feed| feed as u64 + 1);
        let mut starts = (first..).zip([0].into_iter().chain(feeds)).peekable();
        for (time, line) in times.iter_mut().zip(lines) {
            while starts.next_if(|(number, _)| number < line).is_some() {}
            let here = starts.peek().filter(|(number, at)| number == line && *at < bytes.len() as u64);
            *time = here.and_then(|(_, at)| self.came(start + at));
        }
        Ok(times)
    }

    /// Returns when the byte at an offset arrived: the time of the last mark at or before it.
    pub(super) fn came(&self, offset: u64) -> Option<u32> {
        let count = self.marks.partition_point(|mark| mark.offset <= offset);
        self.marks.get(count.checked_sub(1)?).map(|mark| mark.at_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrigin, ByteSource, Mark, MarkKind, Size};

    #[test]
    fn a_line_has_the_time_of_its_first_byte() {
        let log = &b"one\ntwo\nthree\nfou"[..];
        let mark =
            |offset, line, at_ms| Mark { offset, line, at_ms, kind: MarkKind::Chunk(ByteSource::Stdout) };
        // "one\nt" arrived at once, "wo\n" later, "three\nfou" at the end.
        let marks = [mark(0, 0, 5), mark(5, 1, 900), mark(8, 2, 4_000)];
        let history = LogHistory::new(log, &marks, ByteOrigin::Pipe, Size::default());
        let times = |lines: &[u64]| history.times(lines).expect("reads");
        assert_eq!(times(&[0, 1, 2, 3]), [Some(5), Some(5), Some(4_000), Some(4_000)]);
        assert_eq!(times(&[1, 1, 3]), [Some(5), Some(5), Some(4_000)], "rows of one line have one time");
        assert_eq!(times(&[2, 4]), [Some(4_000), None], "no byte of it came yet");
        assert_eq!(times(&[9]), [None]);
    }

    #[test]
    fn the_last_lines_that_hold_a_text_are_numbered_as_in_the_whole_log() {
        let log: String = (0..100).map(|line| format!("line {line}\r\n")).collect();
        let history = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Pipe, Size::default());
        let found = |needle, most, bytes| history.last_holding(needle, most, bytes).expect("reads");
        assert_eq!(found("line 7", 50, 1 << 20).len(), 11);
        assert_eq!(found("LINE 7", 50, 1 << 20).len(), 0);
        assert_eq!(found("9", 2, 1 << 20), [(98, "line 98".to_owned()), (99, "line 99".to_owned())]);
        assert_eq!(
            found("line", 50, 30).first(),
            Some(&(97, "line 97".to_owned())),
            "of the last bytes alone"
        );
    }
}

//! Prompts in a log: the positions where a shell has marked the beginning of one (OSC 133 A). The raw bytes
//! are searched on demand: `ESC ]` always begins such a sequence, so every match is a mark.

use std::io;

use memchr::memmem::Finder;

use super::log::LogBytes;
use super::{LogHistory, line_feeds};

const MARK: &[u8] = b"\x1b]133;A";
/// Number of bytes searched at once.
const BLOCK: u64 = 256 * 1024;

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns the first line from `from_line` on, or with `forward` unset the last one up to it, on which a
    /// prompt begins.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn prompt(&self, from_line: u64, forward: bool) -> io::Result<Option<u64>> {
        let end = self.log.len();
        let found = if forward {
            match self.start_of(from_line)? {
                Some(start) => self.mark_between(start, end, true)?,
                None => None,
            }
        } else {
            let end = self.start_of(from_line.saturating_add(1))?.unwrap_or(end);
            self.mark_between(0, end, false)?
        };
        found.map(|offset| self.line_at(offset)).transpose()
    }

    /// Returns the offset of the first or last mark that begins in a part of the log.
    fn mark_between(&self, from: u64, to: u64, first: bool) -> io::Result<Option<u64>> {
        let finder = Finder::new(MARK);
        let margin = MARK.len() as u64;
        let blocks = (to.saturating_sub(from)).div_ceil(BLOCK);
        for at in 0..blocks {
            let block = if first { at } else { blocks - 1 - at };
            let start = from + block * BLOCK;
            let end = (start + BLOCK).min(to);
            // A mark may be split at the end of a block, and it takes the following byte to tell whether it
            // is one.
            let bytes = self.log.read_range(start..end + margin)?;
            let room = usize::try_from(end - start).unwrap_or(usize::MAX);
            let is_whole = |at: &usize| {
                *at < room && matches!(bytes.get(at + MARK.len()), None | Some(b';' | 0x07 | 0x1b))
            };
            let mut marks = finder.find_iter(&bytes).filter(is_whole);
            let found = if first { marks.next() } else { marks.last() };
            if let Some(found) = found {
                return Ok(Some(start + found as u64));
            }
        }
        Ok(None)
    }

    /// Returns the line that contains the byte at `offset`.
    pub(super) fn line_at(&self, offset: u64) -> io::Result<u64> {
        let (from, mut line) = self.place_before(|mark| mark.offset <= offset);
        self.log.for_each_block(from..offset, |_, block| {
            line += line_feeds(block);
            true
        })?;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::size::Size;
    use crate::terminal::ByteOrigin;

    fn naive(log: &str) -> Vec<u64> {
        let is_prompt = |line: &str| line.contains("\x1b]133;A\x07") || line.contains("\x1b]133;A;");
        (0..).zip(log.split('\n')).filter(|(_, line)| is_prompt(line)).map(|(at, _)| at).collect()
    }

    fn check(log: &str) {
        let history = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Tty, Size::default());
        let prompts = naive(log);
        for line in 0..=history.lines() {
            let after = prompts.iter().copied().find(|prompt| *prompt >= line);
            let before = prompts.iter().copied().rfind(|prompt| *prompt <= line);
            assert_eq!(history.prompt(line, true).expect("reads"), after, "from {line} on in {log:?}");
            assert_eq!(history.prompt(line, false).expect("reads"), before, "up to {line} in {log:?}");
        }
    }

    #[test]
    fn marks_at_the_edges_of_a_block_are_found() {
        for pad in 0..MARK.len() + 2 {
            let filler = "x".repeat(usize::try_from(BLOCK).expect("fits") - pad);
            check(&format!("{filler}\x1b]133;A\x07$ ls\r\nout\r\n\x1b]133;A\x07$ "));
        }
    }

    #[test]
    fn only_the_beginning_of_a_prompt_counts() {
        check(
            "\x1b]133;B\x07a\n\x1b]133;C\x07b\n\x1b]133;D;0\x07c\n\x1b]133;AB\x07d\n\x1b]133;A;cl=line\x1b\\e\n",
        );
    }

    proptest! {
        #[test]
        fn the_prompts_found_in_a_log_are_all_of_its_marks(
            parts in prop::collection::vec(
                prop::sample::select(vec!["\n", "\x1b]133;A\x07", "\x1b]133;A;x\x1b\\", "\x1b]133;C\x07", "text", "\x1b]133;"]),
                0..40,
            ),
        ) {
            check(&parts.concat());
        }
    }
}

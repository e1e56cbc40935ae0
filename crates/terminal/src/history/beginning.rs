//! Where interpreting a log can begin so that a later part of it is drawn as if all of it had been.

use std::io;

use super::log::LogBytes;
use super::{LogHistory, line_feeds};
use crate::marks::{Mark, MarkKind};
use crate::reach::{SequenceReach, reach};

/// Up to this many bytes are interpreted from the beginning.
const WHOLE: u64 = 1 << 20;
/// Number of bytes that are looked at at once, going back.
const BLOCK: u64 = 256 << 10;
/// Maximum number of bytes that are looked at before everything is interpreted from the beginning.
const LOOKED_AT: u64 = 8 << 20;

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns where to begin, and the line that begins there, for the rows from `start` on: before so many lines of plain text that nothing printed earlier is on the screen any more.
    pub(super) fn beginning_before(&self, start: u64) -> io::Result<(u64, u64)> {
        let mut end = start;
        while end > WHOLE && start - end < LOOKED_AT {
            let begin = self.line_start(end - BLOCK, end)?;
            let begin = self.open_string(begin)?.unwrap_or(begin);
            if self.settles(&self.log.read_range(begin..end)?) && self.has_whole_screen(begin)? {
                return Ok((begin, self.line_of(begin)?));
            }
            end -= BLOCK;
        }
        Ok((0, 0))
    }

    /// Tells whether some output leaves nothing of earlier output on a screen.
    fn settles(&self, output: &[u8]) -> bool {
        let sizes = self.marks.iter().filter_map(|mark| match mark.kind {
            MarkKind::Resize(size) => Some(size.rows()),
            _ => None,
        });
        let height = u64::from(sizes.chain([self.size.rows()]).max().unwrap_or_default());
        let (mut feeds, mut from) = (0, 0);
        for escape in memchr::memchr_iter(0x1b, output) {
            feeds += line_feeds(&output[from..escape]);
            from = escape;
            match reach(&output[escape..]) {
                _ if feeds > height => return true,
                SequenceReach::Clears => return true,
                SequenceReach::Line => {}
                SequenceReach::Screen | SequenceReach::Unknown => feeds = 0,
            }
        }
        feeds + line_feeds(&output[from..]) > height
    }

    /// Tells whether the primary screen is on at an offset, and scrolls as a whole: looks for the last sequence before
    /// that says so.
    fn has_whole_screen(&self, offset: u64) -> io::Result<bool> {
        let gap = |mark: &&Mark| matches!(mark.kind, MarkKind::Gap { .. });
        let begin = self.marks.iter().rev().filter(|mark| mark.offset <= offset).find(gap);
        let begin = begin.map_or(0, |mark| mark.offset);
        let (mut screen, mut region) = (None, None);
        let mut end = offset;
        while end > begin && (screen.is_none() || region.is_none()) {
            let from = end.saturating_sub(BLOCK).max(begin);
            let bytes = self.log.read_range(from..(end + 8).min(offset))?;
            let room = usize::try_from(end - from).unwrap_or(usize::MAX).min(bytes.len());
            for escape in memchr::memrchr_iter(0x1b, &bytes[..room]) {
                match &bytes[escape + 1..] {
                    [b'c', ..] => {
                        screen = screen.or(Some(true));
                        region = region.or(Some(true));
                    }
                    [b'[', b'?', b'1', b'0', b'4', b'7' | b'9', last @ (b'h' | b'l'), ..]
                    | [b'[', b'?', b'4', b'7', last @ (b'h' | b'l'), ..] => {
                        screen = screen.or(Some(*last == b'l'));
                    }
                    [b'[', list @ ..] => {
                        let end = list.iter().take(12).position(|byte| !matches!(byte, b'0'..=b'9' | b';'));
                        if let Some(end) = end.filter(|end| list[*end] == b'r') {
                            region = region.or(Some(end == 0));
                        }
                    }
                    _ => {}
                }
            }
            end = from;
        }
        Ok(screen.unwrap_or(true) && region.unwrap_or(true))
    }

    /// Returns the number of the line that contains an offset.
    fn line_of(&self, offset: u64) -> io::Result<u64> {
        let (from, mut line) = self.place_before(|mark| mark.offset <= offset);
        self.log.for_each_block(from..offset, |_, block| {
            line += line_feeds(block);
            true
        })?;
        Ok(line)
    }
}

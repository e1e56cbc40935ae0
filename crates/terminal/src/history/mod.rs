//! Pages and search over a raw log: what has scrolled off the screen, redrawn from the bytes.

mod beginning;
mod log;
mod page;
mod pattern;
mod prompts;
mod search;
mod strings;
mod times;

use std::io;

pub use log::LogBytes;
pub use page::{Page, PageRow};
pub use pattern::SearchPattern;

use super::marks::{ByteSource, Mark, MarkKind};
use super::size::Size;
use super::terminal::ByteOrigin;

/// A raw log with its marks, for looking back. A line's number is the number of line feeds before it.
pub struct LogHistory<'a, L: ?Sized> {
    log: &'a L,
    marks: &'a [Mark],
    origin: ByteOrigin,
    size: Size,
    /// Whether pages of PTY output have the requested width, where possible.
    reflows: bool,
}

impl<'a, L: LogBytes + ?Sized> LogHistory<'a, L> {
    /// Returns a view of `log`. The marks are in order; `size` is that of the terminal before the first
    /// resize mark.
    pub fn new(log: &'a L, marks: &'a [Mark], origin: ByteOrigin, size: Size) -> Self {
        Self { log, marks, origin, size, reflows: false }
    }

    /// Returns the same view, but with pages reflowed to the requested width, as a terminal of that width
    /// would have shown them: those on which every line stays within itself and none that would not fit is
    /// overwritten.
    #[must_use]
    pub fn with_reflow(self) -> Self {
        Self { reflows: true, ..self }
    }

    /// Returns the number of lines in the log, counting an unfinished last one. A log that cannot be read has
    /// none.
    pub fn lines(&self) -> u64 {
        let (offset, line) = self.marks.last().map_or((0, 0), |mark| (mark.offset, mark.line));
        let mut lines = line;
        let mut last = None;
        let _ = self.log.for_each_block(offset.saturating_sub(1)..u64::MAX, |at, block| {
            let from_mark = usize::from(at < offset).min(block.len());
            lines += line_feeds(block.get(from_mark..).unwrap_or_default());
            last = block.last().copied();
            true
        });
        lines + u64::from(last.is_some_and(|byte| byte != b'\n'))
    }

    /// Returns the offset at which a line starts; `None` if there are fewer lines.
    fn start_of(&self, line: u64) -> io::Result<Option<u64>> {
        if line == 0 {
            return Ok((self.log.len() > 0).then_some(0));
        }
        let (offset, known) = self.place_before(|mark| mark.line < line);
        let mut missing = line - known;
        let mut found = None;
        self.log.for_each_block(offset..u64::MAX, |at, block| {
            for feed in memchr::memchr_iter(b'\n', block) {
                missing -= 1;
                if missing == 0 {
                    found = Some(at + feed as u64 + 1);
                    return false;
                }
            }
            true
        })?;
        Ok(found.filter(|start| *start < self.log.len()))
    }

    /// Returns the offset and line of the last mark that satisfies the predicate, or the beginning of the log
    /// if none does.
    fn place_before(&self, is_before: impl Fn(&Mark) -> bool) -> (u64, u64) {
        let count = self.marks.partition_point(is_before);
        let last = count.checked_sub(1).and_then(|at| self.marks.get(at));
        last.map_or((0, 0), |mark| (mark.offset, mark.line))
    }

    /// Returns the size of the terminal when the byte at `offset` was written.
    fn size_at(&self, offset: u64) -> Size {
        let before = self.marks.iter().take_while(|mark| mark.offset <= offset);
        let sizes = before.filter_map(|mark| match mark.kind {
            MarkKind::Resize(size) => Some(size),
            _ => None,
        });
        sizes.last().unwrap_or(self.size)
    }

    /// Tells whether the log has output from a terminal beside the command's streams.
    fn has_dialogue(&self) -> bool {
        let is_aside = |mark: &Mark| mark.kind == MarkKind::Chunk(ByteSource::Tty);
        self.origin == ByteOrigin::Pipe && self.marks.iter().any(is_aside)
    }

    /// Tells whether the byte at `offset` is part of such output.
    fn is_aside_at(&self, offset: u64) -> bool {
        let next = self.marks.partition_point(|mark| mark.offset <= offset);
        let chunk = |mark: &Mark| match mark.kind {
            MarkKind::Chunk(stream) => Some(stream == ByteSource::Tty),
            _ => None,
        };
        self.marks.get(..next).unwrap_or_default().iter().rev().find_map(chunk).unwrap_or(false)
    }
}

fn line_feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

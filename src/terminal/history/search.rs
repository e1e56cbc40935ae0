//! Search for text in a log, as it was shown: escapes do not count, what was overwritten is not there.

use std::io;

use memchr::memmem::Finder;

use super::super::size::Size;
use super::super::terminal::Origin;
use super::super::transcript::clean;
use super::History;
use super::log::{LogBytes, read_range};

/// How much is searched at once.
const BLOCK: u64 = 256 * 1024;
/// A line longer than this is searched in parts of this length.
const MAX_LINE: u64 = 1024 * 1024;

/// Where a search found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The log line.
    pub line: u64,
}

impl<L: LogBytes + ?Sized> History<'_, L> {
    /// Returns the first line from `from_line` on, or the last one up to it, whose text holds `needle`.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn search(&self, needle: &str, from_line: u64, forward: bool) -> io::Result<Option<Hit>> {
        if needle.is_empty() {
            return Ok(None);
        }
        let needle = Needle { text: needle, raw: Finder::new(needle) };
        if forward {
            self.search_forward(&needle, from_line)
        } else {
            self.search_backward(&needle, from_line)
        }
    }

    fn search_forward(&self, needle: &Needle<'_>, from_line: u64) -> io::Result<Option<Hit>> {
        let Some(mut from) = self.start_of(from_line)? else { return Ok(None) };
        let mut line = from_line;
        let end = self.log.len();
        while from < end {
            let to = self.line_end(from, (from + BLOCK).min(end))?;
            let lines = read_range(self.log, from, to)?;
            if let Some(feeds) = needle.first_in(&lines) {
                return Ok(Some(Hit { line: line + feeds }));
            }
            line += feeds_in(&lines);
            from = to;
        }
        Ok(None)
    }

    fn search_backward(&self, needle: &Needle<'_>, from_line: u64) -> io::Result<Option<Hit>> {
        let (mut to, mut line) = match self.start_of(from_line.saturating_add(1))? {
            Some(start) => (start, from_line + 1),
            None => (self.log.len(), self.lines()),
        };
        while to > 0 {
            let from = self.line_start(to.saturating_sub(BLOCK), to)?;
            let lines = read_range(self.log, from, to)?;
            let unfinished = u64::from(lines.last() != Some(&b'\n'));
            let first = line.saturating_sub(feeds_in(&lines) + unfinished);
            if let Some(feeds) = needle.last_in(&lines) {
                return Ok(Some(Hit { line: first + feeds }));
            }
            (to, line) = (from, first);
        }
        Ok(None)
    }

    /// Returns the end of the last line that ends by `to`, or of the first one.
    fn line_end(&self, from: u64, to: u64) -> io::Result<u64> {
        let mut to = to;
        loop {
            let lines = read_range(self.log, from, to)?;
            if let Some(feed) = memchr::memrchr(b'\n', &lines) {
                return Ok(from + feed as u64 + 1);
            }
            if to >= self.log.len() || to - from >= MAX_LINE {
                return Ok(to);
            }
            to = (to + BLOCK).min(self.log.len());
        }
    }

    /// Returns the start of the first line that starts at `from` or later, or of the last one before `to`.
    fn line_start(&self, from: u64, to: u64) -> io::Result<u64> {
        let mut from = from;
        loop {
            if from == 0 {
                return Ok(0);
            }
            let before = read_range(self.log, from - 1, to.saturating_sub(1))?;
            if let Some(feed) = memchr::memchr(b'\n', &before) {
                return Ok(from + feed as u64);
            }
            if to - from >= MAX_LINE {
                return Ok(from);
            }
            from = from.saturating_sub(BLOCK);
        }
    }
}

/// What is searched for.
struct Needle<'a> {
    text: &'a str,
    raw: Finder<'a>,
}

impl Needle<'_> {
    /// Returns how many lines there are before the first one that holds it.
    fn first_in(&self, lines: &[u8]) -> Option<u64> {
        if !has_edits(lines) && self.raw.find(lines).is_none() {
            return None;
        }
        let at = lines.split_inclusive(|byte| *byte == b'\n').position(|line| self.is_in(line))?;
        Some(at as u64)
    }

    /// Returns how many lines there are before the last one that holds it.
    fn last_in(&self, lines: &[u8]) -> Option<u64> {
        if !has_edits(lines) && self.raw.find(lines).is_none() {
            return None;
        }
        let held = lines.split_inclusive(|byte| *byte == b'\n').map(|line| self.is_in(line));
        let at = held.enumerate().filter(|(_, held)| *held).last()?.0;
        Some(at as u64)
    }

    /// Tells whether the text of a line holds it. Only lines with escapes or backspaces can hold it without holding
    /// its bytes.
    fn is_in(&self, line: &[u8]) -> bool {
        if self.raw.find(line).is_none() && !has_edits(line) {
            return false;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        clean(line, Origin::Pipe, Size::default()).contains(self.text)
    }
}

fn has_edits(bytes: &[u8]) -> bool {
    memchr::memchr2(0x1b, 0x08, bytes).is_some()
}

fn feeds_in(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

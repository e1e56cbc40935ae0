//! Searching a log for text as it was displayed: escape sequences are ignored, and overwritten text is not
//! found.

use std::collections::VecDeque;
use std::io;

use regex::bytes::{Regex, RegexBuilder};

use super::log::LogBytes;
use super::pattern::SearchPattern;
use super::{LogHistory, line_feeds};
use crate::size::Size;
use crate::terminal::ByteOrigin;
use crate::transcript::clean;

/// Number of bytes searched at once.
const BLOCK: u64 = 256 * 1024;
/// Lines longer than this are searched in parts of this length.
const MAX_LINE: u64 = 1024 * 1024;

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns the first line from `from_line` on, or with `forward` unset the last one up to it, whose text
    /// contains `needle`: a text, or after `re:` a regular expression.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn search(&self, needle: &str, from_line: u64, forward: bool) -> io::Result<Option<u64>> {
        if needle.is_empty() {
            return Ok(None);
        }
        let Some(needle) = LogPattern::parse(needle) else { return Ok(None) };
        if forward {
            self.search_forward(&needle, from_line)
        } else {
            self.search_backward(&needle, from_line)
        }
    }

    /// Returns how many lines contain `needle`: up to and including `line`, and in total.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn count(&self, needle: &str, line: u64) -> io::Result<(u64, u64)> {
        let Some(needle) = LogPattern::parse(needle) else { return Ok((0, 0)) };
        let (mut from, mut first, mut before, mut all) = (0, 0, 0, 0);
        while from < self.log.len() {
            let to = self.line_end(from, (from + BLOCK).min(self.log.len()))?;
            let lines = self.log.read_range(from..to)?;
            for at in needle.holding(&lines) {
                all += 1;
                before += u64::from(first + at <= line);
            }
            first += line_feeds(&lines);
            from = to;
        }
        Ok((before, all))
    }

    /// Returns the last lines whose text contains `needle`, at most `most` of them and from the last `bytes`
    /// bytes of the log, in order: the number of each, and its text.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn last_holding(&self, needle: &str, most: usize, bytes: u64) -> io::Result<Vec<(u64, String)>> {
        let Some(needle) = LogPattern::parse(needle) else { return Ok(Vec::new()) };
        let end = self.log.len();
        let mut from = self.line_start(end.saturating_sub(bytes), end)?;
        let (mut line, mut found) = (0, VecDeque::new());
        let mut unfinished = 0;
        while from < end {
            let to = self.line_end(from, (from + BLOCK).min(end))?;
            let lines = self.log.read_range(from..to)?;
            for (at, text) in needle.texts(&lines) {
                found.push_back((line + at, text));
                if found.len() > most {
                    found.pop_front();
                }
            }
            line += line_feeds(&lines);
            unfinished = u64::from(lines.last().is_some_and(|byte| *byte != b'\n'));
            from = to;
        }
        // Lines were counted from where reading began; the number of lines before that is known now.
        let before = self.lines().saturating_sub(line + unfinished);
        Ok(found.into_iter().map(|(at, text)| (before + at, text)).collect())
    }

    fn search_forward(&self, needle: &LogPattern, from_line: u64) -> io::Result<Option<u64>> {
        let Some(mut from) = self.start_of(from_line)? else { return Ok(None) };
        let mut line = from_line;
        let end = self.log.len();
        while from < end {
            let to = self.line_end(from, (from + BLOCK).min(end))?;
            let lines = self.log.read_range(from..to)?;
            if let Some(feeds) = needle.lines_before(&lines, true) {
                return Ok(Some(line + feeds));
            }
            line += line_feeds(&lines);
            from = to;
        }
        Ok(None)
    }

    fn search_backward(&self, needle: &LogPattern, from_line: u64) -> io::Result<Option<u64>> {
        let (mut to, mut line) = match self.start_of(from_line.saturating_add(1))? {
            Some(start) => (start, from_line + 1),
            None => (self.log.len(), self.lines()),
        };
        while to > 0 {
            let from = self.line_start(to.saturating_sub(BLOCK), to)?;
            let lines = self.log.read_range(from..to)?;
            let unfinished = u64::from(lines.last() != Some(&b'\n'));
            let first = line.saturating_sub(line_feeds(&lines) + unfinished);
            if let Some(feeds) = needle.lines_before(&lines, false) {
                return Ok(Some(first + feeds));
            }
            (to, line) = (from, first);
        }
        Ok(None)
    }

    /// Returns the end of the last line that ends at or before `to`, or of the first line if none does.
    fn line_end(&self, from: u64, to: u64) -> io::Result<u64> {
        let mut to = to;
        loop {
            let lines = self.log.read_range(from..to)?;
            if let Some(feed) = memchr::memrchr(b'\n', &lines) {
                return Ok(from + feed as u64 + 1);
            }
            if to >= self.log.len() || to - from >= MAX_LINE {
                return Ok(to);
            }
            to = (to + BLOCK).min(self.log.len());
        }
    }

    /// Returns the start of the first line that starts at or after `from`, or of the last one before `to` if
    /// none does.
    pub(super) fn line_start(&self, from: u64, to: u64) -> io::Result<u64> {
        let mut from = from;
        loop {
            if from == 0 {
                return Ok(0);
            }
            let before = self.log.read_range(from - 1..to.saturating_sub(1))?;
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

/// What to search for. Matches case-insensitively unless it contains a capital letter.
struct LogPattern(Regex);

impl LogPattern {
    /// Reads what was typed; `None` if it is empty, far too long or not valid.
    fn parse(text: &str) -> Option<Self> {
        let SearchPattern { expression, ignores_case } = SearchPattern::parse(text)?;
        let mut regex = RegexBuilder::new(&expression);
        // A block of lines is searched at once, as they are in the log.
        regex.case_insensitive(ignores_case).multi_line(true).crlf(true).build().ok().map(Self)
    }

    /// Returns the number of lines before the first or last matching one.
    fn lines_before(&self, lines: &[u8], first: bool) -> Option<u64> {
        let mut holding = self.holding(lines);
        if first { holding.next() } else { holding.last() }
    }

    /// Returns the indices of the matching lines.
    fn holding(&self, lines: &[u8]) -> impl Iterator<Item = u64> {
        let lines = if self.may_be_in(lines) { lines } else { &[] };
        let lines = lines.split_inclusive(|byte| *byte == b'\n').zip(0..);
        lines.filter(|(line, _)| self.is_in(line)).map(|(_, at)| at)
    }

    /// Returns the indices of the matching lines as above, each with its text.
    fn texts(&self, lines: &[u8]) -> impl Iterator<Item = (u64, String)> {
        let lines = if self.may_be_in(lines) { lines } else { &[] };
        let lines = lines.split_inclusive(|byte| *byte == b'\n').zip(0..);
        lines.filter(|(line, _)| self.is_in(line)).map(|(line, at)| (at, line_text(line)))
    }

    /// Tells whether a match is possible: only bytes with escapes or backspaces can show the text without
    /// containing its bytes.
    fn may_be_in(&self, bytes: &[u8]) -> bool {
        memchr::memchr2(0x1b, 0x08, bytes).is_some() || self.0.is_match(bytes)
    }

    /// Tells whether the text of a line matches.
    fn is_in(&self, line: &[u8]) -> bool {
        if !self.may_be_in(line) {
            return false;
        }
        self.0.is_match(line_text(line).as_bytes())
    }
}

/// Returns the text of a line, without its line ending.
fn line_text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    clean(line, ByteOrigin::Pipe, Size::default())
}

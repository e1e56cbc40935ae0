//! The text of a program, and positions in it. Contains no grammar.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A range of bytes in the source; always within it and on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Creates a span from the first byte and the one after the last.
    pub fn new(start: u32, end: u32) -> Self {
        debug_assert!(start <= end, "a span that ends before it starts");
        Self { start, end: end.max(start) }
    }

    /// Returns the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the byte after the last one.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns the range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// Returns whether it is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the smallest span that contains both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        [self.start, self.end].serialize(out)
    }
}

/// A place as people count: line and column from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A program's text, with the name it is shown under. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    name: Arc<str>,
    text: Arc<str>,
    lines: Arc<[u32]>,
}

impl SourceText {
    /// The maximum length of a text, in bytes.
    pub const LIMIT_BYTES: usize = 16 << 20;

    /// Creates a source from a text and the name that diagnostics use for it: a path, or `-`.
    ///
    /// # Errors
    /// When it is longer than [`Self::LIMIT_BYTES`].
    pub fn new(name: &str, text: &str) -> Result<Self, SourceTooLong> {
        if text.len() > Self::LIMIT_BYTES {
            return Err(SourceTooLong { name: name.to_owned(), bytes: text.len() });
        }
        let after = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let lines = std::iter::once(0).chain(after).map(to_offset).collect();
        Ok(Self { name: name.into(), text: text.into(), lines })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text in a span of this source, as written.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Returns the first line of a span: a whole block is too much to underline.
    pub fn first_line(&self, span: Span) -> Span {
        let text = self.slice(span);
        let end = text.find(['\n', '\r']).unwrap_or(text.len());
        Span::new(to_offset(span.start()), to_offset(span.start() + end))
    }

    /// Returns the position of a byte; that of the end for one beyond it.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.lines.partition_point(|start| *start as usize <= byte);
        let start = self.lines[line - 1] as usize;
        let column = self.text.get(start..byte).unwrap_or_default().chars().count() + 1;
        Position { line, column }
    }

    /// Returns the line of a byte, from 1.
    pub fn line_of(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start as usize <= byte)
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns a line, counted from 1, without its line ending; empty if it does not exist.
    pub fn line(&self, line: usize) -> &str {
        let Some(start) = line.checked_sub(1).and_then(|at| self.lines.get(at)) else { return "" };
        let end = self.lines.get(line).map_or(self.text.len(), |end| *end as usize);
        self.text.get(*start as usize..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }
}

/// Converts an offset, which always fits: a source is at most [`SourceText::LIMIT_BYTES`] long.
pub(super) fn to_offset(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// The error for a program that is too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} has {bytes} bytes, more than the {} that are read", SourceText::LIMIT_BYTES)]
pub struct SourceTooLong {
    /// The program.
    pub name: String,
    /// Its length.
    pub bytes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> SourceText {
        SourceText::new("t", text).expect("short")
    }

    #[test]
    fn places_are_counted_in_characters() {
        let source = source("é = 1\r\n\nlast");
        assert_eq!(source.position(2).to_string(), "1:2");
        assert_eq!(source.position(8).to_string(), "2:1");
        assert_eq!(source.position(99).to_string(), "3:5");
        assert_eq!(
            (source.line(1), source.line(2), source.line(3), source.line(4)),
            ("é = 1", "", "last", "")
        );
        assert_eq!(source.line(0), "");
    }

    #[test]
    fn an_empty_text_has_one_line() {
        assert_eq!((source("").lines(), source("").position(0).to_string()), (1, "1:1".to_owned()));
    }
}

//! The contents of a string or discretion: escapes and interpolation. Errors in them have already been reported.

use std::mem;

use memchr::{memchr2, memmem};

use super::identifier_end;
use crate::ast::{Name, Quote, Text, TextPart};
use crate::source::{SourceText, Span, to_offset};

impl Quote {
    /// Returns the kind of the quote or star at a position.
    pub(crate) fn at(bytes: &[u8], start: usize) -> Self {
        let rest = bytes.get(start..).unwrap_or_default();
        if rest.first() != Some(&b'*') {
            return if rest.starts_with(b"\"\"\"") { Self::Triple } else { Self::Single };
        }
        match rest.iter().take_while(|byte| **byte == b'*').count() {
            3 | 6.. => Self::LongDiscretion,
            _ => Self::Discretion,
        }
    }

    /// Returns its opening and closing delimiter.
    pub(super) fn marker(self) -> &'static str {
        match self {
            Self::Single => "\"",
            Self::Triple => "\"\"\"",
            Self::Discretion => "**",
            Self::LongDiscretion => "***",
        }
    }
}

/// Returns the meaning of a character after a backslash, if it has one.
pub(super) fn unescape(letter: char) -> Option<char> {
    match letter {
        '\\' | '"' | '{' | '}' => Some(letter),
        'n' => Some('\n'),
        't' => Some('\t'),
        _ => None,
    }
}

/// Parses the string or discretion of a token.
pub(crate) fn read_text(source: &SourceText, span: Span, name: impl FnMut(&str, Span) -> Name) -> Text {
    let quote = Quote::at(source.text().as_bytes(), span.start());
    let parts = TextReader::new(source, span, quote, name, None).parts(quote);
    Text { parts, quote, span }
}

/// Returns the names in the string or discretion of a token that follow a brace which is text, because none closes it
/// right after the name.
pub(crate) fn loose_names(source: &SourceText, span: Span) -> Vec<Span> {
    let name = |text: &str, span| Name { text: text.into(), span };
    let quote = Quote::at(source.text().as_bytes(), span.start());
    let mut loose = Vec::new();
    TextReader::new(source, span, quote, name, Some(&mut loose)).parts(quote);
    loose
}

struct TextReader<'a, N> {
    text: &'a str,
    at: usize,
    /// The end of the token, after the closing quote if there is one.
    end: usize,
    name: N,
    parts: Vec<TextPart>,
    literal: String,
    /// Where to put the names after braces that are text.
    loose: Option<&'a mut Vec<Span>>,
}

impl<'a, N: FnMut(&str, Span) -> Name> TextReader<'a, N> {
    fn new(
        source: &'a SourceText,
        span: Span,
        quote: Quote,
        name: N,
        loose: Option<&'a mut Vec<Span>>,
    ) -> Self {
        let at = (span.start() + quote.marker().len()).min(span.end());
        let (parts, literal) = (Vec::new(), String::new());
        Self { text: source.text(), at, end: span.end(), name, parts, literal, loose }
    }

    fn parts(self, quote: Quote) -> Vec<TextPart> {
        if quote.is_discretion() { self.discretion(quote) } else { self.string(quote) }
    }

    fn string(mut self, quote: Quote) -> Vec<TextPart> {
        let marker = quote.marker();
        while self.at < self.end {
            let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | b'{' | b'\r');
            self.plain(|rest| rest.iter().position(ends));
            match self.text.as_bytes().get(self.at) {
                _ if self.at == self.end => break,
                Some(b'"') if self.text[self.at..].starts_with(marker) => break,
                Some(b'\\') => self.escape(),
                Some(b'{') => self.brace(),
                // Normalises line endings whatever the file uses: a shell does not accept carriage returns.
                Some(b'\r') if self.feeds() => self.at += 1,
                _ => self.take(1),
            }
        }
        self.into_parts()
    }

    /// Parses discretion, which has no escapes: it is read by people, not machines. Variables are interpolated.
    fn discretion(mut self, quote: Quote) -> Vec<TextPart> {
        let inside = self.text.as_bytes().get(self.at..self.end).unwrap_or_default();
        if let Some(more) = memmem::find(inside, quote.marker().as_bytes()) {
            self.end = self.at + more;
        }
        while self.at < self.end {
            self.plain(|rest| memchr2(b'{', b'\r', rest));
            match self.text.as_bytes().get(self.at) {
                _ if self.at == self.end => break,
                Some(b'{') => self.brace(),
                Some(b'\r') if self.feeds() => self.at += 1,
                _ => self.take(1),
            }
        }
        self.into_parts()
    }

    /// Takes everything before the next byte that `find` finds.
    fn plain(&mut self, find: impl Fn(&[u8]) -> Option<usize>) {
        let rest = self.text.as_bytes().get(self.at..self.end).unwrap_or_default();
        self.take(find(rest).unwrap_or(rest.len()));
    }

    /// Takes bytes literally.
    fn take(&mut self, bytes: usize) {
        self.literal.push_str(self.text.get(self.at..self.at + bytes).unwrap_or_default());
        self.at += bytes;
    }

    /// Returns whether a line feed follows the byte at the cursor.
    fn feeds(&self) -> bool {
        self.text.as_bytes().get(self.at + 1) == Some(&b'\n')
    }

    fn escape(&mut self) {
        let next = self.text[self.at + 1..].chars().next();
        if let Some(meant) = next.and_then(unescape) {
            self.literal.push(meant);
            self.at += 2;
            return;
        }
        // The backslash is kept, and what follows is taken literally: the shell uses it to join lines.
        let ends_line = next == Some('\n') || self.text[self.at + 1..].starts_with("\r\n");
        self.take(1);
        if let Some(next) = next.filter(|_| !ends_line) {
            self.take(next.len_utf8());
        }
    }

    /// Parses an opening brace: a variable if an identifier and a closing brace follow, otherwise text.
    fn brace(&mut self) {
        let start = self.at + 1;
        let end = identifier_end(self.text.as_bytes(), start);
        let span = Span::new(to_offset(start), to_offset(end));
        if end > start && self.text.as_bytes().get(end) == Some(&b'}') {
            let name = (self.name)(&self.text[start..end], span);
            self.flush();
            self.parts.push(TextPart::Hole(name));
            self.at = end + 1;
        } else {
            self.take(1);
            self.loose.iter_mut().filter(|_| end > start).for_each(|loose| loose.push(span));
        }
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(TextPart::Literal(mem::take(&mut self.literal)));
        }
    }

    fn into_parts(mut self) -> Vec<TextPart> {
        if self.parts.is_empty() && !self.literal.is_empty() {
            // Most texts are a single literal: do not reserve room for more.
            return vec![TextPart::Literal(self.literal)];
        }
        self.flush();
        self.parts
    }
}

//! Strings and discretion: quotes, escapes, interpolation.

use memchr::{memchr, memmem};

use super::{Ended, Lexer, Quoting, identifier_end};
use crate::prose::ast::{Part, Quote, Text};
use crate::prose::codes::Code;
use crate::prose::token::TokenKind;

/// A string as it is read.
struct Draft {
    start: usize,
    quote: Quote,
    parts: Vec<Part>,
    literal: String,
    /// Where the first line ends that it goes beyond.
    newline: Option<usize>,
}

impl Draft {
    fn new(start: usize, quote: Quote) -> Self {
        Self { start, quote, parts: Vec::new(), literal: String::new(), newline: None }
    }

    fn hole(&mut self, part: Part) {
        self.flush();
        self.parts.push(part);
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Literal(std::mem::take(&mut self.literal)));
        }
    }
}

impl Lexer<'_> {
    /// Reads a string; the cursor is at its first quote.
    pub(super) fn string(&mut self) {
        let start = self.at;
        let triple = self.text[start..].starts_with("\"\"\"");
        let quote = if triple { Quote::Triple } else { Quote::Single };
        let mut draft = Draft::new(start, quote);
        self.at += if triple { 3 } else { 1 };
        if triple {
            self.check_opening();
        }
        let closed = self.string_body(&mut draft);
        if !closed {
            self.unclosed(&mut draft);
        } else if let Some(newline) = draft.newline
            && quote == Quote::Single
        {
            let span = Self::span(start, newline);
            self.reports.add(Code::HPW014, span, "this string goes over several lines between single quotes");
        }
        self.add_text(draft);
    }

    fn add_text(&mut self, mut draft: Draft) {
        draft.flush();
        let span = Self::span(draft.start, self.at);
        let index = crate::prose::source::to_offset(self.lexed.texts.len());
        self.lexed.texts.push(Text { parts: draft.parts, quote: draft.quote, span });
        self.push(TokenKind::Text(index), draft.start);
    }

    fn check_opening(&mut self) {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or_default();
        let is_empty = rest.starts_with("\"\"\"");
        if !line.trim().is_empty() && !is_empty {
            let span = Self::span(self.at - 3, self.at);
            self.reports.add(Code::HPW015, span, "text starts right after `\"\"\"`");
        }
    }

    /// Reads up to the closing quote; returns whether there is one.
    fn string_body(&mut self, draft: &mut Draft) -> bool {
        let triple = draft.quote == Quote::Triple;
        loop {
            let plain =
                self.bytes[self.at..].iter().position(|b| matches!(b, b'"' | b'\\' | b'{' | b'\n' | b'\r'));
            let Some(plain) = plain else {
                draft.literal.push_str(&self.text[self.at..]);
                self.at = self.bytes.len();
                return false;
            };
            draft.literal.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            let byte = self.bytes[self.at];
            match byte {
                b'"' if !triple => {
                    self.at += 1;
                    return true;
                }
                b'"' if self.text[self.at..].starts_with("\"\"\"") => {
                    self.at += 3;
                    return true;
                }
                b'\\' => self.escape(draft),
                b'{' => self.brace(draft),
                b'\n' if !triple && self.ends_here(draft) => return false,
                // Lines end alike whatever the file says: a shell takes no carriage return.
                b'\r' if self.peek_at(1) == Some(b'\n') => self.at += 1,
                _ => {
                    draft.literal.push(char::from(byte));
                    self.at += 1;
                }
            }
        }
    }

    /// At the end of a line inside a string in single quotes: returns whether the string ends there.
    fn ends_here(&mut self, draft: &mut Draft) -> bool {
        draft.newline.get_or_insert(self.at);
        match self.quoting {
            Quoting::Open => false,
            Quoting::Line => true,
            Quoting::Guess => {
                let spaces = self.bytes[self.at + 1..].iter().take_while(|byte| **byte == b' ').count();
                self.is_statement(self.at + 1 + spaces)
            }
        }
    }

    fn unclosed(&mut self, draft: &mut Draft) {
        let at_end = self.at == self.bytes.len();
        if at_end && self.quoting == Quoting::Open && draft.quote == Quote::Single {
            self.ended = Ended::InString;
            return;
        }
        let message = if draft.quote == Quote::Triple {
            "this `\"\"\"` is never closed"
        } else {
            "this string is not closed"
        };
        let first_line = draft.newline.unwrap_or(self.at);
        let end = if draft.quote == Quote::Triple { draft.start + 3 } else { first_line };
        let diagnostic = self.reports.add(Code::E001, Self::span(draft.start, end), message);
        if draft.quote == Quote::Triple {
            diagnostic.hint("close it with `\"\"\"`");
        }
        if at_end && draft.quote == Quote::Single && draft.newline.is_some() {
            // Nothing closes it: the lines after it are program again. No later string searches that far.
            self.quoting = Quoting::Line;
            self.at = first_line;
            if let Some(Part::Literal(text)) = draft.parts.first() {
                draft.literal = text.lines().next().unwrap_or_default().to_owned();
                draft.parts.clear();
            }
        }
    }

    fn escape(&mut self, draft: &mut Draft) {
        let start = self.at;
        let Some(next) = self.text[start + 1..].chars().next() else {
            draft.literal.push('\\');
            self.at += 1;
            return;
        };
        let meant = match next {
            '\\' | '"' | '{' | '}' => Some(next),
            'n' => Some('\n'),
            't' => Some('\t'),
            _ => None,
        };
        if let Some(meant) = meant {
            draft.literal.push(meant);
            self.at += 2;
            return;
        }
        let ends_line = next == '\n' || self.text[start + 1..].starts_with("\r\n");
        if !ends_line {
            let span = Self::span(start, start + 1 + next.len_utf8());
            let hint = format!("write `\\\\{next}` if a backslash is meant");
            self.reports
                .add(Code::E002, span, format!("there is no escape `\\{}`", next.escape_debug()))
                .hint(hint);
        } else if self.reports.is_strict() && draft.quote == Quote::Triple {
            let span = Self::span(start, start + 1);
            self.reports
                .add(Code::E002, span, "there is no escape of a line's end")
                .hint("write `\\\\` at the end of the line");
        }
        // The backslash stays, and what follows is taken literally: the shell joins lines with it.
        draft.literal.push('\\');
        self.at += 1;
        if !ends_line {
            draft.literal.push(next);
            self.at += next.len_utf8();
        }
    }

    /// Reads an opening brace: a variable when an identifier and a closing brace follow, else text.
    fn brace(&mut self, draft: &mut Draft) {
        let start = self.at + 1;
        let end = identifier_end(self.bytes, start);
        if end > start && self.bytes.get(end) == Some(&b'}') {
            let name = self.lexed.names.name(&self.text[start..end], Self::span(start, end));
            draft.hole(Part::Hole(name));
            self.at = end + 1;
        } else {
            draft.literal.push('{');
            self.at += 1;
        }
    }

    /// Reads discretion; the cursor is at its first star.
    pub(super) fn discretion(&mut self) {
        let start = self.at;
        let stars = self.bytes[start..].iter().take_while(|byte| **byte == b'*').count();
        let long = stars == 3 || stars >= 6;
        let (quote, marker) = if long { (Quote::LongDiscretion, "***") } else { (Quote::Discretion, "**") };
        let inside = start + marker.len();
        let limit = if long {
            self.bytes.len()
        } else {
            memchr(b'\n', &self.bytes[inside..]).map_or(self.bytes.len(), |more| inside + more)
        };
        let found = memmem::find(&self.bytes[inside..limit], marker.as_bytes());
        let mut draft = Draft::new(start, quote);
        let end = match found {
            Some(more) => inside + more,
            None => self.unclosed_discretion(start, inside, marker),
        };
        self.at = inside;
        self.discretion_body(&mut draft, end);
        self.at = if found.is_some() { end + marker.len() } else { end };
        self.add_text(draft);
    }

    fn unclosed_discretion(&mut self, start: usize, inside: usize, marker: &str) -> usize {
        self.reports
            .add(Code::E005, Self::span(start, inside), format!("this `{marker}` is never closed"))
            .hint(match marker {
                "**" => "close it with `**` on the same line; text over several lines goes between `***` and `***`",
                _ => "close it with `***`",
            });
        let end = memchr(b'\n', &self.bytes[inside..]).map_or(self.bytes.len(), |more| inside + more);
        // The colon belongs to the header.
        inside + self.text[inside..end].trim_end().trim_end_matches(':').len()
    }

    /// Discretion has no escapes: people read it, not machines. Variables are inserted.
    fn discretion_body(&mut self, draft: &mut Draft, end: usize) {
        while self.at < end {
            let rest = &self.text[self.at..end];
            match rest.find(['{', '\r']) {
                None => {
                    draft.literal.push_str(rest);
                    self.at = end;
                }
                Some(0) if rest.starts_with('{') => self.brace(draft),
                Some(0) => {
                    if !rest.starts_with("\r\n") {
                        draft.literal.push('\r');
                    }
                    self.at += 1;
                }
                Some(plain) => {
                    draft.literal.push_str(&rest[..plain]);
                    self.at += plain;
                }
            }
        }
    }
}

//! Strings and discretion: where they end, and errors in them. Their contents are parsed later, one at a time, by the
//! parser: stored until then, the texts of a long program would not stay in the CPU caches.

use memchr::{memchr, memchr2, memchr3, memmem};

use super::text::unescape;
use super::{Lexer, LexerEnd, Quoting};
use crate::ast::Quote;
use crate::codes::RuleCode;
use crate::token::TokenKind;

/// A string whose end has not been reached yet.
struct Draft {
    start: usize,
    quote: Quote,
    /// The end of its first line, if it continues beyond that.
    newline: Option<usize>,
}

impl Lexer<'_> {
    /// Scans a string; the cursor is at its first quote.
    pub(super) fn string(&mut self) {
        let start = self.at;
        let quote = Quote::at(self.bytes, start);
        let mut draft = Draft { start, quote, newline: None };
        self.at += quote.marker().len();
        if quote == Quote::Triple {
            self.check_opening();
        }
        let closed = self.string_body(&mut draft);
        if !closed {
            self.report_unclosed(&draft);
        } else if let Some(newline) = draft.newline {
            let span = Self::span(start, newline);
            self.reports.add(
                RuleCode::HPW014,
                span,
                "this string goes over several lines between single quotes",
            );
        }
        self.push(TokenKind::Text, start);
    }

    fn check_opening(&mut self) {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or_default();
        let is_empty = rest.starts_with("\"\"\"");
        if !line.trim().is_empty() && !is_empty {
            let span = Self::span(self.at - 3, self.at);
            self.reports.add(RuleCode::HPW015, span, "text starts right after `\"\"\"`");
        }
    }

    /// Scans up to the closing quote; returns whether there is one.
    fn string_body(&mut self, draft: &mut Draft) -> bool {
        let marker = draft.quote.marker();
        loop {
            let rest = &self.bytes[self.at..];
            let found = match draft.quote {
                Quote::Triple => memchr2(b'"', b'\\', rest),
                _ => memchr3(b'"', b'\\', b'\n', rest),
            };
            let Some(plain) = found else {
                self.at = self.bytes.len();
                return false;
            };
            self.at += plain;
            let byte = self.bytes[self.at];
            match byte {
                b'\\' => self.escape(draft.quote),
                b'\n' if self.ends_here(draft) => return false,
                b'"' if self.text[self.at..].starts_with(marker) => {
                    self.at += marker.len();
                    return true;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Handles the end of a line inside a single-quoted string; returns whether the string ends there.
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

    fn report_unclosed(&mut self, draft: &Draft) {
        let at_end = self.at == self.bytes.len();
        if at_end && self.quoting == Quoting::Open && draft.quote == Quote::Single {
            self.ended = LexerEnd::InString;
            return;
        }
        let message = if draft.quote == Quote::Triple {
            "this `\"\"\"` is never closed"
        } else {
            "this string is not closed"
        };
        let first_line = draft.newline.unwrap_or(self.at);
        let end = if draft.quote == Quote::Triple { draft.start + 3 } else { first_line };
        let diagnostic = self.reports.add(RuleCode::E001, Self::span(draft.start, end), message);
        if draft.quote == Quote::Triple {
            diagnostic.hint("close it with `\"\"\"`");
        }
        if at_end && draft.quote == Quote::Single && draft.newline.is_some() {
            // Nothing closes it: the lines after it are program text again. No later string searches that far.
            self.quoting = Quoting::Line;
            self.at = first_line;
        }
    }

    fn escape(&mut self, quote: Quote) {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.text[self.at..].chars().next() else { return };
        if unescape(next).is_some() {
            self.at += 1;
            return;
        }
        let ends_line = next == '\n' || self.text[self.at..].starts_with("\r\n");
        if !ends_line {
            self.at += next.len_utf8();
            let span = Self::span(start, self.at);
            let hint = format!("write `\\\\{next}` if a backslash is meant");
            self.reports
                .add(RuleCode::E002, span, format!("there is no escape `\\{}`", next.escape_debug()))
                .hint(hint);
        } else if self.reports.is_strict() && quote == Quote::Triple {
            self.reports
                .add(RuleCode::E002, Self::span(start, self.at), "there is no escape of a line's end")
                .hint("write `\\\\` at the end of the line");
        }
    }

    /// Scans discretion; the cursor is at its first star.
    pub(super) fn discretion(&mut self) {
        let start = self.at;
        let quote = Quote::at(self.bytes, start);
        let marker = quote.marker();
        let inside = start + marker.len();
        let limit = if quote == Quote::LongDiscretion {
            self.bytes.len()
        } else {
            memchr(b'\n', &self.bytes[inside..]).map_or(self.bytes.len(), |more| inside + more)
        };
        self.at = match memmem::find(&self.bytes[inside..limit], marker.as_bytes()) {
            Some(more) => inside + more + marker.len(),
            None => self.unclosed_discretion(start, inside, marker),
        };
        self.push(TokenKind::Text, start);
    }

    fn unclosed_discretion(&mut self, start: usize, inside: usize, marker: &str) -> usize {
        self.reports
            .add(RuleCode::E005, Self::span(start, inside), format!("this `{marker}` is never closed"))
            .hint(match marker {
                "**" => "close it with `**` on the same line; text over several lines goes between `***` and `***`",
                _ => "close it with `***`",
            });
        let end = memchr(b'\n', &self.bytes[inside..]).map_or(self.bytes.len(), |more| inside + more);
        // The colon belongs to the header.
        inside + self.text[inside..end].trim_end().trim_end_matches(':').len()
    }
}

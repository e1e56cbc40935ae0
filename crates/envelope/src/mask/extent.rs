//! Where a value ends: a word, a quote, a bracket, blanks. Each looks at a byte once.

use super::{Secret, SecretScan};

impl SecretScan<'_> {
    /// Matches the value that begins at `start`, up to the end of its word. In a quote that contains nothing but the
    /// assignment (`whole_word`), blanks are part of the value.
    pub(super) fn word(&self, start: usize, whole_word: bool) -> Secret {
        self.word_through(start, start, whole_word)
    }

    /// Like `word`, for a value that is known to reach to `at`.
    pub(super) fn word_through(&self, start: usize, mut at: usize, whole_word: bool) -> Secret {
        let mut open = self.quote.map(|(open, _)| open);
        let mut reopened = None;
        while let Some(byte) = self.byte(at) {
            if open == Some(byte) {
                if self.byte(at + 1).is_none_or(ends_word) {
                    break;
                }
                // The word continues after the quote: `'NAME=a'\''b'`.
                if at > start || whole_word {
                    (reopened, open) = (open, None);
                    at += 1;
                    continue;
                }
            }
            if open.is_none() && ends_word(byte) || open.is_some() && !whole_word && ends_part(byte) {
                break;
            }
            at = match byte {
                b'\\' if open != Some(b'\'') => at + 2,
                b'"' | b'\'' | b'`' => self.closing(at + 1, byte) + 1,
                b'$' if self.byte(at + 1) == Some(b'(') => self.closing_bracket(at + 2),
                _ => at + 1,
            };
        }
        Secret { at: start..at.min(self.bytes.len()), reopened }
    }

    pub(super) fn up_to(&self, start: usize, ends: impl Fn(u8) -> bool) -> Secret {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
        Secret { at: start..start + length, reopened: None }
    }

    /// Returns the end of the quote whose contents begin at `from`.
    pub(super) fn closing(&self, from: usize, quote: u8) -> usize {
        let mut at = from;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' if quote != b'\'' => at += 1,
                _ if byte == quote => return at,
                _ => {}
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// Like `closing`, for escaped quotes: `\"value\"`. A quote inside the value is escaped twice.
    pub(super) fn closing_escaped(&self, from: usize, quote: u8) -> usize {
        let mut at = from;
        let is_quote = |at: usize| self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(quote);
        while let Some(byte) = self.byte(at) {
            at += match byte {
                b'\\' if is_quote(at) => return at,
                b'\\' if self.byte(at + 1) == Some(b'\\') && is_quote(at + 2) => 4,
                b'\\' => 2,
                // The end of the string that contains everything.
                _ if byte == quote => return at,
                _ => 1,
            };
        }
        self.bytes.len()
    }

    /// Returns the first position after the blanks; a continued line counts as a blank.
    pub(super) fn after_blanks(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            match (self.byte(at), self.byte(at + 1)) {
                (Some(b' ' | b'\t'), _) => at += 1,
                (Some(b'\\'), Some(b'\n')) => at += 2,
                _ => return at,
            }
        }
    }

    /// Returns the position after the bracket that closes the one opened before `from`.
    pub(super) fn closing_bracket(&self, from: usize) -> usize {
        let mut depth = 1_usize;
        for (at, byte) in self.bytes.iter().enumerate().skip(from) {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.bytes.len()
    }
}

/// Returns whether a byte ends a word outside quotes.
pub(super) fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b";&|()<>".contains(&byte)
}

/// Returns whether a byte ends a value inside a quote that contains more than the value.
fn ends_part(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'&'
}

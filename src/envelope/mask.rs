//! Hides secrets in what is shown or kept about a command: assignments, flags, URLs, headers
//! (contracts 6). Never used on output, nor on what is executed.
//!
//! One pass: every byte is looked at a fixed number of times, whatever the text. A text that cannot
//! be told apart for sure (a quote that never closes) is hidden to its end.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// What stands in the place of a secret.
pub const MASKED: &str = "[masked]";

/// What a name that holds a secret has in it, without `-` and `_`.
const SECRET_WORDS: [&str; 8] =
    ["token", "secret", "password", "passwd", "apikey", "accesskey", "privatekey", "credential"];
/// Other words that begin like those.
const OTHER_WORDS: [&str; 4] = ["tokeniz", "tokenis", "secretar", "passwordless"];
/// Ends of names whose value is the place of a secret.
const PLACES: [&str; 4] = ["file", "path", "dir", "stdin"];

/// Returns the text with every secret in it replaced by [`MASKED`].
#[must_use]
pub fn mask(text: &str) -> Cow<'_, str> {
    let secrets = Scan::of(text).secrets();
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for Secret { at, reopened } in secrets {
        shown.push_str(text.get(from..at.start).unwrap_or_default());
        shown.push_str(MASKED);
        shown.extend(reopened.map(char::from));
        from = at.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}

/// Masks every string of a JSON value; keys and shape stay.
pub fn mask_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_strings),
        Value::Object(fields) => fields.values_mut().for_each(mask_strings),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A part of the text that is hidden.
struct Secret {
    at: Range<usize>,
    /// The quote that was open before it and closed within it.
    reopened: Option<u8>,
}

/// Reads a text as a shell would split it, roughly: all that matters is where a word ends.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The quote the scan is in, and where its inside begins.
    quote: Option<(u8, usize)>,
}

impl<'a> Scan<'a> {
    fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, quote: None }
    }

    fn secrets(mut self) -> Vec<Secret> {
        let mut secrets = Vec::new();
        while let Some(byte) = self.byte(self.at) {
            let secret = match byte {
                b'=' => self.assigned(),
                b' ' | b'\t' => self.flagged(),
                b':' => self.in_url().or_else(|| self.in_header()),
                _ => None,
            };
            match secret.filter(|secret| !secret.at.is_empty()) {
                Some(secret) => {
                    self.at = secret.at.end;
                    if secret.reopened.is_some() {
                        self.quote = None;
                    }
                    secrets.push(secret);
                }
                None => self.step(byte),
            }
        }
        secrets
    }

    fn step(&mut self, byte: u8) {
        self.at += 1;
        match (byte, self.quote) {
            (b'\\', None | Some((b'"', _))) => self.at += 1,
            (b'"' | b'\'', None) => self.quote = Some((byte, self.at)),
            (_, Some((open, _))) if open == byte => self.quote = None,
            _ => {}
        }
    }

    /// `NAME=value`, also `NAME+=`, `"name"=`, `form[name]=`.
    fn assigned(&self) -> Option<Secret> {
        let (start, name) = self.name_before(self.at, b"]+:?\"'");
        let name = Name::of(name)?;
        let whole_word = self.quote.is_some_and(|(_, inside)| inside == start);
        let secret = self.word(self.at + 1, whole_word);
        (!name.allows(self.value(&secret))).then_some(secret)
    }

    /// `--name value`, also `-name value`.
    fn flagged(&self) -> Option<Secret> {
        let (_, name) = self.name_before(self.at, b"\"'");
        let flag = name.strip_prefix(b"-").and_then(Name::of)?;
        let mut start = self.at;
        loop {
            match (self.byte(start), self.byte(start + 1)) {
                (Some(b' ' | b'\t'), _) => start += 1,
                (Some(b'\\'), Some(b'\n')) => start += 2,
                (Some(b'-'), _) => return None,
                _ => break,
            }
        }
        let secret = self.word(start, false);
        (!flag.is_switch() && !flag.allows(self.value(&secret))).then_some(secret)
    }

    /// `scheme://user:pass@`; a password with an unescaped `/` in it counts too.
    fn in_url(&self) -> Option<Secret> {
        let rest = self.bytes.get(self.at..)?.strip_prefix(b"://")?;
        let ends = |at: usize, byte: u8| {
            byte.is_ascii_whitespace() || b"\"'<>`".contains(&byte) || rest[at..].starts_with(b"://")
        };
        let url =
            &rest[..rest.iter().enumerate().position(|(at, byte)| ends(at, *byte)).unwrap_or(rest.len())];
        let host = url.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(url.len());
        let colon = url[..host].iter().position(|byte| *byte == b':')?;
        let is_port = url[colon + 1..host].iter().all(u8::is_ascii_digit);
        let user_info = match memchr::memrchr(b'@', &url[..host]) {
            Some(at) => at,
            None if is_port => return None,
            None => memchr::memrchr(b'@', url)?,
        };
        let base = self.at + 3;
        (colon < user_info).then(|| Secret { at: base + colon + 1..base + user_info, reopened: None })
    }

    /// `Authorization: …` to the end of the quote it stands in, else of the line.
    fn in_header(&self) -> Option<Secret> {
        let (_, name) = self.name_before(self.at, b"\"'\\");
        let word = name.len().checked_sub("authorization".len()).and_then(|at| name.get(at..))?;
        if !word.eq_ignore_ascii_case(b"authorization") {
            return None;
        }
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let start = self.at + 1 + self.bytes.get(self.at + 1..)?.iter().take_while(blank).count();
        let first = self.byte(start)?;
        let behind = start + MASKED.len();
        let is_hidden = self.bytes.get(start..behind) == Some(MASKED.as_bytes());
        if is_hidden && self.byte(behind).is_none_or(|byte| ends_word(byte) || b"\"'".contains(&byte)) {
            // Hidden before, when its quotes were still there: what stands behind it is no part of it.
            return Some(Secret { at: start..behind, reopened: None });
        }
        Some(match self.quote {
            None if !b"\"'".contains(&first) => self.up_to(start, |byte| byte == b'\n'),
            Some((open, _)) if !b"\"'".contains(&first) => {
                Secret { at: start..self.closing(start, open), reopened: None }
            }
            _ => self.word(start, false),
        })
    }

    /// The value that begins at `start` and goes on to the end of its word. In a quote that holds
    /// nothing but the assignment (`whole_word`), blanks belong to it.
    fn word(&self, start: usize, whole_word: bool) -> Secret {
        let mut open = self.quote.map(|(open, _)| open);
        let mut reopened = None;
        let mut at = start;
        while let Some(byte) = self.byte(at) {
            if open == Some(byte) {
                if self.byte(at + 1).is_none_or(ends_word) {
                    break;
                }
                // The word goes on behind the quote: `'NAME=a'\''b'`.
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

    fn up_to(&self, start: usize, ends: impl Fn(u8) -> bool) -> Secret {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
        Secret { at: start..start + length, reopened: None }
    }

    /// Returns where the quote closes whose inside begins at `from`.
    fn closing(&self, from: usize, quote: u8) -> usize {
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

    /// Returns what follows the bracket that closes the one open before `from`.
    fn closing_bracket(&self, from: usize) -> usize {
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

    /// The name that ends before `end`, at most two bytes of `between` aside, and where it begins.
    fn name_before(&self, end: usize, between: &[u8]) -> (usize, &'a [u8]) {
        let before = self.bytes.get(..end).unwrap_or_default();
        let aside = before.iter().rev().take(2).take_while(|byte| between.contains(byte)).count();
        let before = &before[..end - aside];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let start = before.len() - before.iter().rev().take_while(is_name).count();
        (start, &before[start..])
    }

    fn value(&self, secret: &Secret) -> &'a [u8] {
        self.bytes.get(secret.at.clone()).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }
}

/// A name that has one of the words in it: small letters, `_` between its parts.
struct Name(String);

impl Name {
    fn of(bytes: &[u8]) -> Option<Self> {
        let small = |byte: &u8| if *byte == b'-' { '_' } else { char::from(byte.to_ascii_lowercase()) };
        let name: String = bytes.iter().map(small).collect();
        let named = OTHER_WORDS.iter().fold(name.clone(), |name, other| name.replace(other, " "));
        let joined = named.replace('_', "");
        SECRET_WORDS.iter().any(|word| joined.contains(word)).then_some(Self(name))
    }

    /// Tells whether a value of this name is no secret: the path of one, or a number of tokens.
    fn allows(&self, value: &[u8]) -> bool {
        let is_place = self.0.rsplit('_').next().is_some_and(|end| PLACES.contains(&end));
        let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/~+@,:".contains(byte);
        let is_count = self.0.ends_with("tokens") && value.iter().all(u8::is_ascii_digit);
        is_count || is_place && value.iter().all(is_path)
    }

    /// Tells whether a flag of this name takes no value.
    fn is_switch(&self) -> bool {
        let name = self.0.trim_start_matches('_');
        name.starts_with("no_") || name.ends_with("_stdin")
    }
}

/// Ends a word outside quotes.
fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b";&|()<>".contains(&byte)
}

/// Ends a value inside a quote that holds more than it.
fn ends_part(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'&'
}

#[cfg(test)]
mod tests;

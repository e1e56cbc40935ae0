//! Masks secrets in what is shown or stored about a command: assignments, flags, members of JSON objects, URLs,
//! headers, settings, tokens of a known form (docs/masking.md). Never applied to output, nor to what is executed.
//!
//! Every byte is inspected a bounded number of times, whatever the text. If the end of a secret is uncertain (an
//! unclosed quote), everything up to the end of the text is masked.

mod extent;
mod login;
mod name;
mod setting;
mod token;
mod web;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use self::login::LoginProgram;
use self::name::VariableName;

/// The replacement for a secret.
pub const MASKED: &str = "[masked]";

/// How often a text is scanned at most: what follows a secret can read otherwise once that is masked.
const PASSES: usize = 4;

/// Returns the text with every secret in it replaced by [`MASKED`]. A masked text stays as it is.
pub fn mask(text: &str) -> Cow<'_, str> {
    let Cow::Owned(mut shown) = mask_once(text) else { return Cow::Borrowed(text) };
    for _ in 1..PASSES {
        match mask_once(&shown) {
            Cow::Owned(again) if again != shown => shown = again,
            _ => break,
        }
    }
    Cow::Owned(shown)
}

fn mask_once(text: &str) -> Cow<'_, str> {
    let secrets = SecretScan::of(text).secrets();
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

/// Returns whether the value of something with this name is a secret.
pub fn names_secret(name: &str) -> bool {
    // Neither a number nor a path is one if the name says so.
    is_secret_member(name, "00")
}

/// Masks every string in a JSON value; a string whose key names a secret is masked entirely. Keys and structure are
/// preserved.
pub fn mask_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_strings),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::String(text) if is_secret_member(key, text) => *text = MASKED.to_owned(),
            value => mask_strings(value),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret_member(key: &str, text: &str) -> bool {
    !text.is_empty() && VariableName::of(key.as_bytes()).is_some_and(|name| !name.allows(text.as_bytes()))
}

/// A part of the text to be masked.
struct Secret {
    at: Range<usize>,
    /// The quote that was open before it and is closed within it.
    reopened: Option<u8>,
}

/// Scans a text roughly as a shell would split it: all that matters is where a word ends.
struct SecretScan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The quote that the scan is inside, and the start of its contents.
    quote: Option<(u8, usize)>,
    /// The program whose options are read.
    program: LoginProgram,
    /// Whether an option of this command names a secret, which its standard input may then be.
    is_about_secret: bool,
    /// Where the value of a `-H` begins.
    header_at: Option<usize>,
    /// The end of the last secret: no name may overlap it.
    hidden_to: usize,
}

impl<'a> SecretScan<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            quote: None,
            program: LoginProgram::default(),
            is_about_secret: false,
            header_at: None,
            hidden_to: 0,
        }
    }

    fn secrets(mut self) -> Vec<Secret> {
        let mut secrets = Vec::new();
        while let Some(byte) = self.byte(self.at) {
            let secret = match byte {
                b'=' => self.assignment(),
                b' ' | b'\t' => self.flag_value(),
                b'<' => self.here_string().or_else(|| self.element()),
                b':' => self
                    .in_url()
                    .or_else(|| self.member())
                    .or_else(|| self.in_header())
                    .or_else(|| self.option())
                    .or_else(|| self.default_value())
                    .or_else(|| self.entry()),
                _ => self.token(),
            };
            match secret.filter(|secret| !secret.at.is_empty()) {
                Some(secret) => {
                    while self.at < secret.at.start {
                        self.step(self.bytes[self.at]);
                    }
                    self.at = secret.at.end;
                    self.hidden_to = secret.at.end;
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
        if b";&|\n(".contains(&byte) {
            self.program = LoginProgram::default();
            self.is_about_secret = false;
        }
        match (byte, self.quote) {
            (b'\\', None | Some((b'"', _))) => self.at += 1,
            (b'"' | b'\'', None) => self.quote = Some((byte, self.at)),
            (_, Some((open, _))) if open == byte => self.quote = None,
            _ => {}
        }
    }

    /// Matches `NAME=value`, also `NAME+=`, `NAME=(value)`, `"name"=`, `form[name]=`; `--user=name:value`; `-p=value`
    /// of a login; `name = value` of a settings file.
    fn assignment(&self) -> Option<Secret> {
        let (start, name) = self.name_before(self.at, b"]+:?\"'");
        if name.is_empty() {
            return self.setting();
        }
        if login::takes_user(name) {
            return self.password(self.at + 1);
        }
        if name == b"-p" && self.program.has_password() {
            return Some(self.word(self.at + 1, false));
        }
        let name = VariableName::of(name).filter(|name| !name.is_manner())?;
        if self.byte(self.at + 1) == Some(b'(') {
            return Some(self.word_through(self.at + 1, self.closing_bracket(self.at + 2), false));
        }
        let whole_word = self.quote.is_some_and(|(_, inside)| inside == start);
        let secret = self.word(self.at + 1, whole_word);
        (!name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches `--name value`, also `-name value`; `-u name:value`; `-p value` and `-pvalue` of a login; `name value`
    /// after a word that sets something.
    fn flag_value(&mut self) -> Option<Secret> {
        let (begin, word) = self.name_before(self.at, b"\"'");
        if word.is_empty() {
            return None;
        }
        if let Some(secret) = self.bearer(begin, word) {
            return Some(secret);
        }
        let is_first = self.is_first(begin);
        self.program.follow(word, is_first);
        let flag = word.strip_prefix(b"-").and_then(VariableName::of);
        self.is_about_secret |= flag.is_some() || login::SETS_PASSWORDS.contains(&word);
        let start = self.after_blanks(self.at);
        let next = self.bytes.get(start..).unwrap_or_default();
        if login::takes_header(word) {
            self.header_at =
                Some(start + usize::from(next.first().is_some_and(|byte| b"\"'".contains(byte))));
        }
        let is_attached = login::has_attached(next, b"-p");
        if self.program.has_password() && word == b"-p" || self.program.attaches_password() && is_attached {
            let secret = self.word(start + if is_attached { 2 } else { 0 }, false);
            self.program = LoginProgram::default();
            return Some(secret);
        }
        if let Some(secret) = self.argument(word, start) {
            return Some(secret);
        }
        if self.program == LoginProgram::Curl && login::has_attached(next, b"-u") {
            return self.password(start + 2);
        }
        if next.first() == Some(&b'-') {
            return None;
        }
        if login::takes_user(word) && self.program != LoginProgram::Registry {
            return self.password(start);
        }
        let flag = flag?;
        let secret = self.word(start, false);
        (!flag.is_switch() && !flag.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches the part after the colon in `name:value`, also in quotes. Two numbers are the ids of a user and a
    /// group instead.
    fn password(&self, start: usize) -> Option<Secret> {
        let open = self.byte(start).filter(|byte| b"\"'".contains(byte));
        let from = start + usize::from(open.is_some());
        let colon = from + login::user(self.bytes.get(from..)?)?;
        if self.byte(colon) != Some(b':') || self.bytes[colon + 1..].starts_with(b"//") {
            return None;
        }
        let Secret { at: whole, reopened } = self.word(start, false);
        let is_closed = open.is_some() && whole.end > colon + 1 && self.byte(whole.end - 1) == open;
        let end = if is_closed && reopened.is_none() { whole.end - 1 } else { whole.end };
        let is_number = |part: Range<usize>| self.bytes[part].iter().all(u8::is_ascii_digit);
        let are_ids = is_number(from..colon) && is_number(colon + 1..end.max(colon + 1));
        (end > colon && !are_ids).then_some(Secret { at: colon + 1..end, reopened })
    }

    /// Matches `"name": "value"` and `"name": 12` of a JSON object, also with escaped quotes.
    fn member(&self) -> Option<Secret> {
        let (_, name) = self.name_before(self.at, b"\"'\\");
        let is_quoted = self.at > 0 && b"\"'".contains(&self.bytes[self.at - 1]);
        let name = VariableName::of(name).filter(|_| is_quoted)?;
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let start = self.at + 1 + self.bytes.get(self.at + 1..)?.iter().take_while(blank).count();
        let (quote, inside) = match (self.byte(start)?, self.byte(start + 1)) {
            (b'\\', Some(quote @ (b'"' | b'\''))) => (quote, start + 2),
            (quote @ (b'"' | b'\''), _) => (quote, start + 1),
            (b'0'..=b'9' | b'-', _) => {
                let secret =
                    self.up_to(start, |byte| !byte.is_ascii_alphanumeric() && !b".+-".contains(&byte));
                return (!name.allows(self.value(&secret))).then_some(secret);
            }
            _ => return None,
        };
        let is_escaped = inside == start + 2;
        // The shell's own quote ends exactly where the value begins: `"token":"'"$TOKEN"'"`.
        if self.quote.is_some_and(|(open, _)| self.byte(inside) == Some(open)) {
            return None;
        }
        let end = if is_escaped { self.closing_escaped(inside, quote) } else { self.closing(inside, quote) };
        let secret = Secret { at: inside..end.min(self.bytes.len()), reopened: None };
        (!name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches `ghp_…` and other tokens with a known form.
    fn token(&self) -> Option<Secret> {
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        if before.is_some_and(token::is_part) {
            return None;
        }
        let length = token::length(self.bytes.get(self.at..)?)?;
        Some(Secret { at: self.at..self.at + length, reopened: None })
    }

    /// Returns the name that ends before `end`, ignoring at most two of the bytes in `between`, and where it begins.
    fn name_before(&self, end: usize, between: &[u8]) -> (usize, &'a [u8]) {
        let before = self.bytes.get(..end).unwrap_or_default();
        let aside = before.iter().rev().take(2).take_while(|byte| between.contains(byte)).count();
        let before = &before[..end - aside];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let start = before.len() - before.iter().rev().take_while(is_name).count();
        let start = start.max(self.hidden_to).min(before.len());
        (start, &before[start..])
    }

    fn value(&self, secret: &Secret) -> &'a [u8] {
        self.bytes.get(secret.at.clone()).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }
}

#[cfg(test)]
mod tests;

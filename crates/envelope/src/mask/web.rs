//! Secrets of URLs and of HTTP headers.

use super::extent::ends_word;
use super::name::{self, VariableName};
use super::{MASKED, Secret, SecretScan};

/// Where the name of a cookie ends at the latest, in bytes.
const COOKIE_NAME: usize = 128;

impl SecretScan<'_> {
    /// Matches `scheme://user:pass@`, even if the password contains an unescaped `/`.
    pub(super) fn in_url(&self) -> Option<Secret> {
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

    /// Matches `Bearer value` that is all there is between two quotes. What the shell puts in there is none.
    pub(super) fn bearer(&self, begin: usize, word: &[u8]) -> Option<Secret> {
        let is_quote = |at: Option<usize>, more: u8| {
            at.and_then(|at| self.byte(at)).is_some_and(|byte| b"\"'`".contains(&byte) || byte == more)
        };
        if word != b"Bearer" || begin + word.len() != self.at || !is_quote(begin.checked_sub(1), b'"') {
            return None;
        }
        let is_value = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let secret = self.up_to(self.at + 1, |byte| !is_value(byte));
        is_quote(Some(secret.at.end), b'\\').then_some(secret)
    }

    /// Matches `Authorization: …` up to the end of the enclosing quote, or of the line; for `X-Api-Key: …`, only one
    /// word.
    pub(super) fn in_header(&self) -> Option<Secret> {
        let (begin, name) = self.name_before(self.at, b"\"'\\");
        let is_cookie = name::is_cookie(name);
        let is_line = is_cookie || name::is_authorization(name);
        let is_option = self.header_at == Some(begin) && VariableName::of(name).is_some();
        if !is_line && !is_option && !name::is_header(name) {
            return None;
        }
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let start = self.at + 1 + self.bytes.get(self.at + 1..)?.iter().take_while(blank).count();
        let first = self.byte(start)?;
        if is_cookie && !self.bytes[start..].iter().take(COOKIE_NAME).any(|byte| *byte == b'=') {
            return None;
        }
        let behind = start + MASKED.len();
        let is_hidden = self.bytes.get(start..behind) == Some(MASKED.as_bytes());
        if is_hidden && self.byte(behind).is_none_or(|byte| ends_word(byte) || b"\"'".contains(&byte)) {
            // Already masked, while its quotes were still there: what follows is not part of it.
            return Some(Secret { at: start..behind, reopened: None });
        }
        Some(match self.quote {
            None if is_line && !b"\"'".contains(&first) => self.up_to(start, |byte| byte == b'\n'),
            Some((open, _)) if !b"\"'".contains(&first) => {
                Secret { at: start..self.closing(start, open), reopened: None }
            }
            _ => self.word(start, false),
        })
    }
}

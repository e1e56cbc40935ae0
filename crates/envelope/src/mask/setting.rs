//! Secrets beside their name where no `=` or flag joins the two: settings files, arguments of commands that set
//! something, here-strings, elements of XML.

use super::extent::ends_word;
use super::login::LoginProgram;
use super::name::VariableName;
use super::{MASKED, Secret, SecretScan};

/// The maximum length of a tag, in bytes.
const TAG_BYTES: usize = 128;

impl SecretScan<'_> {
    /// Matches `name = value` and `'name' => value`: what a settings file has, to the end of the line or of the quote.
    pub(super) fn setting(&self) -> Option<Secret> {
        let blanks =
            self.bytes[..self.at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let (begin, name) = self.name_before(self.at - blanks, b"]\"'");
        let is_variable = begin > 0 && b"$@{".contains(&self.bytes[begin - 1]);
        let after = self.at + 1 + usize::from(self.byte(self.at + 1) == Some(b'>'));
        if blanks == 0 || is_variable || self.byte(after).is_some_and(|byte| b"=~".contains(&byte)) {
            return None;
        }
        let name = VariableName::of(name).filter(|name| name.is_plain() && !name.is_manner())?;
        let secret = self.line_value(self.after_blanks(after));
        (!self.is_masked(&secret) && !name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches `name: value`, an entry of YAML, if the value is one word and nothing follows it on the line.
    pub(super) fn entry(&self) -> Option<Secret> {
        let (begin, name) = self.name_before(self.at, b"");
        let is_variable = begin > 0 && b"$@-/.".contains(&self.bytes[begin - 1]);
        let start = self.after_blanks(self.at + 1);
        if is_variable || start == self.at + 1 {
            return None;
        }
        let name = VariableName::of(name).filter(|name| name.is_plain())?;
        let secret = self.word(start, false);
        let next = self.byte(self.after_blanks(secret.at.end));
        let is_last = next.is_none_or(|byte| b"\n\"';&|),}#\\".contains(&byte));
        (is_last && !self.is_masked(&secret) && !name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches `/name:value` and `-name:value`.
    pub(super) fn option(&self) -> Option<Secret> {
        let (begin, name) = self.name_before(self.at, b"");
        let before = |at: usize| at.checked_sub(1).and_then(|at| self.byte(at));
        let begins = |at: usize| before(at).is_none_or(|byte| ends_word(byte) || b"\"'".contains(&byte));
        let is_option = match name.first() {
            Some(b'-') => begins(begin),
            _ => before(begin) == Some(b'/') && begins(begin - 1),
        };
        let name = VariableName::of(name).filter(|name| is_option && !name.is_manner())?;
        let secret = self.word(self.at + 1, false);
        (!name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches the part after `:-` in `${NAME:-value}`.
    pub(super) fn default_value(&self) -> Option<Secret> {
        let (begin, name) = self.name_before(self.at, b"");
        let is_default = self.bytes[..begin].ends_with(b"${")
            && self.byte(self.at + 1).is_some_and(|byte| b"-=".contains(&byte));
        let name = VariableName::of(name).filter(|name| is_default && !name.is_manner())?;
        let secret = self.up_to(self.at + 2, |byte| byte == b'}');
        (!name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches `<name>value</name>`.
    pub(super) fn element(&self) -> Option<Secret> {
        let rest = self.bytes.get(self.at + 1..)?;
        let tag = &rest[..rest.iter().take(TAG_BYTES).position(|byte| b"<>".contains(byte))?];
        if rest.get(tag.len()) != Some(&b'>') {
            return None;
        }
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let whole = &tag[..tag.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(tag.len())];
        let name = &whole[whole.len() - whole.iter().rev().take_while(is_name).count()..];
        let name = VariableName::of(name)?;
        let start = self.at + 2 + tag.len();
        let (start, end) = match self.bytes[start..].strip_prefix(b"<![CDATA[") {
            Some(text) => (start + 9, start + 9 + text.iter().position(|byte| *byte == b']')?),
            None => (start, self.up_to(start, |byte| byte == b'<').at.end),
        };
        let secret = Secret { at: start..end, reopened: None };
        let closes = |mark: &[u8]| self.bytes[end..].starts_with(mark);
        ((closes(b"</") || closes(b"]]>")) && !name.allows(self.value(&secret))).then_some(secret)
    }

    /// Matches `<<< value` where the command reads a secret: `read TOKEN`, `login --password-stdin`.
    pub(super) fn here_string(&self) -> Option<Secret> {
        let is_secret = self.is_about_secret || self.program == LoginProgram::ReadSecret;
        let is_here = self.bytes[self.at..].starts_with(b"<<<");
        (is_here && is_secret).then(|| self.word(self.after_blanks(self.at + 3), false))
    }

    /// Matches the words after `word` whose meaning its command gives: `printf -v TOKEN %s value`, `set token value`,
    /// `machine h password value`, `IDENTIFIED BY 'value'`.
    pub(super) fn argument(&mut self, word: &[u8], start: usize) -> Option<Secret> {
        let secret = match self.program {
            LoginProgram::PrintfSecret => self.words(start),
            LoginProgram::SetSecret => self.word(start, false),
            _ if word.eq_ignore_ascii_case(b"password") && self.is_in_quoted_pair(start) => {
                self.word(start, false)
            }
            LoginProgram::Curl if word == b"-b" => {
                let secret = self.word(start, false);
                return self.value(&secret).contains(&b'=').then_some(secret);
            }
            _ => return None,
        };
        let is_value = self.byte(start).is_some_and(|byte| !b"-=:".contains(&byte));
        let is_argument = is_value || self.program == LoginProgram::PrintfSecret;
        self.program = LoginProgram::default();
        is_argument.then_some(secret)
    }

    /// Returns whether a part of a value has been masked before, when its end was another one.
    fn is_masked(&self, secret: &Secret) -> bool {
        memchr::memmem::find(self.value(secret), MASKED.as_bytes()).is_some()
    }

    /// Returns whether a word is the first of its command, or of its line.
    pub(super) fn is_first(&self, begin: usize) -> bool {
        let before =
            self.bytes[..begin].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'"' | b'\''));
        before.is_none_or(|byte| b";&|\n(".contains(byte))
    }

    /// Returns whether the quote contains another quoted text here: SQL in a shell's quotes.
    fn is_in_quoted_pair(&self, start: usize) -> bool {
        let inner = self.byte(start).filter(|byte| b"\"'".contains(byte));
        self.quote.is_some_and(|(open, _)| inner.is_some_and(|inner| inner != open))
    }

    /// Returns the value of a settings line: a quoted word, or everything up to the end of the line or of the quote.
    fn line_value(&self, start: usize) -> Secret {
        let is_quoted = self.byte(start).is_some_and(|byte| b"\"'\\".contains(&byte));
        match self.quote {
            Some((open, _)) if !is_quoted => self.up_to(start, |byte| byte == open || b"\n;".contains(&byte)),
            _ => self.word(start, false),
        }
    }

    /// Returns this word and those after it, to the end of the command.
    fn words(&self, start: usize) -> Secret {
        let mut end = start;
        loop {
            let Secret { at, reopened } = self.word(self.after_blanks(end), false);
            if at.is_empty() {
                return Secret { at: start..end, reopened: None };
            }
            end = at.end;
            if reopened.is_some() {
                return Secret { at: start..end, reopened };
            }
        }
    }
}

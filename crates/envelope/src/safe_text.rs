//! The only type of text that is passed to a terminal, a log or a model. Whatever it was made from, it contains
//! nothing invisible and nothing that controls a terminal: such characters are replaced by their names, `⟨U+202E⟩`.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use super::characters::{is_ordinary, walk};
use super::json::escape;

/// Text that is safe to print. Every sink (standard output and error, a receipt, a line of the log) takes this and
/// nothing else; there is no way to make one that bypasses the check.
///
/// A `String` from a command, an agent or a file does not fit where safe text is wanted:
///
/// ```compile_fail,E0308
/// fn print(_: &pilothouse_envelope::SafeText) {}
/// print(&String::from("\x1b]52;c;AA==\x07"));
/// ```
///
/// It cannot be declared safe either:
///
/// ```compile_fail,E0423
/// let text = pilothouse_envelope::SafeText(String::from("\x1b[2J"));
/// ```
///
/// It is made by a constructor that checks it:
///
/// ```
/// use pilothouse_envelope::SafeText;
/// assert_eq!(SafeText::lines("a\x1b[2Jb\n").as_str(), "a⟨U+001B⟩[2Jb\n");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct SafeText(String);

impl SafeText {
    /// Creates text of any number of lines: line feeds (also after a carriage return) and tabs are kept.
    pub fn lines(text: &str) -> Self {
        Self(name_hidden(text, is_layout).into_owned())
    }

    /// Creates text of one line: a line feed becomes `⏎ `, a tab `→`.
    pub fn line(text: &str) -> Self {
        let text = name_hidden(text, |c, _| matches!(c, '\n' | '\t'));
        Self(if text.contains(['\n', '\t']) {
            text.replace('\n', "⏎ ").replace('\t', "→")
        } else {
            text.into_owned()
        })
    }

    /// Returns whether a text is one line that is safe as it is.
    pub fn is_line(text: &str) -> bool {
        is_ordinary(text, true) || Self::line(text) == text
    }

    /// Creates text of any number of lines in which colours and attributes are kept (SGR, and no other sequences).
    pub fn with_colours(text: &str) -> Self {
        let mut safe = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("\x1b[") {
            let (before, sequence) = rest.split_at(at);
            let body = &sequence[2..];
            let end = body.find(|c: char| !matches!(c, '0'..='9' | ';' | ':')).unwrap_or(body.len());
            let (kept, from) = if body[end..].starts_with('m') { (end + 3, end + 3) } else { (0, 2) };
            safe.push_str(&name_hidden(before, is_layout));
            safe.push_str(&sequence[..kept]);
            if kept == 0 {
                name(&mut safe, '\u{1B}');
                safe.push('[');
            }
            rest = &sequence[from..];
        }
        safe.push_str(&name_hidden(rest, is_layout));
        Self(safe)
    }

    /// Serialises a value as JSON on one line, with hidden characters escaped as `\u202e`.
    ///
    /// # Errors
    /// When the value cannot be serialised.
    pub fn json(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string(value).map(|json| Self(escape(&json)))
    }

    /// Serialises a value as pretty-printed JSON, with hidden characters escaped.
    ///
    /// # Errors
    /// When the value cannot be serialised.
    pub fn json_lines(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string_pretty(value).map(|json| Self(escape(&json)))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text without trailing line feeds.
    #[must_use]
    pub fn strip_feeds(mut self) -> Self {
        self.0.truncate(self.0.trim_end_matches('\n').len());
        self
    }
}

impl Deref for SafeText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<&str> for SafeText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for SafeText {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl From<SafeText> for String {
    fn from(text: SafeText) -> Self {
        text.0
    }
}

impl<'de> Deserialize<'de> for SafeText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::lines(&Cow::<str>::deserialize(from)?))
    }
}

fn is_layout(c: char, next: Option<char>) -> bool {
    matches!((c, next), ('\n' | '\t', _) | ('\r', Some('\n')))
}

/// Replaces hidden characters by their names, unless `stays` accepts the character (given with the one after it).
fn name_hidden(text: &str, stays: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    if is_ordinary(text, true) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 64);
    let mut place = 0;
    walk(text, true, |c, is_odd| {
        place += c.len_utf8();
        if is_odd && !stays(c, text[place..].chars().next()) {
            name(&mut safe, c);
        } else {
            safe.push(c);
        }
    });
    Cow::Owned(safe)
}

/// Appends the name of a character.
fn name(text: &mut String, c: char) {
    // Writing to a string cannot fail.
    let _ = write!(text, "⟨U+{:04X}⟩", u32::from(c));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::is_hidden;

    #[test]
    fn control_characters_and_hidden_characters_are_shown_by_their_names() {
        for (text, shown) in [
            ("plain\n\ttext ❤\u{FE0F} 你好 e\u{301}\r\n", "plain\n\ttext ❤\u{FE0F} 你好 e\u{301}\r\n"),
            ("\x1b]52;c;AA==\x07", "⟨U+001B⟩]52;c;AA==⟨U+0007⟩"),
            ("rm \u{202E}x\u{2066}y\u{9b}31m", "rm ⟨U+202E⟩x⟨U+2066⟩y⟨U+009B⟩31m"),
            ("tag\u{E0041}\u{200B}\u{2028}", "tag⟨U+E0041⟩⟨U+200B⟩⟨U+2028⟩"),
            ("over\rwritten\u{8}", "over⟨U+000D⟩written⟨U+0008⟩"),
        ] {
            assert_eq!(SafeText::lines(text), shown);
            assert_eq!(SafeText::lines(shown), shown, "again");
        }
        assert_eq!(SafeText::line("a\nb\tc\r\n"), "a⏎ b→c⟨U+000D⟩⏎ ");
    }

    #[test]
    fn coloured_text_keeps_only_colour_sequences() {
        let text = "\x1b[0;31mred\x1b[0m\x1b[2J\x1b]0;t\x07\x1b[3\u{202e}";
        let shown = "\x1b[0;31mred\x1b[0m⟨U+001B⟩[2J⟨U+001B⟩]0;t⟨U+0007⟩⟨U+001B⟩[3⟨U+202E⟩";
        assert_eq!(SafeText::with_colours(text), shown);
    }

    proptest! {
        #[test]
        fn safe_text_holds_no_hidden_character_and_stays_the_same_when_converted_again(text in "(?s)\\PC*|.*|[\u{1b}\r\n\u{9b}a❤\u{fe0f}\u{200d}\u{202e}\u{e0041}\u{301}\\[m;1]{0,30}") {
            let safe = SafeText::lines(&text);
            let allowed = |c: char| "\n\t\r\u{FE0E}\u{FE0F}\u{200C}\u{200D}".contains(c) || matches!(c, '\u{E0020}'..='\u{E007F}');
            prop_assert!(safe.chars().all(|c| !is_hidden(c) || allowed(c)), "{safe:?}");
            prop_assert_eq!(SafeText::lines(&safe), safe.as_str());
            let line = SafeText::line(&text);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert_eq!(SafeText::line(&line), line.as_str());
            let coloured = SafeText::with_colours(&text);
            prop_assert_eq!(SafeText::with_colours(&coloured), coloured.as_str());
        }
    }
}

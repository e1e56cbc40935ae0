//! Keys: their names, and the bytes a terminal sends for them. Independent of the console's own key bindings.

use serde::{Deserialize, Serialize};

use super::modes::Modes;

/// One key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyPress {
    pub key: Key,
    /// Control was held.
    pub ctrl: bool,
    /// Alt (Meta) was held.
    pub alt: bool,
    /// Shift was held; for characters it is already reflected in the character.
    pub shift: bool,
}

/// A key of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names on the keys say it")]
pub enum Key {
    Char(char),
    Enter,
    Tab,
    BackTab,
    Backspace,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    Delete,
    F(u8),
}

/// The error for an unknown key name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown key {0:?}: write a character, Enter, Tab, Esc, Up, PageDown, F5, or C-c, M-x, S-Up")]
pub struct UnknownKey(
    /// The name as given.
    pub String,
);

impl From<Key> for KeyPress {
    fn from(key: Key) -> Self {
        Self { key, ctrl: false, alt: false, shift: false }
    }
}

impl KeyPress {
    /// Parses a name such as `a`, `Enter`, `F5`, `C-c`, `M-x`, `S-Up` or `C-M-Left`, or one in a form that other programs
    /// use: `^C`, `ctrl-c`, `Ctrl+D`, `ArrowUp`.
    ///
    /// # Errors
    /// When the name is not a valid key.
    pub fn parse(name: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey(name.to_owned());
        let mut press = Self::from(Key::Esc);
        let caret = name.strip_prefix('^').filter(|after| after.chars().count() == 1);
        press.ctrl = caret.is_some();
        let mut rest = caret.unwrap_or(name);
        while let Some((modifier, tail)) = rest.split_once(['-', '+']).filter(|(_, tail)| !tail.is_empty()) {
            let flag = match modifier.to_ascii_lowercase().as_str() {
                "c" | "ctrl" | "control" => &mut press.ctrl,
                "m" | "a" | "alt" | "meta" => &mut press.alt,
                "s" | "shift" => &mut press.shift,
                _ => return Err(unknown()),
            };
            if std::mem::replace(flag, true) {
                return Err(unknown());
            }
            rest = tail;
        }
        press.key = key_named(rest).ok_or_else(unknown)?;
        if press.shift && press.key == Key::Tab {
            press = Self { key: Key::BackTab, shift: false, ..press };
        }
        Ok(press)
    }

    /// Returns the bytes that a terminal in these modes sends for the key.
    pub fn encode(self, modes: Modes) -> Vec<u8> {
        if let Some(bytes) = self.distinct().filter(|_| modes.distinct_keys) {
            return bytes;
        }
        match self.key {
            Key::Char(c) => self.character(c),
            Key::Enter => self.byte(b'\r'),
            Key::Esc => self.byte(0x1b),
            Key::Backspace => self.byte(if self.ctrl { 0x08 } else { 0x7f }),
            Key::Tab if self.shift => b"\x1b[Z".to_vec(),
            Key::Tab => self.byte(b'\t'),
            Key::BackTab => b"\x1b[Z".to_vec(),
            Key::Up => self.cursor('A', modes),
            Key::Down => self.cursor('B', modes),
            Key::Right => self.cursor('C', modes),
            Key::Left => self.cursor('D', modes),
            Key::Home => self.cursor('H', modes),
            Key::End => self.cursor('F', modes),
            Key::Insert => self.tilde(2),
            Key::Delete => self.tilde(3),
            Key::PageUp => self.tilde(5),
            Key::PageDown => self.tilde(6),
            Key::F(n) => self.function(n),
        }
    }

    /// Returns the key that a terminal sends which cannot tell this one from it.
    #[must_use]
    pub fn undistinct(self) -> Self {
        let Self { key, ctrl, shift, .. } = self;
        match key {
            Key::Char('i' | 'I') if ctrl => Self { key: Key::Tab, ctrl: false, ..self },
            Key::Char('m' | 'M') if ctrl => Self { key: Key::Enter, ctrl: false, ..self },
            Key::Char('[') if ctrl => Self { key: Key::Esc, ctrl: false, ..self },
            Key::Tab if shift => Self { key: Key::BackTab, ctrl: false, shift: false, ..self },
            Key::Enter | Key::Tab | Key::BackTab | Key::Esc => Self { ctrl: false, shift: false, ..self },
            Key::Backspace => Self { shift: false, ..self },
            _ => self,
        }
    }

    /// Returns the bytes of a key that would have those of another one, as kitty's protocol has it (flag 1); `None` for
    /// other keys.
    fn distinct(self) -> Option<Vec<u8>> {
        let press = if self.key == Key::BackTab { Self { key: Key::Tab, shift: true, ..self } } else { self };
        let plain = Modes::default();
        let code = match (press.key, press.modifier()) {
            (Key::Esc, _) => 27,
            (Key::Enter, Some(_)) => 13,
            (Key::Tab, Some(_)) => 9,
            (Key::Backspace, Some(_)) => 127,
            (Key::Char(c), _) if press.ctrl || press.alt => {
                let shift = press.shift || c.is_ascii_uppercase();
                return Some(Self { shift, ..press }.code_sequence(c.to_ascii_lowercase().into()));
            }
            (Key::F(3), _) => return Some(press.tilde(13)),
            (Key::F(n @ 1..=4), None) => return Some(vec![0x1b, b'[', b'O' + n]),
            (Key::Up, None) => return Some(press.cursor('A', plain)),
            (Key::Down, None) => return Some(press.cursor('B', plain)),
            (Key::Right, None) => return Some(press.cursor('C', plain)),
            (Key::Left, None) => return Some(press.cursor('D', plain)),
            (Key::Home, None) => return Some(press.cursor('H', plain)),
            (Key::End, None) => return Some(press.cursor('F', plain)),
            _ => return None,
        };
        Some(press.code_sequence(code))
    }

    fn code_sequence(self, code: u32) -> Vec<u8> {
        match self.modifier() {
            Some(modifier) => format!("\x1b[{code};{modifier}u"),
            None => format!("\x1b[{code}u"),
        }
        .into_bytes()
    }

    fn byte(self, byte: u8) -> Vec<u8> {
        if self.alt { vec![0x1b, byte] } else { vec![byte] }
    }

    fn character(self, c: char) -> Vec<u8> {
        if let Some(byte) = self.ctrl.then(|| control_byte(c)).flatten() {
            return self.byte(byte);
        }
        let c = if self.shift && c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c };
        let mut text = String::from(if self.alt { "\x1b" } else { "" });
        text.push(c);
        text.into_bytes()
    }

    /// Returns xterm's modifier parameter: 1, plus 1 for Shift, 2 for Alt, 4 for Control.
    fn modifier(self) -> Option<u8> {
        let sum = u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl);
        (sum > 0).then_some(sum + 1)
    }

    fn cursor(self, last: char, modes: Modes) -> Vec<u8> {
        match self.modifier() {
            Some(modifier) => format!("\x1b[1;{modifier}{last}"),
            None if modes.application_cursor => format!("\x1bO{last}"),
            None => format!("\x1b[{last}"),
        }
        .into_bytes()
    }

    fn tilde(self, number: u8) -> Vec<u8> {
        match self.modifier() {
            Some(modifier) => format!("\x1b[{number};{modifier}~"),
            None => format!("\x1b[{number}~"),
        }
        .into_bytes()
    }

    fn function(self, n: u8) -> Vec<u8> {
        const NUMBERS: [u8; 16] = [15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34];
        match (n, self.modifier()) {
            (1..=4, Some(modifier)) => format!("\x1b[1;{modifier}{}", char::from(b'O' + n)).into_bytes(),
            (1..=4, None) => format!("\x1bO{}", char::from(b'O' + n)).into_bytes(),
            _ => match NUMBERS.get(usize::from(n).wrapping_sub(5)) {
                Some(number) => self.tilde(*number),
                None => Vec::new(),
            },
        }
    }
}

fn key_named(name: &str) -> Option<Key> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control()).then_some(Key::Char(c));
    }
    Some(match name.to_ascii_lowercase().as_str() {
        "enter" | "return" | "cr" => Key::Enter,
        "tab" => Key::Tab,
        "backtab" => Key::BackTab,
        "space" => Key::Char(' '),
        "backspace" | "bspace" => Key::Backspace,
        "escape" | "esc" => Key::Esc,
        "up" | "arrowup" => Key::Up,
        "down" | "arrowdown" => Key::Down,
        "left" | "arrowleft" => Key::Left,
        "right" | "arrowright" => Key::Right,
        "home" => Key::Home,
        "end" => Key::End,
        "pageup" | "pgup" => Key::PageUp,
        "pagedown" | "pgdn" => Key::PageDown,
        "insert" => Key::Insert,
        "delete" | "del" => Key::Delete,
        other => {
            let number: u8 = other.strip_prefix('f')?.parse().ok()?;
            (1..=20).contains(&number).then_some(Key::F(number))?
        }
    })
}

/// Returns the control character a terminal sends for this key with Control.
fn control_byte(c: char) -> Option<u8> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '[' | '\\' | ']' | '^' | '_' | '@' => u8::try_from(c).ok()? & 0x1f,
        ' ' | '2' => 0x00,
        '3' => 0x1b,
        '4' => 0x1c,
        '5' => 0x1d,
        '6' => 0x1e,
        '7' | '/' | '-' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(name: &str) -> String {
        String::from_utf8(KeyPress::parse(name).unwrap().encode(Modes::default())).unwrap()
    }

    #[test]
    fn key_names_give_the_bytes_that_xterm_sends() {
        for (name, bytes) in [
            ("a", "a"),
            ("A", "A"),
            ("-", "-"),
            ("é", "é"),
            ("Space", " "),
            ("Enter", "\r"),
            ("Tab", "\t"),
            ("S-Tab", "\x1b[Z"),
            ("Backspace", "\x7f"),
            ("Esc", "\x1b"),
            ("Escape", "\x1b"),
            ("C-c", "\x03"),
            ("C-C", "\x03"),
            ("ctrl-c", "\x03"),
            ("^C", "\x03"),
            ("^[", "\x1b"),
            ("^?", "\x7f"),
            ("^", "^"),
            ("Ctrl+D", "\x04"),
            ("control+shift+Up", "\x1b[1;6A"),
            ("+", "+"),
            ("M-+", "\x1b+"),
            ("ArrowUp", "\x1b[A"),
            ("ALT+arrowleft", "\x1b[1;3D"),
            ("C-]", "\x1d"),
            ("C-5", "\x1d"),
            ("C-Space", "\0"),
            ("C--", "\x1f"),
            ("C-\\", "\x1c"),
            ("M-x", "\x1bx"),
            ("M-C-x", "\x1b\x18"),
            ("S-a", "A"),
            ("Up", "\x1b[A"),
            ("S-Up", "\x1b[1;2A"),
            ("C-Left", "\x1b[1;5D"),
            ("C-M-S-Right", "\x1b[1;8C"),
            ("Home", "\x1b[H"),
            ("End", "\x1b[F"),
            ("PageUp", "\x1b[5~"),
            ("C-PageDown", "\x1b[6;5~"),
            ("Insert", "\x1b[2~"),
            ("Delete", "\x1b[3~"),
            ("F1", "\x1bOP"),
            ("S-F4", "\x1b[1;2S"),
            ("F5", "\x1b[15~"),
            ("F10", "\x1b[21~"),
            ("f12", "\x1b[24~"),
        ] {
            assert_eq!(sent(name), bytes, "{name}");
        }
    }

    #[test]
    fn application_cursor_mode_changes_bare_cursor_keys_only() {
        let modes = Modes { application_cursor: true, ..Modes::default() };
        assert_eq!(KeyPress::parse("Up").unwrap().encode(modes), b"\x1bOA");
        assert_eq!(KeyPress::parse("C-Up").unwrap().encode(modes), b"\x1b[1;5A");
        assert_eq!(KeyPress::parse("Delete").unwrap().encode(modes), b"\x1b[3~");
    }

    #[test]
    fn keys_that_share_a_code_get_codes_of_their_own_if_a_program_asks_for_them() {
        let modes = Modes { distinct_keys: true, application_cursor: true, ..Modes::default() };
        for (name, shared, own) in [
            ("Enter", "\r", "\r"),
            ("S-Enter", "\r", "\x1b[13;2u"),
            ("C-Enter", "\r", "\x1b[13;5u"),
            ("M-Enter", "\x1b\r", "\x1b[13;3u"),
            ("Tab", "\t", "\t"),
            ("C-Tab", "\t", "\x1b[9;5u"),
            ("BackTab", "\x1b[Z", "\x1b[9;2u"),
            ("C-i", "\t", "\x1b[105;5u"),
            ("Esc", "\x1b", "\x1b[27u"),
            ("Backspace", "\x7f", "\x7f"),
            ("C-Backspace", "\x08", "\x1b[127;5u"),
            ("C-c", "\x03", "\x1b[99;5u"),
            ("M-X", "\x1bX", "\x1b[120;4u"),
            ("x", "x", "x"),
            ("Up", "\x1bOA", "\x1b[A"),
            ("F1", "\x1bOP", "\x1b[P"),
            ("F3", "\x1bOR", "\x1b[13~"),
            ("F5", "\x1b[15~", "\x1b[15~"),
        ] {
            let key = KeyPress::parse(name).unwrap();
            let sent = |modes| String::from_utf8(key.encode(modes)).unwrap();
            let distinct_keys = false;
            assert_eq!(sent(Modes { distinct_keys, ..modes }), shared, "{name}");
            assert_eq!(sent(modes), own, "{name}");
            let same = key.undistinct().encode(Modes { distinct_keys, ..modes });
            assert_eq!(String::from_utf8(same).unwrap(), shared, "{name}");
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        for name in
            ["", "Foo", "C-", "C-C-c", "X-a", "F0", "F21", "ab", "\x1b", "F-5", "^CC", "^^C", "Hyper+a"]
        {
            assert_eq!(KeyPress::parse(name), Err(UnknownKey(name.to_owned())), "{name}");
        }
    }
}

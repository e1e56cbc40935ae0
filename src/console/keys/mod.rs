//! Keys and mouse as crossterm reports them, in our own words.

pub mod action;
pub mod keymap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::terminal::{Key, KeyPress};

/// Translates a key. `None` for what is no key press: releases, lone modifiers, media keys.
#[must_use]
pub fn from_crossterm(event: KeyEvent) -> Option<KeyPress> {
    if event.is_release() {
        return None;
    }
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    let shift = event.modifiers.contains(KeyModifiers::SHIFT);
    let key = match event.code {
        KeyCode::Char(c) => return Some(character(c, ctrl, alt)),
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => return Some(KeyPress { key: Key::BackTab, ctrl, alt, shift: false }),
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Esc => Key::Esc,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Insert => Key::Insert,
        KeyCode::Delete => Key::Delete,
        KeyCode::F(number) => Key::F(number),
        KeyCode::Null => return Some(character(' ', true, alt)),
        _ => return None,
    };
    Some(KeyPress { key, ctrl, alt, shift })
}

/// A character already says its shift. crossterm reports the bytes 0x1C–0x1F as Ctrl and the digits
/// 4–7, and 0x00 as Ctrl and a space; people press `Ctrl-\`, `Ctrl-]`, `Ctrl-^` and `Ctrl-_`.
fn character(c: char, ctrl: bool, alt: bool) -> KeyPress {
    let key = match c {
        '4' if ctrl => '\\',
        '5' if ctrl => ']',
        '6' if ctrl => '^',
        '7' if ctrl => '_',
        other if ctrl => other.to_ascii_lowercase(),
        other => other,
    };
    KeyPress { key: Key::Char(key), ctrl, alt, shift: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ctrl(c: char) -> KeyPress {
        KeyPress { key: Key::Char(c), ctrl: true, alt: false, shift: false }
    }

    #[test]
    fn the_raw_bytes_1c_to_1f_are_the_keys_people_press() {
        // What crossterm 0.29 makes of the raw bytes (its parser adds the byte's distance to `4`).
        for (byte, expected) in [(0x1Cu8, '\\'), (0x1D, ']'), (0x1E, '^'), (0x1F, '_')] {
            let reported = char::from(byte - 0x1C + b'4');
            let event = KeyEvent::new(KeyCode::Char(reported), KeyModifiers::CONTROL);
            assert_eq!(from_crossterm(event), Some(ctrl(expected)), "{byte:#x}");
        }
    }

    #[test]
    fn a_capital_letter_is_itself_without_shift() {
        let event = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        let expected = KeyPress { key: Key::Char('G'), ctrl: false, alt: false, shift: false };
        assert_eq!(from_crossterm(event), Some(expected));
    }

    #[test]
    fn the_chord_reported_by_a_richer_terminal_is_the_same_key() {
        let event = KeyEvent::new(KeyCode::Char(']'), KeyModifiers::CONTROL);
        assert_eq!(from_crossterm(event), Some(ctrl(']')));
    }
}

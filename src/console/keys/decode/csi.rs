//! Decoding control sequences: keys with modifiers, mouse, focus, answers.

use crate::terminal::host_terminal::TerminalAnswer;
use crate::terminal::{Key, KeyPress, MouseButton, MouseInput, MouseKind};

use super::TerminalInput;
use super::sequence::{DecodeStep, alt};

/// Decodes a sequence that begins with `ESC [`.
pub(super) fn step(held: &[u8]) -> DecodeStep {
    let body = held.get(2..).unwrap_or_default();
    match body {
        // Alt and the bracket: no sequence contains an Escape.
        [0x1b, ..] => return DecodeStep::Took(2, Some(alt(b'['))),
        // The Linux console: F1 to F5.
        [b'[', letter @ b'A'..=b'E', ..] => {
            return DecodeStep::Took(4, Some(TerminalInput::Key(Key::F(letter - b'A' + 1).into())));
        }
        [b'[', 0x1b, ..] => return DecodeStep::Took(3, None),
        [b'[', _, ..] => return DecodeStep::Took(4, None),
        [b'['] => return DecodeStep::More,
        [b'M', report @ ..] => return byte_report(report),
        _ => {}
    }
    let is_parameter = |byte: &u8| matches!(byte, b' '..=b'?');
    let Some(at) = body.iter().position(|byte| !is_parameter(byte)) else { return DecodeStep::More };
    match body[at] {
        letter @ b'@'..=b'~' => DecodeStep::Took(at + 3, decode(&body[..at], letter)),
        // Aborted: the next byte begins something else.
        _ => DecodeStep::Took(at + 2, None),
    }
}

/// Decodes a mouse report in the byte encoding, of which `ESC [ M` has come.
fn byte_report(report: &[u8]) -> DecodeStep {
    // Each byte is at least a blank: anything less begins something else.
    if let Some(at) = report.iter().take(3).position(|byte| *byte < b' ') {
        return DecodeStep::Took(at + 3, None);
    }
    let [button, column, row, ..] = report else { return DecodeStep::More };
    let place = |byte: &u8| u16::from(byte.saturating_sub(33));
    let mouse = mouse(u16::from(button.saturating_sub(32)), place(column), place(row), true);
    DecodeStep::Took(6, mouse.map(TerminalInput::Mouse))
}

/// Returns the key for `ESC O` and a letter.
pub(super) fn application(letter: u8) -> Option<Key> {
    Some(match letter {
        b'M' => Key::Enter,
        b'P'..=b'S' => Key::F(letter - b'P' + 1),
        _ => return arrow(letter),
    })
}

fn arrow(letter: u8) -> Option<Key> {
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return None,
    })
}

/// Parses the numbers of a sequence, each with its sub-parameters.
fn numbers(parameters: &[u8]) -> Vec<Vec<u32>> {
    let text = String::from_utf8_lossy(parameters);
    text.split(';').map(|part| part.split(':').map(|number| number.parse().unwrap_or(0)).collect()).collect()
}

fn decode(parameters: &[u8], letter: u8) -> Option<TerminalInput> {
    if let Some(rest) = parameters.strip_prefix(b"<") {
        let [button, column, row] = numbers(rest).try_into().ok()?;
        let number = |part: Vec<u32>| u16::try_from(part[0]).ok();
        let place = |part| number(part).map(|place| place.saturating_sub(1));
        return mouse(number(button)?, place(column)?, place(row)?, letter == b'M').map(TerminalInput::Mouse);
    }
    if parameters.starts_with(b"?") {
        return match letter {
            b'c' => Some(TerminalInput::Answer(TerminalAnswer::Attributes)),
            b'u' => Some(TerminalInput::Answer(TerminalAnswer::Keys)),
            _ => None,
        };
    }
    if parameters.iter().any(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':')) {
        return None;
    }
    let numbers = numbers(parameters);
    let first = numbers[0][0];
    let number = |at: usize| numbers.get(at).map_or(0, |part| part[0]);
    let key = match letter {
        b'I' | b'O' if parameters.is_empty() => return Some(TerminalInput::Focus(letter == b'I')),
        b'R' if first > 1 => {
            let (row, column) = (u16::try_from(first).ok()?, u16::try_from(number(1)).ok()?);
            return Some(TerminalInput::Answer(TerminalAnswer::Cursor { row, column }));
        }
        b'P' | b'Q' | b'R' | b'S' => Key::F(letter - b'P' + 1),
        b'Z' => Key::BackTab,
        b'~' if first == 200 => return Some(TerminalInput::PasteBegins),
        b'~' if first == 27 => return press_of_code(&[number(2)], numbers.get(1)?).map(TerminalInput::Key),
        b'~' => key_of_number(first)?,
        b'u' => {
            return press_of_code(&numbers[0], numbers.get(1).map_or(&[1], Vec::as_slice))
                .map(TerminalInput::Key);
        }
        _ => arrow(letter)?,
    };
    key_press(key, numbers.get(1).map(Vec::as_slice)).map(TerminalInput::Key)
}

/// Builds a key press from a key and its modifiers; `None` if it is a key release.
fn key_press(key: Key, modifiers: Option<&[u32]>) -> Option<KeyPress> {
    let modifiers = modifiers.unwrap_or(&[1]);
    let is_let_go = modifiers.get(1) == Some(&3);
    let held = modifiers.first().copied().unwrap_or(1).saturating_sub(1);
    let has = |bit: u32| held & bit != 0;
    let shift = has(1) && key != Key::BackTab && !matches!(key, Key::Char(_));
    (!is_let_go).then_some(KeyPress { key, shift, alt: has(2), ctrl: has(4) })
}

fn key_of_number(number: u32) -> Option<Key> {
    let function = |from: u32, first: u8| u8::try_from(number - from).ok().map(|by| Key::F(first + by));
    match number {
        1 | 7 => Some(Key::Home),
        2 => Some(Key::Insert),
        3 => Some(Key::Delete),
        4 | 8 => Some(Key::End),
        5 => Some(Key::PageUp),
        6 => Some(Key::PageDown),
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23..=26 => function(23, 11),
        28 | 29 => function(28, 15),
        31..=34 => function(31, 17),
        _ => None,
    }
}

/// Builds a key press from a character code: the letter, or its shifted form if Shift is held and the
/// terminal reports it.
fn press_of_code(codes: &[u32], modifiers: &[u32]) -> Option<KeyPress> {
    let with_shift = modifiers.first().is_some_and(|held| held.saturating_sub(1) & 1 != 0);
    let code = codes.get(1).filter(|_| with_shift).copied().filter(|code| *code != 0).unwrap_or(codes[0]);
    let key = match code {
        13 => Key::Enter,
        9 if with_shift => Key::BackTab,
        9 => Key::Tab,
        27 => Key::Esc,
        127 => Key::Backspace,
        57_344..=63_743 => own_code(code)?,
        code => {
            let c = char::from_u32(code).filter(|c| !c.is_control())?;
            Key::Char(if with_shift { c.to_ascii_uppercase() } else { c })
        }
    };
    let press = key_press(key, Some(modifiers))?;
    // With Control, a letter is the same key in either case.
    let lower = |key| match key {
        Key::Char(c) => Key::Char(c.to_ascii_lowercase()),
        other => other,
    };
    Some(if press.ctrl { KeyPress { key: lower(press.key), ..press } } else { press })
}

/// Returns the key of a code of its own in kitty's protocol: F13 and up, and the keypad. Media keys and lone modifiers are
/// none.
fn own_code(code: u32) -> Option<Key> {
    const CHARS: &str = "0123456789./*-+\r=,";
    const OTHERS: [Key; 10] = [
        Key::Left,
        Key::Right,
        Key::Up,
        Key::Down,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Insert,
        Key::Delete,
    ];
    if (57_376..=57_383).contains(&code) {
        return u8::try_from(code - 57_376).ok().map(|by| Key::F(13 + by));
    }
    let at = usize::try_from(code.checked_sub(57_399)?).ok()?;
    match CHARS.chars().nth(at) {
        Some('\r') => Some(Key::Enter),
        Some(char) => Some(Key::Char(char)),
        None => OTHERS.get(at - CHARS.len()).copied(),
    }
}

fn mouse(code: u16, col: u16, row: u16, is_press: bool) -> Option<MouseInput> {
    let button = match code & 0b1000_0011 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        128 => Some(MouseButton::Back),
        129 => Some(MouseButton::Forward),
        _ => None,
    };
    let is_dragging = code & 0b10_0000 != 0;
    let kind = match (code & 0b1100_0000, button, is_dragging) {
        (0 | 128, Some(button), true) => MouseKind::Drag(button),
        (0, None, true) => MouseKind::Move,
        (0 | 128, Some(button), false) if is_press => MouseKind::Press(button),
        (0 | 128, Some(button), false) => MouseKind::Release(button),
        // The byte encoding does not say which button was released.
        (0, None, false) => MouseKind::Release(MouseButton::Left),
        (64, ..) => match code & 0b11 {
            0 => MouseKind::ScrollUp,
            1 => MouseKind::ScrollDown,
            2 => MouseKind::ScrollLeft,
            _ => MouseKind::ScrollRight,
        },
        _ => return None,
    };
    let held = |bit: u16| code & bit != 0;
    Some(MouseInput { kind, row, col, shift: held(4), alt: held(8), ctrl: held(16) })
}

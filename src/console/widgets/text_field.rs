//! Editing a line: which key changes what.

use tui_input::InputRequest;

use crate::terminal::{Key, KeyPress};

/// Returns what a key does to the line that is being written.
pub(in crate::console) fn request(press: KeyPress) -> Option<InputRequest> {
    Some(match (press.key, press.ctrl, press.alt) {
        (Key::Char(c), false, false) => InputRequest::InsertChar(c),
        (Key::Backspace, false, false) | (Key::Char('h'), true, _) => InputRequest::DeletePrevChar,
        (Key::Delete, ..) | (Key::Char('d'), true, _) => InputRequest::DeleteNextChar,
        (Key::Left, false, false) | (Key::Char('b'), true, _) => InputRequest::GoToPrevChar,
        (Key::Right, false, false) | (Key::Char('f'), true, _) => InputRequest::GoToNextChar,
        (Key::Left, ..) | (Key::Char('b'), _, true) => InputRequest::GoToPrevWord,
        (Key::Right, ..) | (Key::Char('f'), _, true) => InputRequest::GoToNextWord,
        (Key::Char('w'), true, _) | (Key::Backspace, ..) => InputRequest::DeletePrevWord,
        (Key::Char('u'), true, _) => InputRequest::DeleteLine,
        (Key::Char('k'), true, _) => InputRequest::DeleteTillEnd,
        (Key::Home, ..) | (Key::Char('a'), true, _) => InputRequest::GoToStart,
        (Key::End, ..) | (Key::Char('e'), true, _) => InputRequest::GoToEnd,
        _ => return None,
    })
}

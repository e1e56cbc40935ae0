//! Mouse events, encoded as requested by the program.

use super::modes::{Modes, MouseEncoding, MouseMode};

/// A mouse event, in screen cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MouseInput {
    /// What happened.
    pub kind: MouseKind,
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0.
    pub col: u16,
    /// Shift was held.
    pub shift: bool,
    /// Alt was held.
    pub alt: bool,
    /// Control was held.
    pub ctrl: bool,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MouseKind {
    Press(MouseButton),
    Release(MouseButton),
    Drag(MouseButton),
    Move,
    ScrollUp,
    ScrollDown,
    ScrollLeft,
    ScrollRight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
    /// Button 8.
    Back,
    /// Button 9.
    Forward,
}

impl MouseInput {
    /// Returns the bytes for the event, or `None` if the program did not request such events or the encoding
    /// cannot express it.
    pub fn encode(self, modes: Modes) -> Option<Vec<u8>> {
        if !self.is_wanted(modes.mouse) {
            return None;
        }
        let released = matches!(self.kind, MouseKind::Release(_));
        let code = self.code(modes);
        let (col, row) = (u32::from(self.col) + 1, u32::from(self.row) + 1);
        match modes.mouse_encoding {
            MouseEncoding::Sgr => {
                let last = if released { 'm' } else { 'M' };
                Some(format!("\x1b[<{code};{col};{row}{last}").into_bytes())
            }
            MouseEncoding::Plain => {
                let mut bytes = b"\x1b[M".to_vec();
                for value in [code, col, row] {
                    bytes.push(u8::try_from(value + 32).ok()?);
                }
                Some(bytes)
            }
            MouseEncoding::Utf8 => {
                let mut text = String::from("\x1b[M");
                for value in [code, col, row] {
                    text.push(char::from_u32(value + 32).filter(|c| *c < '\u{800}')?);
                }
                Some(text.into_bytes())
            }
        }
    }

    fn is_wanted(self, mode: MouseMode) -> bool {
        match self.kind {
            MouseKind::Press(_) => mode != MouseMode::Off,
            MouseKind::Drag(_) => matches!(mode, MouseMode::ButtonMotion | MouseMode::AnyMotion),
            MouseKind::Move => mode == MouseMode::AnyMotion,
            MouseKind::Release(_) => !matches!(mode, MouseMode::Off | MouseMode::Press),
            _ => !matches!(mode, MouseMode::Off | MouseMode::Press),
        }
    }

    fn code(self, modes: Modes) -> u32 {
        let button = |button| match button {
            MouseButton::Left => 0,
            MouseButton::Middle => 1,
            MouseButton::Right => 2,
            MouseButton::Back => 128,
            MouseButton::Forward => 129,
        };
        let base = match self.kind {
            MouseKind::Release(_) if modes.mouse_encoding != MouseEncoding::Sgr => 3,
            MouseKind::Press(which) | MouseKind::Release(which) => button(which),
            MouseKind::Drag(which) => 32 + button(which),
            MouseKind::Move => 35,
            MouseKind::ScrollUp => 64,
            MouseKind::ScrollDown => 65,
            MouseKind::ScrollLeft => 66,
            MouseKind::ScrollRight => 67,
        };
        if modes.mouse == MouseMode::Press {
            return base;
        }
        base + 4 * u32::from(self.shift) + 8 * u32::from(self.alt) + 16 * u32::from(self.ctrl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(mouse: MouseMode, mouse_encoding: MouseEncoding) -> Modes {
        Modes { mouse, mouse_encoding, ..Modes::default() }
    }

    fn at(kind: MouseKind, row: u16, col: u16) -> MouseInput {
        MouseInput { kind, row, col, shift: false, alt: false, ctrl: false }
    }

    #[test]
    fn no_mouse_event_is_encoded_unless_the_program_asked_for_it() {
        let off = modes(MouseMode::Off, MouseEncoding::Sgr);
        assert_eq!(at(MouseKind::Press(MouseButton::Left), 0, 0).encode(off), None);
        let press = modes(MouseMode::Press, MouseEncoding::Sgr);
        assert_eq!(at(MouseKind::Release(MouseButton::Left), 0, 0).encode(press), None);
        let buttons = modes(MouseMode::ButtonMotion, MouseEncoding::Sgr);
        assert_eq!(at(MouseKind::Move, 0, 0).encode(buttons), None);
        assert!(at(MouseKind::Drag(MouseButton::Left), 0, 0).encode(buttons).is_some());
    }

    #[test]
    fn each_mouse_encoding_writes_its_own_bytes() {
        let press = at(MouseKind::Press(MouseButton::Right), 4, 9);
        let all = MouseMode::AnyMotion;
        assert_eq!(press.encode(modes(all, MouseEncoding::Sgr)).unwrap(), b"\x1b[<2;10;5M");
        assert_eq!(press.encode(modes(all, MouseEncoding::Plain)).unwrap(), b"\x1b[M\"*%");
        let far = at(MouseKind::Release(MouseButton::Left), 4, 300);
        assert_eq!(far.encode(modes(all, MouseEncoding::Plain)), None);
        assert_eq!(far.encode(modes(all, MouseEncoding::Utf8)).unwrap(), "\x1b[M#\u{14D}%".as_bytes());
        assert_eq!(far.encode(modes(all, MouseEncoding::Sgr)).unwrap(), b"\x1b[<0;301;5m");
        let back = at(MouseKind::Press(MouseButton::Back), 4, 9);
        assert_eq!(back.encode(modes(all, MouseEncoding::Sgr)).unwrap(), b"\x1b[<128;10;5M");
        let wheel = MouseInput { ctrl: true, ..at(MouseKind::ScrollDown, 0, 0) };
        assert_eq!(wheel.encode(modes(all, MouseEncoding::Sgr)).unwrap(), b"\x1b[<81;1;1M");
    }
}

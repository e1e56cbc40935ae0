//! The part of a terminal's state that others need: the cursor, and the modes that change how input is encoded.

use serde::{Deserialize, Serialize};

/// Where the cursor is and how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0; always on the screen.
    pub col: u16,
    /// It is on the last column and the next character goes to the next row.
    pub pending_wrap: bool,
    /// The program wants it to be visible.
    pub visible: bool,
    /// Its shape.
    pub shape: CursorShape,
}

/// Shape of the cursor (DECSCUSR).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorShape {
    /// The terminal's own.
    #[default]
    Default,
    /// A block.
    Block {
        /// It blinks.
        blink: bool,
    },
    /// A line below.
    Underline {
        /// It blinks.
        blink: bool,
    },
    /// A line to the left.
    Bar {
        /// It blinks.
        blink: bool,
    },
}

impl CursorShape {
    /// Returns the same shape without blinking; whether the terminal's own shape blinks is not known.
    #[must_use]
    pub fn to_steady(self) -> Self {
        match self {
            Self::Default => Self::Default,
            Self::Block { .. } => Self::Block { blink: false },
            Self::Underline { .. } => Self::Underline { blink: false },
            Self::Bar { .. } => Self::Bar { blink: false },
        }
    }

    /// Returns the parameter of DECSCUSR that asks for this shape.
    #[must_use]
    pub fn parameter(self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Block { blink } => 2 - u8::from(blink),
            Self::Underline { blink } => 4 - u8::from(blink),
            Self::Bar { blink } => 6 - u8::from(blink),
        }
    }
}

/// Modes the program has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Modes {
    /// The program draws on the alternate screen.
    pub alternate_screen: bool,
    /// Cursor keys send SS3 sequences.
    pub application_cursor: bool,
    /// The keypad sends application codes.
    pub application_keypad: bool,
    /// Pastes are wrapped in markers.
    pub bracketed_paste: bool,
    /// Which mouse events the program wants.
    pub mouse: MouseMode,
    /// How mouse events are written.
    pub mouse_encoding: MouseEncoding,
    /// The program wants to know when it gains or loses focus.
    pub focus_events: bool,
}

/// Which mouse events a program wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseMode {
    /// None.
    #[default]
    Off,
    /// Presses (?9).
    Press,
    /// Presses and releases (?1000).
    PressRelease,
    /// The same and motion while a button is down (?1002).
    ButtonMotion,
    /// The same and any motion (?1003).
    AnyMotion,
}

/// How mouse events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseEncoding {
    /// One byte per coordinate, up to 223.
    #[default]
    Plain,
    /// One UTF-8 character per coordinate (?1005).
    Utf8,
    /// Decimal numbers (?1006).
    Sgr,
}

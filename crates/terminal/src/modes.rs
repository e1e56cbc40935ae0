//! The part of a terminal's state that others depend on: the cursor, and the modes that change how input is
//! encoded.

use serde::{Deserialize, Serialize};

/// Where the cursor is and how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0; always on the screen.
    pub col: u16,
    /// Whether it is at the last column and the next character wraps to the next row.
    pub pending_wrap: bool,
    /// Whether the program wants it to be visible.
    pub visible: bool,
    pub shape: CursorShape,
}

/// Shape of the cursor (DECSCUSR).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorShape {
    /// The terminal's default.
    #[default]
    Default,
    Block {
        /// Whether it blinks.
        blink: bool,
    },
    /// A line below.
    Underline {
        /// Whether it blinks.
        blink: bool,
    },
    /// A line to the left.
    Bar {
        /// Whether it blinks.
        blink: bool,
    },
}

impl CursorShape {
    /// Returns the same shape without blinking; it is unknown whether the terminal's default shape blinks.
    #[must_use]
    pub fn to_steady(self) -> Self {
        match self {
            Self::Default => Self::Default,
            Self::Block { .. } => Self::Block { blink: false },
            Self::Underline { .. } => Self::Underline { blink: false },
            Self::Bar { .. } => Self::Bar { blink: false },
        }
    }

    /// Returns the DECSCUSR parameter for this shape.
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
    /// Which mouse events are reported.
    pub mouse: MouseMode,
    /// How mouse events are encoded.
    pub mouse_encoding: MouseEncoding,
    /// Whether focus changes are reported.
    pub focus_events: bool,
    /// Whether keys that usually share a code get one of their own (flag 1 of kitty's keyboard protocol).
    #[serde(default)]
    pub distinct_keys: bool,
    /// Whether the wheel is not to be sent as arrow keys on the alternate screen (?1007 reset).
    #[serde(default)]
    pub no_wheel_arrows: bool,
}

/// Which mouse events are reported to a program.
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
    /// The same, plus motion while a button is down (?1002).
    ButtonMotion,
    /// The same, plus any motion (?1003).
    AnyMotion,
}

/// How mouse events are encoded.
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

//! Pure: bytes -> screen and transcript, keys -> bytes, query replies. No file, no clock, no thread.
//!
//! To support another escape sequence: `normaliser/sequences.rs` says for each one whether the screen's emulator gets
//! it, gets something else or a reply is sent. Add it there, and to `transcript/sequences.rs` if it moves or changes text.

mod cell;
mod charset;
mod contents;
mod csi;
mod dialogue;
mod emulator;
mod export;
mod history;
pub mod host_terminal;
mod keys;
mod marks;
mod modes;
mod mouse;
mod normaliser;
mod osc;
mod paste;
mod reach;
mod recent;
mod replies;
mod scanner;
mod size;
mod skimmer;
#[expect(clippy::module_inception, reason = "the terminal is the noun of this layer and of its main type")]
mod terminal;
mod transcript;

pub use cell::{Cell, CellStyle, Color};
pub use contents::{Contents, Excerpt, Row, Run};
pub use dialogue::Dialogue;
pub use emulator::Vt100;
pub use export::{Cast, CastEvent, CastVersion, Drawing, Palette};
pub use history::{History, LogBytes, Page, PageRow};
pub use keys::{Key, KeyPress, UnknownKey};
pub use marks::{Mark, MarkKind, Stream, initial_size};
pub use modes::{Cursor, CursorShape, Modes, MouseEncoding, MouseMode};
pub use mouse::{MouseButton, MouseInput, MouseKind};
pub use osc::{PromptMark, Properties};
pub use paste::paste;
pub use size::Size;
pub use terminal::{Fed, Origin, Terminal, is_contained};
pub use transcript::{Transcript, clean};

//! Terminal emulation, pure: bytes to screen and transcript, keys to bytes, replies to queries. No files,
//! clocks or threads.
//!
//! To support another escape sequence: `normaliser/sequences.rs` decides for each one whether it is passed to
//! the screen's emulator, rewritten, or answered with a reply. Add it there, and to `transcript/sequences.rs`
//! if it moves or changes text.

#[cfg(test)]
mod agreement;
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
#[cfg(test)]
mod leaks;
mod marks;
mod modes;
mod mouse;
mod normaliser;
mod open_string;
mod osc;
mod paste;
mod question;
mod reach;
mod read_rows;
mod recent;
mod replies;
mod row;
mod scanner;
mod size;
mod skimmer;
mod style;
mod switch;
mod tabs;
mod terminal;
mod transcript;

pub use cell::{Cell, CellStyle, Color};
pub use contents::{Contents, Excerpt};
pub use dialogue::Dialogue;
pub use emulator::Vt100;
pub use export::{Cast, CastEvent, CastVersion, CellDrawing, CellRow, Palette, escape};
pub use history::{LogBytes, LogHistory, Page, PageRow, SearchPattern};
pub use keys::{Key, KeyPress, UnknownKey};
pub use marks::{ByteSource, Mark, MarkKind, initial_size};
pub use modes::{Cursor, CursorShape, Modes, MouseEncoding, MouseMode};
pub use mouse::{MouseButton, MouseInput, MouseKind};
pub use open_string::open_string;
pub use osc::{PromptMark, Properties};
pub use paste::{MARKERS, paste};
pub use question::{CursorPlace, ScreenText};
pub use row::{CellRun, ScreenRow};
pub use size::Size;
pub use switch::last_switch;
pub use terminal::{ByteOrigin, FeedResult, PackedTerminal, Terminal, is_contained};
pub use transcript::{Transcript, clean};

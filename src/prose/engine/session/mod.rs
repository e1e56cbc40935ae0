//! Sessions answered by a command: its input, and the parsing of its output. Pure.

pub mod brief;
pub mod preset;
pub mod reply;

pub use self::brief::{Brief, BriefAgent, ContextValue};
pub use self::preset::{SessionCommand, SessionParameters, full_command};
pub use self::reply::reply;

//! Sessions answered by a command: its input, and the parsing of its output. Pure.

pub mod brief;
pub mod preset;
pub mod reply;

pub use self::brief::{Agent, Brief, Given};
pub use self::preset::{Invocation, Started, commanded};
pub use self::reply::reply;

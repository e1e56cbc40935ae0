//! Sessions answered by a command: its input, and the parsing of its output. Pure.

pub mod brief;
pub mod permission;
pub mod preset;
pub mod reply;

pub use self::brief::{Agent, Brief, Given};
pub use self::permission::{Asked, Rule};
pub use self::preset::{Invocation, Preset, Started, commanded};
pub use self::reply::{Reply, reply};

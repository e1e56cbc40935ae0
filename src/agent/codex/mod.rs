//! Codex's executor: Codex asks it for processes and files, line by line over standard input and output. The
//! processes become tasks of the runtime. Everything else, including anything not recognised here, is forwarded byte
//! for byte to Codex's own server, which runs beside it.

mod carry;
mod executor;
mod message;
mod mirror;
mod owned;
mod passage;
mod process;
mod server;
mod standing;
mod start;

pub use executor::{Executor, Reach};
pub use mirror::{Frame, MIRROR};

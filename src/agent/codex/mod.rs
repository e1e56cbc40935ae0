//! Codex's executor: Codex asks it, line by line over standard input and output, for processes and files. Its processes
//! become tasks of the runtime. Everything else, and whatever is not known here, is the business of Codex's own server,
//! which runs beside and gets it byte for byte.

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

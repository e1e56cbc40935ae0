//! Codex's executor: Codex asks it for processes and files, line by line over standard input and output. The
//! processes become tasks of the runtime. Everything else, including anything not recognised here, is forwarded byte
//! for byte to Codex's own server, which runs beside it.

mod executor;
mod forwarder;
mod message;
mod process;
mod process_task;
mod sandbox;
mod server;
mod start;
mod start_request;
mod tasks;

pub use executor::{Executor, RuntimeAccess};
pub use sandbox::{MIRROR, StandInFrame};

//! The byte path: a fixed number of threads moves the tasks' output into logs, counters and screens.
//!
//! One pump thread reads from all tasks and writes their input; a small pool of parser threads feeds the terminals.
//! The byte path never runs on tokio, and the console never waits for it.

mod copying;
mod ending;
mod event;
mod fd_entry;
mod inlet;
mod input;
mod input_queue;
mod input_trace;
mod lock;
mod outlet;
mod paced;
mod pacing;
mod parsers;
mod pump;
mod pump_request;
mod reading;
mod ring;
mod task_io;
mod viewers;

pub(crate) use event::ByteEvent;
pub(crate) use fd_entry::TaskDescriptors;
pub(crate) use inlet::Inlet;
pub(crate) use input::MOST_LINE;
pub(crate) use input_queue::InputRefusal;
pub(crate) use outlet::{Outlet, are_one, full_device};
pub(crate) use parsers::Parsers;
pub(crate) use pump::Pump;
pub(crate) use task_io::{TaskIo, TaskIoSpec};
pub use viewers::Viewer;
pub(crate) use viewers::Viewers;

//! The byte path: fixed threads move what tasks write into log, counters and screens.
//!
//! One pump thread reads every task and types into them; a small pool of parsers feeds terminals.
//! tokio is never in this path, and the console never waits for it.

mod fd_entry;
mod parsers;
mod pump;
mod ring;
mod task_io;
mod viewers;

pub(crate) use parsers::Parsers;
pub(crate) use pump::Pump;
pub(crate) use task_io::{TaskIo, TaskIoSpec};
pub use viewers::Viewer;
pub(crate) use viewers::Viewers;

use crate::envelope::TaskId;

/// What the byte path reports to the driver.
#[derive(Debug)]
pub(crate) enum ByteEvent {
    /// All output that was there at exit is stored.
    Drained(TaskId),
    /// The task has written more than it may.
    Overrun(TaskId),
    /// The log of an ended task is whole.
    Closed(TaskId),
    /// A parser panicked; its screen was rebuilt from the log.
    ScreenReset(TaskId),
}

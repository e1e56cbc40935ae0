//! The byte path: a fixed number of threads moves the tasks' output into logs, counters and screens.
//!
//! One pump thread reads from all tasks and writes their input; a small pool of parser threads feeds the terminals.
//! The byte path never runs on tokio, and the console never waits for it.

mod copying;
mod ending;
mod fd_entry;
mod input;
mod outlet;
mod paced;
mod pacing;
mod parsers;
mod pump;
mod ring;
mod task_io;
mod viewers;

pub(crate) use fd_entry::TaskDescriptors;
pub(crate) use outlet::{Outlet, are_one, full_device};
pub(crate) use parsers::Parsers;
pub(crate) use pump::Pump;
pub(crate) use task_io::{TaskIo, TaskIoSpec};
pub use viewers::Viewer;
pub(crate) use viewers::Viewers;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::envelope::TaskId;

/// What the byte path reports to the driver.
#[derive(Debug)]
pub(crate) enum ByteEvent {
    /// All output written before the exit is stored.
    Drained(TaskId),
    /// All output of its shell has been delivered to its caller.
    Delivered(TaskId),
    /// The task has written more than its limit.
    Overrun(TaskId),
    /// The log of an ended task is complete.
    Closed(TaskId),
    /// A parser panicked; its screen was rebuilt from the log.
    ScreenReset(TaskId),
}

/// Locks a mutex, ignoring poisoning: the values behind these locks remain usable after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

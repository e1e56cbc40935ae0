//! What the byte path reports to the driver.

use crate::envelope::TaskId;

/// What the byte path reports to the driver.
#[derive(Debug)]
pub(crate) enum ByteEvent {
    /// All output written before the exit is stored.
    Drained(TaskId),
    /// All output of its shell has been delivered to its caller.
    Delivered(TaskId),
    /// Input that the task had taken is lost.
    InputLost(TaskId),
    /// The task has written more than its limit.
    Overrun(TaskId),
    /// The log of an ended task is complete.
    Closed(TaskId),
    /// These replies to its queries would only be echoed: its terminal is not prepared for them yet.
    EarlyReply(TaskId, Vec<u8>),
    /// A parser panicked; its screen was rebuilt from the log.
    ScreenReset(TaskId),
}

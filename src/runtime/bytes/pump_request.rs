//! The requests to the pump.

use std::time::Duration;

use super::fd_entry::TaskDescriptors;
use crate::envelope::TaskId;

/// What others ask of the pump; a task is named by its id, for it may have gone meanwhile.
#[derive(Debug)]
pub(super) enum PumpRequest {
    Watch(u64, TaskDescriptors),
    Write(TaskId),
    NoteInput(TaskId),
    Say(TaskId, Vec<u8>),
    Unblock(TaskId),
    Drain(TaskId),
    Deliver(TaskId),
    Detach(TaskId),
    Close { id: TaskId, patience: Option<Duration> },
    Forget(TaskId),
    Prioritize(Vec<TaskId>),
    Quit,
}

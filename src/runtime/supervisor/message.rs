//! What the supervisor is told and what it orders.

use std::path::PathBuf;
use std::time::Duration;

use crate::envelope::{Actor, TaskId};
use crate::process::Leftovers;
use crate::runtime::request::{ExecRequest, RejectionReason, StopSignal};
use crate::runtime::view::{TaskEvent, Waiting};
use crate::terminal::Size;

/// How the shell of a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it, e.g. `SIGKILL`.
    Signal(String),
}

/// A task about to exist: its id, the request and what was resolved from it.
#[derive(Debug)]
pub(crate) struct NewTask {
    pub(crate) id: TaskId,
    pub(crate) request: ExecRequest,
    pub(crate) workdir: PathBuf,
    pub(crate) shell: String,
    pub(crate) folder: PathBuf,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Input {
    Start(Box<NewTask>),
    Started {
        id: TaskId,
        pid: u32,
    },
    StartFailed {
        id: TaskId,
        error: (String, String),
    },
    Exited {
        id: TaskId,
        exit: Exit,
    },
    /// All output that was there at exit is stored.
    Drained {
        id: TaskId,
    },
    /// It has written more than a task may.
    Overrun {
        id: TaskId,
    },
    /// What was still alive after the shell; ended or kept as asked.
    Leftovers {
        id: TaskId,
        names: Vec<String>,
    },
    /// The whole tree is reaped, but for the survivors.
    Gone {
        id: TaskId,
        survivors: Vec<String>,
    },
    HostLost {
        id: TaskId,
    },
    Typed {
        id: TaskId,
        by: Actor,
        bytes: u64,
    },
    Refused {
        id: TaskId,
        by: Actor,
        reason: RejectionReason,
    },
    Resized {
        id: TaskId,
        by: Actor,
        size: Size,
    },
    Release {
        id: TaskId,
        by: Actor,
    },
    ScreenReset {
        id: TaskId,
    },
    Rename {
        id: TaskId,
        name: Option<String>,
    },
    Waiting {
        id: TaskId,
        waiting: Option<Waiting>,
    },
    Due {
        id: TaskId,
        timer: Timer,
        epoch: u32,
    },
    Shutdown,
}

/// A timer of a task. Each carries the epoch it was set in; a late one is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The caller's wait is over.
    Yield,
    /// The task's time is over.
    Timeout,
    /// The operator's lease lapses.
    Lease,
    /// The keys typed in a row go on record together.
    Burst,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Start the process.
    Spawn(TaskId),
    /// Tell its host.
    Order(TaskId, Order),
    /// Set a timer.
    Wake { id: TaskId, timer: Timer, epoch: u32, at: Duration },
    /// Read on until its output is quiet, then report `Drained`.
    Drain(TaskId),
    /// Tell the waiting call that the command became a task.
    Promote(TaskId),
    /// The task is terminal: answer whoever waits and free what it held.
    Close(TaskId),
    /// Put this on the task's timeline and on record.
    Note(TaskId, TaskEvent),
}

/// An order to a task host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// End the whole tree: TERM, this grace, KILL.
    End(Duration),
    /// The output is in: end or keep what is left, then report.
    Finish(Leftovers),
    /// Send a signal to the foreground group.
    Signal(StopSignal),
}

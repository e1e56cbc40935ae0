//! The supervisor's input and output.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::ApprovalRule;
use crate::envelope::{Actor, TaskId};
use crate::facts::{Exit, RejectionReason, StopSignal, TaskEvent, Waiting};
use crate::process::{ConsoleProcess, Leftovers};
use crate::runtime::cause::Closing;
use crate::runtime::request::ExecRequest;
use crate::terminal::Size;

/// A task about to exist: its id, the request and what was resolved from it.
#[derive(Debug)]
pub(crate) struct NewTask {
    pub(crate) id: TaskId,
    pub(crate) request: ExecRequest,
    pub(crate) behind: Option<Behind>,
    pub(crate) workdir: PathBuf,
    pub(crate) shell: String,
    pub(crate) folder: PathBuf,
    /// It has a terminal beside its streams.
    pub(crate) side_terminal: bool,
}

/// What stands behind a call that came out of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behind {
    /// The task.
    pub(crate) task: TaskId,
    /// The agent that started the task, or whom the task holds.
    pub(crate) agent: Option<Actor>,
}

impl Behind {
    /// Returns the note of an approval's row.
    pub(crate) fn note(&self) -> String {
        let agent = self.agent.as_ref().map(|agent| format!(" of {agent}")).unwrap_or_default();
        format!("from {}{agent}", self.task)
    }
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
    /// Whoever asked for it and waits for it was killed.
    CallerGone {
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
    /// What it asked at the terminal beside its streams was answered with the end of input.
    Unanswered {
        id: TaskId,
    },
    Due {
        id: TaskId,
        timer: Timer,
        epoch: u32,
    },
    /// These rules hold for new calls from now on.
    Rules {
        rules: Vec<ApprovalRule>,
    },
    /// The wait of a held batch is over.
    HoldOver {
        ticket: u64,
    },
    /// Nobody waits for the answer of a call any more.
    Withdraw {
        call: u64,
    },
    Shutdown {
        closing: Closing,
    },
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
    /// Its caller has been gone for a while.
    Caller,
    /// What it asks at the terminal beside its streams has not been answered.
    Ask,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Start the process.
    Spawn(TaskId),
    /// Put on record that it waits to be started.
    Queue(TaskId),
    /// Answer the waiting call: the operator denied it.
    Refuse { id: TaskId, note: String },
    /// Send an order to its host.
    Order(TaskId, Order),
    /// Set a timer.
    Wake { id: TaskId, timer: Timer, epoch: u32, at: Duration },
    /// Read on until its output is quiet, then report `Drained`.
    Drain(TaskId),
    /// Give it the end of its input: nobody has answered what it asks for so many seconds.
    EndInput { id: TaskId, seconds: u64 },
    /// Tell the waiting call that the command became a task.
    Promote(TaskId),
    /// Tell the waiting call that the operator has not released the command.
    Hold(TaskId),
    /// Answer the batch that waits for the operator.
    Admit { ticket: u64, verdict: Verdict },
    /// Set the timer of a held batch.
    WakeHold { ticket: u64, at: Duration },
    /// Put on record what happened at the gate.
    Gate(GateEvent),
    /// The task is terminal: answer whoever waits and free what it held.
    Close(TaskId),
    /// Put this on the task's timeline and on record.
    Note(TaskId, TaskEvent),
}

/// The answer to a held batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go,
    Denied { note: String },
    Pending,
}

/// Something that happened at the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GateEvent {
    pub(crate) at: Timestamp,
    pub(crate) actor: Actor,
    pub(crate) what: GateEventKind,
    pub(crate) call: Option<u64>,
    pub(crate) task: Option<TaskId>,
    /// What the answer is bound to.
    pub(crate) hash: Option<String>,
    pub(crate) note: String,
    /// The console that the operator was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) console: Option<ConsoleProcess>,
}

/// What it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum GateEventKind {
    Paused,
    Resumed,
    Rules,
    Held,
    Approved,
    Denied,
    Pending,
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

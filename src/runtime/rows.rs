//! The rows of the record (contracts 7): one for each call, answer and task event. What they say is
//! read back in `runtime/past`.

use std::path::Path;

use serde::Serialize;

use super::calls::CallRecord;
use super::view::{TaskEvent, TaskView};
use crate::envelope::TaskId;
use crate::journal::Repaired;

/// One row of the journal.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub(super) enum Row<'a> {
    /// The first row of a recording.
    Recording { workspace: &'a Path, pid: u32, program: &'static str },
    /// A call came in; stands before its effect.
    Call(&'a CallRecord),
    /// A call was answered.
    Answer(Answered<'a>),
    /// A command is about to be started; stands before its effect. Names of variables, not values.
    Start { task: &'a TaskView, env: Vec<&'a str> },
    /// The client of a call stopped waiting; it was not answered.
    Abandoned { seq: u64 },
    /// Something happened to a task.
    Task {
        task: &'a TaskId,
        #[serde(flatten)]
        event: &'a TaskEvent,
    },
    /// A task has ended and its log is whole.
    Ended { task: &'a TaskView },
    /// A person gave a task a name, or took it away.
    Named { task: &'a TaskId, name: Option<&'a str> },
    /// An agent came or went.
    Agent { label: &'a str, client: &'a str, pid: u32, connected: bool },
    /// What was done about a recording whose runtime had died.
    Recovery { recording: &'a str, repaired: &'a Repaired, tasks: &'a [Recovered] },
    /// A recording was removed.
    Pruned { recording: &'a str, seq: u64, hash: Option<crate::journal::Hash>, bytes: u64, reason: &'a str },
    /// The last row of a recording.
    Closed { recovered: bool },
}

/// An answered call.
#[derive(Debug, Serialize)]
pub(super) struct Answered<'a> {
    #[serde(flatten)]
    pub(super) record: &'a CallRecord,
    /// Milliseconds from the call to where it could take effect: what Pilothouse itself took.
    pub(super) latency_ms: Option<u64>,
    /// The task it was about.
    pub(super) task: Option<&'a TaskId>,
}

/// A task whose end was decided after its runtime had died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Recovered {
    pub(super) task: TaskId,
    pub(super) status: super::view::TaskStatus,
    /// Names of the processes that were still there.
    pub(super) found: Vec<String>,
    /// Names of those that could not be ended.
    pub(super) survivors: Vec<String>,
}

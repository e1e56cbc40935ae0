//! The rows of the record (docs/contract.md#record): one for each call, answer and task event. They are read back in
//! `runtime/past`.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::outside::Outside;
use super::question::Fact;
use super::supervisor::GateEvent;
use crate::config::ApprovalRule;
use crate::envelope::{Actor, TaskId, mask};
use crate::journal::Repaired;
use crate::model::{CallRecord, ProgramView, RejectionReason, TaskEvent, TaskView};

/// One row of the journal.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub(super) enum Row<'a> {
    /// The first row of a recording.
    Recording { workspace: &'a Path, pid: u32, program: &'static str },
    /// A call arrived; written before the call takes effect.
    Call(&'a CallRecord),
    /// A call was answered.
    Answer(Answered<'a>),
    /// A command is about to be started; written before that. Its secrets are masked, and variables are listed by
    /// name, without values.
    Start {
        #[serde(serialize_with = "masked")]
        task: &'a TaskView,
        env: Vec<&'a str>,
    },
    /// A command waits for the operator. Its secrets are masked.
    Queued {
        #[serde(serialize_with = "masked")]
        task: &'a TaskView,
    },
    /// Agent calls were paused or resumed, or a call was held or decided.
    Gate(&'a GateEvent),
    /// The client of a call stopped waiting, so the call was not answered. Includes the call's result so far, if
    /// known.
    #[serde(serialize_with = "left_behind")]
    Abandoned(&'a CallRecord),
    /// Something happened to a task.
    Task {
        task: &'a TaskId,
        #[serde(flatten)]
        event: &'a TaskEvent,
    },
    /// A task has ended and its log is complete. Its secrets are masked.
    Ended {
        #[serde(serialize_with = "masked")]
        task: &'a TaskView,
        /// Milliseconds from the task's creation to its first byte of output; `None` if it first waited for a person.
        #[serde(skip_serializing_if = "Option::is_none")]
        first_byte_ms: Option<u64>,
    },
    /// Input was refused because the task had already ended, and with it its timeline.
    Refused { task: &'a TaskId, actor: &'a Actor, reason: RejectionReason },
    /// A person named a task, or removed its name.
    Named { task: &'a TaskId, name: Option<&'a str> },
    /// A person wrote a message for an agent; written before the message is delivered. Its secrets are masked.
    Words { actor: &'a Actor, to: &'a str, text: Cow<'a, str> },
    /// An agent connected or disconnected.
    Agent { label: &'a str, client: &'a str, pid: u32, uid: u32, profile: &'a str, connected: bool },
    /// A fact about a question; written before it takes effect.
    Question(&'a Fact),
    /// A program started or ended. Its secrets are masked.
    Program {
        #[serde(serialize_with = "masked_program")]
        program: &'a ProgramView,
    },
    /// A console with settings of its own has handed over its approval rules.
    Rules { config: &'a Path, rules: &'a [ApprovalRule] },
    /// Commands from an agent's own shell ran without a runtime.
    Outside(&'a Outside),
    /// The recovery of a recording whose runtime had died.
    Recovery { recording: &'a str, repaired: &'a Repaired, tasks: &'a [Recovered] },
    /// A recording was removed.
    Pruned { recording: &'a str, seq: u64, hash: Option<crate::journal::Hash>, bytes: u64, reason: &'a str },
    /// The output of the commands that ended first is removed, up to the one named; written before that.
    OutputsRemoved { tasks: usize, last: &'a TaskId, bytes: u64 },
    /// The last row of a recording.
    Closed { recovered: bool },
}

/// The row of an abandoned call.
#[derive(Serialize, Deserialize)]
pub(super) struct Abandoned<'a> {
    pub(super) seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) envelope: Option<Cow<'a, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) receipt: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
}

fn left_behind<S: Serializer>(record: &CallRecord, serializer: S) -> Result<S::Ok, S::Error> {
    let &CallRecord { seq, duration_ms, ref envelope, ref receipt, .. } = record;
    let envelope = envelope.as_ref().map(Cow::Borrowed);
    let receipt = receipt.as_deref().map(Cow::Borrowed);
    Abandoned { seq, envelope, receipt, duration_ms }.serialize(serializer)
}

/// Serialises a task with the secrets in its command and description masked (docs/contract.md#masking).
fn masked<S: Serializer>(task: &TaskView, serializer: S) -> Result<S::Ok, S::Error> {
    let (cmd, description) = (mask(&task.cmd), task.description.as_deref().map(mask));
    if matches!((&cmd, &description), (Cow::Borrowed(_), None | Some(Cow::Borrowed(_)))) {
        return task.serialize(serializer);
    }
    let (cmd, description) = (cmd.into_owned(), description.map(Cow::into_owned));
    TaskView { cmd, description, ..task.clone() }.serialize(serializer)
}

/// Serialises a program with the secrets in its source masked.
fn masked_program<S: Serializer>(program: &ProgramView, serializer: S) -> Result<S::Ok, S::Error> {
    match mask(&program.source) {
        Cow::Borrowed(_) => program.serialize(serializer),
        Cow::Owned(source) => ProgramView { source: source.into(), ..program.clone() }.serialize(serializer),
    }
}

/// An answered call.
#[derive(Debug, Serialize)]
pub(super) struct Answered<'a> {
    #[serde(flatten)]
    pub(super) record: &'a CallRecord,
    /// Milliseconds until the call could take effect: Pilothouse's own overhead.
    pub(super) latency_ms: Option<u64>,
    /// The task it concerned.
    pub(super) task: Option<&'a TaskId>,
}

/// A task whose final status was determined after its runtime had died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Recovered {
    pub(super) task: TaskId,
    pub(super) status: crate::model::TaskStatus,
    /// Names of the processes that were still running.
    pub(super) found: Vec<String>,
    /// Names of the processes that could not be ended.
    pub(super) survivors: Vec<String>,
}

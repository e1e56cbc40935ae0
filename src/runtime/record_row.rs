//! What happened in a recording: its rows (docs/contract.md#record), one for each call, answer and event. They are
//! written and read back in this form.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::config::ApprovalRule;
use crate::envelope::{Actor, TaskId, mask};
use crate::journal::{Hash, RepairReport};
use crate::model::{
    CallRecord, GateEvent, NativeCall, ProgramView, QuestionFact, RejectionReason, TaskEvent, TaskStatus,
    TaskView, TreeChanges, UnendedProcess, UnrecordedRow,
};

/// What happened: one row of the journal, as `{"kind", "data"}`.
///
/// Fields added later are optional, so that older recordings are read; a row of an unknown kind is left out.
#[derive(Debug, Serialize, Deserialize, strum::EnumDiscriminants)]
#[strum_discriminants(name(FactKind), derive(strum::EnumString, strum::IntoStaticStr, strum::VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of row in a recording.")]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub(crate) enum Fact<'a> {
    /// The first row of a recording.
    Recording { workspace: Cow<'a, Path>, pid: u32, program: Cow<'a, str> },
    /// A call arrived; written before the call takes effect.
    Call(Cow<'a, CallRecord>),
    /// A call was answered.
    Answer(AnsweredCall<'a>),
    /// What the hook of an agent says that its model was given of a command of its own shell.
    Told { seq: u64, receipt: Cow<'a, str>, native: Cow<'a, NativeCall> },
    /// A command is about to be started; written before that. Its secrets are masked, and variables are listed by
    /// name, without values: for people, not read back.
    Start {
        #[serde(serialize_with = "serialize_masked")]
        task: Cow<'a, TaskView>,
        #[serde(default, skip_deserializing)]
        env: Vec<&'a str>,
    },
    /// A command waits for the operator. Its secrets are masked.
    Queued {
        #[serde(serialize_with = "serialize_masked")]
        task: Cow<'a, TaskView>,
    },
    /// Agent calls were paused or resumed, or a call was held or decided.
    Gate(Cow<'a, GateEvent>),
    /// The client of a call stopped waiting, so the call was not answered.
    Abandoned(AbandonedCall<'a>),
    /// Something happened to a task.
    Task {
        task: Cow<'a, TaskId>,
        #[serde(flatten)]
        event: Cow<'a, TaskEvent>,
    },
    /// A task has ended and its log is complete. Its secrets are masked.
    Ended {
        #[serde(serialize_with = "serialize_masked")]
        task: Cow<'a, TaskView>,
        /// Milliseconds from the task's creation to its first byte of output; `None` if it first waited for a person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_byte_ms: Option<u64>,
    },
    /// Input was refused because the task had already ended, and with it its timeline.
    Refused { task: Cow<'a, TaskId>, actor: Cow<'a, Actor>, reason: RejectionReason },
    /// A person named a task, or removed its name.
    Named { task: Cow<'a, TaskId>, name: Option<Cow<'a, str>> },
    /// What differs in the workspace's tree since a task began. The trees are ids in the recording's ledger, the paths
    /// the first of those that differ.
    Changed {
        task: Cow<'a, TaskId>,
        #[serde(flatten)]
        changes: Cow<'a, TreeChanges>,
        trees: Cow<'a, [String; 2]>,
        paths: Vec<String>,
    },
    /// What differed since a task began was undone; or brought back.
    Undone {
        task: Cow<'a, TaskId>,
        actor: Cow<'a, Actor>,
        files: u64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_redo: bool,
    },
    /// A person wrote a message for an agent; written before the message is delivered. Its secrets are masked.
    Words { actor: Cow<'a, Actor>, to: Cow<'a, str>, text: Cow<'a, str> },
    /// An agent connected or disconnected.
    Agent(AgentConnection<'a>),
    /// Something happened to a question; written before it takes effect.
    Question(Cow<'a, QuestionFact>),
    /// A program started or ended. Its secrets are masked.
    Program {
        #[serde(serialize_with = "masked_program")]
        program: Cow<'a, ProgramView>,
    },
    /// A console with settings of its own has handed over its approval rules.
    Rules { config: Cow<'a, Path>, rules: Cow<'a, [ApprovalRule]> },
    /// Commands from an agent's own shell ran without a runtime.
    #[serde(rename = "outside")]
    #[strum_discriminants(strum(serialize = "outside"))]
    Unrecorded(Cow<'a, UnrecordedRow>),
    /// The recovery of a recording whose runtime had died.
    Recovery { recording: Cow<'a, str>, repaired: Cow<'a, RepairReport>, tasks: Cow<'a, [RecoveredTask]> },
    /// A recording was removed.
    Pruned { recording: Cow<'a, str>, seq: u64, hash: Option<Hash>, bytes: u64, reason: Cow<'a, str> },
    /// The output of the commands that ended first is removed, up to the one named; written before that.
    OutputsRemoved { tasks: usize, last: Cow<'a, TaskId>, bytes: u64 },
    /// The last row of a recording.
    Closed {
        #[serde(default)]
        recovered: bool,
    },
}

impl FactKind {
    /// Tells whether a row's `kind` is this one.
    pub(crate) fn is(self, kind: &str) -> bool {
        <&str>::from(self) == kind
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnsweredCall<'a> {
    #[serde(flatten)]
    pub(crate) record: Cow<'a, CallRecord>,
    /// Milliseconds until the call could take effect: Pilothouse's own overhead.
    pub(crate) latency_ms: Option<u64>,
    /// The task it concerned.
    pub(crate) task: Option<Cow<'a, TaskId>>,
}

/// A call that nobody waits for any more, with its result so far, if known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AbandonedCall<'a> {
    /// The call's number.
    pub(crate) seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) envelope: Option<Cow<'a, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Cow<'a, str>>,
    /// Milliseconds from the call until it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
}

impl<'a> AbandonedCall<'a> {
    /// Returns what is recorded of a call that was given up.
    pub(crate) fn of(record: &'a CallRecord) -> Self {
        let &CallRecord { seq, duration_ms, ref envelope, ref receipt, .. } = record;
        let envelope = envelope.as_ref().map(Cow::Borrowed);
        Self { seq, envelope, receipt: receipt.as_deref().map(Cow::Borrowed), duration_ms }
    }
}

/// An agent connected or disconnected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentConnection<'a> {
    pub(crate) label: Cow<'a, str>,
    /// Its name and version.
    pub(crate) client: Cow<'a, str>,
    /// Process id of its shim.
    pub(crate) pid: u32,
    /// The user it ran as; missing in recordings made before it was recorded.
    pub(crate) uid: Option<u32>,
    /// The format of its results.
    pub(crate) profile: Option<Cow<'a, str>>,
    /// Whether it connected (or else disconnected).
    pub(crate) connected: bool,
}

/// A task whose final status was determined after its runtime had died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecoveredTask {
    pub(crate) task: TaskId,
    /// Its final status.
    pub(crate) status: TaskStatus,
    /// Names of the processes that were still running.
    pub(crate) found: Vec<String>,
    /// The processes that could not be ended.
    pub(crate) survivors: Vec<UnendedProcess>,
}

/// Serialises a task with the secrets in its command and description masked (docs/contract.md#masking).
fn serialize_masked<S: Serializer>(task: &TaskView, serializer: S) -> Result<S::Ok, S::Error> {
    let (cmd, description) = (mask(&task.cmd), task.description.as_deref().map(mask));
    if matches!((&cmd, &description), (Cow::Borrowed(_), None | Some(Cow::Borrowed(_)))) {
        return task.serialize(serializer);
    }
    let (cmd, description) = (cmd.into_owned(), description.map(Cow::into_owned));
    TaskView { cmd, description, ..task.clone() }.serialize(serializer)
}

/// Serialises a program without its events, and with the secrets in its source masked.
fn masked_program<S: Serializer>(program: &ProgramView, serializer: S) -> Result<S::Ok, S::Error> {
    let source = mask(&program.source).into();
    ProgramView { source, events: Vec::new(), earlier_events: 0, ..program.clone() }.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use strum::VariantNames as _;

    use super::*;

    /// One row of each kind as a recording holds it, except those that hold a whole task or program.
    fn rows() -> Vec<Value> {
        let at = "2026-01-01T00:00:00Z";
        let call = json!({
            "seq": 1, "at": at, "actor": "agent:x", "tool": "TaskList", "input": {}, "envelope": null, "receipt": null,
            "duration_ms": null,
        });
        let mut answer = call.clone();
        answer["latency_ms"] = json!(3);
        answer["task"] = json!("task_00000000");
        let event = json!({
            "task": "task_00000000", "at": at, "actor": "system", "what": "input", "note": "", "bytes": 7,
        });
        let gate = json!({
            "at": at, "actor": "operator", "what": "paused", "call": null, "task": null, "hash": null, "note": "",
        });
        let changed = json!({
            "task": "task_00000000", "added": 1, "modified": 0, "deleted": 0, "trees": ["1", "2"], "paths": ["a"],
        });
        let agent = json!({
            "label": "x", "client": "x 1", "pid": 7, "uid": 0, "profile": "receipt", "connected": true,
        });
        let mark = json!({ "at": at, "workdir": "/", "cmd": "true", "why": "no runtime" });
        let repaired = json!({ "problems": [], "torn": [3, "/torn"], "sealed": null });
        let recovered =
            json!({ "task": "task_00000000", "status": "failed", "found": ["sleep"], "survivors": [] });
        let data = [
            ("recording", json!({ "workspace": "/w", "pid": 7, "program": "1.0" })),
            ("call", call),
            ("answer", answer),
            ("told", json!({ "seq": 1, "receipt": "so far", "native": { "id": "toolu_1", "is_cut": true } })),
            ("gate", gate),
            ("abandoned", json!({ "seq": 1, "receipt": "so far" })),
            ("task", event),
            ("refused", json!({ "task": "task_00000000", "actor": "cli", "reason": "task_not_running" })),
            ("named", json!({ "task": "task_00000000", "name": null })),
            ("changed", changed),
            ("undone", json!({ "task": "task_00000000", "actor": "operator", "files": 3, "is_redo": true })),
            ("words", json!({ "actor": "operator", "to": "x", "text": "a shorter one" })),
            ("agent", agent),
            ("question", json!({ "what": "withdrawn", "id": "question_00000000", "at": at })),
            ("rules", json!({ "config": "/c.toml", "rules": [{ "prefix": "git push" }] })),
            ("outside", mark),
            ("recovery", json!({ "recording": "r", "repaired": repaired, "tasks": [recovered] })),
            ("pruned", json!({ "recording": "r", "seq": 1, "hash": null, "bytes": 1, "reason": "age" })),
            ("outputs_removed", json!({ "tasks": 1, "last": "task_00000000", "bytes": 1 })),
            ("closed", json!({ "recovered": true })),
        ];
        data.into_iter().map(|(kind, data)| json!({ "kind": kind, "data": data })).collect()
    }

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let rows = rows();
        let whole = ["start", "queued", "ended", "program"];
        for kind in FactKind::VARIANTS.iter().filter(|kind| !whole.contains(kind)) {
            assert!(rows.iter().any(|row| row["kind"] == **kind), "no row of the kind {kind}");
        }
        for row in rows {
            let fact: Fact<'static> = serde_json::from_value(row.clone()).expect("a row");
            assert!(FactKind::from(&fact).is(row["kind"].as_str().expect("a kind")), "{row}");
            assert_eq!(serde_json::to_value(&fact).expect("written"), row);
        }
    }
}

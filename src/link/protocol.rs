//! The messages in frames: requests from consoles and scripts, and what the runtime sends back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::operator::{Card, Item, ScreenUpdate, Update};
use crate::config::ApprovalRule;
use crate::envelope::{Envelope, SafeText, TaskId};
use crate::prose::run::{self, Outcome, Refusal};
use crate::prose::vm::effects::Event;
use crate::runtime::{
    CallRecord, Closing, Decision, Given, Input, InputOutcome, LogPart, LogPiece, Metrics, QuestionId,
    Standing, StoredStreams, StreamView, TaskUsage,
};
use crate::tools::{Answer, CutShort};

/// From a console or script to the runtime.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientMessage {
    /// Do something and say how it went.
    Ask {
        /// Names the answer.
        id: u64,
        /// What to do.
        ask: Request,
    },
    /// From now on these tasks are on the console's screen (role `operator`).
    Show(Shown),
    /// How far a stream of commands has come; the first one opens its call, the last one ends it (role `cli`).
    Stream(StreamView),
    /// End the call that was asked for, and answer with what there is by then (role `cli`).
    Cut {
        /// The call's request.
        id: u64,
        /// Why.
        reason: CutShort,
    },
    /// So many updates of screens have been taken in since the start (role `operator`).
    Taken(u64),
}

/// The tasks a console shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    /// Those with a pane.
    pub(super) visible: Vec<TaskId>,
    /// The one the person looks at.
    pub(super) focus: Option<TaskId>,
    /// The columns of those that are shown as a terminal of that width would show them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) columns: BTreeMap<TaskId, u16>,
}

/// What a console or a script asks of the runtime. A script may only `Call`, run a `Program`, and read the
/// `Metrics`, the `Standing` and the `Streams` of a task.
///
/// A `nonce` is what the runtime sent with the card that is answered, on the same connection; `Operator::ask` fills it in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum Request {
    /// Call a tool.
    Call {
        tool: String,
        input: Value,
        /// The request's idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        once: Option<String>,
    },
    /// Type into a task.
    Send { task: TaskId, input: Input },
    /// Give the operator's lease on a task back.
    Release { task: TaskId },
    /// Take an ended task off the list; the record keeps it.
    Dismiss { task: TaskId },
    /// Give a task a name, or take it away.
    Rename { task: TaskId, name: Option<String> },
    /// Leave a person's words for an agent, by its label.
    Tell { agent: String, text: String },
    /// Return the record of a call.
    Record { seq: u64 },
    /// Return the whole command of a task.
    Command { task: TaskId },
    /// Hold new agent calls, or let those go that only the pause holds; the nonce is needed where that lets calls run.
    Pause {
        paused: bool,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Decide about a held call; `hash` is that of the request the operator was shown.
    Decide {
        ticket: u64,
        hash: String,
        decision: Decision,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Answer a question as the operator.
    Answer {
        question: QuestionId,
        given: Given,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Let agents answer a question, or stop letting them.
    LetAgents {
        question: QuestionId,
        may: bool,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Apply the approval rules of a console whose settings lie elsewhere as well.
    Rules { config: PathBuf, rules: Vec<ApprovalRule> },
    /// Measure what live tasks use now.
    Usage { tasks: Vec<TaskId> },
    /// End all tasks and the runtime. A runtime embedded in another console refuses.
    Shutdown { closing: Closing },
    /// Return the counters.
    Metrics,
    /// Return how much runs and waits.
    Standing,
    /// Return where the exact output of a task is (role `cli`).
    Streams { task: TaskId },
    /// Return a piece of the log of a task, from an offset on (role `operator`).
    Log { task: TaskId, part: LogPart, from: u64 },
    /// Run a program and report what happens meanwhile (role `cli`).
    Program(Box<run::Request>),
}

impl Request {
    /// Calls a tool.
    #[must_use]
    pub fn call(tool: &str, input: Value) -> Self {
        Self::Call { tool: tool.to_owned(), input, once: None }
    }
}

/// From the runtime to a console or script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServerMessage {
    /// How a [`Request`] went; the error is a sentence.
    Reply { id: u64, reply: Result<Reply, String> },
    /// The call that was asked for is on record under this number; told of one that takes its time (role `cli`).
    Begun { id: u64, seq: u64 },
    /// What is new or changed in the snapshot to come, or a part of it.
    Items(Vec<Item>),
    /// The new snapshot is whole.
    Update(Box<Update>),
    /// What an answer must carry to what the last update brought that waits for the operator's word.
    Cards(Vec<Card>),
    /// What changed on the screen of a shown task.
    Screen(ScreenUpdate),
    /// Something happened in the program that is run.
    Event(Box<Event>),
}

/// The answer to a [`Request`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is named after its request")]
pub enum Reply {
    Answer(Answered),
    Sent(InputOutcome),
    Record(Option<Arc<CallRecord>>),
    Command(Option<String>),
    Metrics(Box<Metrics>),
    Standing(Standing),
    Streams(StoredStreams),
    Usage(Vec<TaskUsage>),
    Log(LogPiece),
    Program(Box<Result<Outcome, Refusal>>),
    Done,
}

/// A tool's answer as it travels.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answered {
    seq: u64,
    envelope: Envelope,
    receipt: SafeText,
    #[serde(default)]
    repeated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<CutShort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<TaskId>,
}

impl From<Answer> for Answered {
    fn from(Answer { seq, envelope, receipt, repeated, cut, task }: Answer) -> Self {
        Self { seq, envelope, receipt, repeated, cut, task }
    }
}

impl From<Answered> for Answer {
    fn from(Answered { seq, envelope, receipt, repeated, cut, task }: Answered) -> Self {
        Self { seq, envelope, receipt, repeated, cut, task }
    }
}

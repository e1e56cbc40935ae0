//! The messages in frames: requests from consoles and scripts, and the runtime's replies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::operator::{Card, Item, ScreenUpdate, Update};
use crate::config::ApprovalRule;
use crate::envelope::TaskId;
use crate::model::UnendedProcess;
use crate::model::{
    AnswerInput, CallRecord, ChangesReport, ChangesSince, CloseReason, Decision, InputOutcome, Metrics,
    PortHolder, QuestionId, StatusCounts, StreamView, TypedInput, UndoReport, UndoRequest,
};
use crate::prose::engine::run::{self, RunOutcome, RunRefusal};
use crate::prose::engine::vm::effects::RunEvent;
use crate::runtime::{LogPart, LogPiece, StoredStreams, TaskUsage};
use crate::terminal::host_terminal::DefaultColours;
use crate::tools::{CallAnswer, CutReason};

/// A message from a console or script to the runtime.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientMessage {
    /// Carry out a request and reply.
    Ask {
        /// Identifies the reply.
        id: u64,
        /// The request.
        ask: Request,
    },
    /// These tasks are on the console's screen from now on (role `operator`).
    Show(ConsoleView),
    /// The progress of a stream of commands; the first message opens its call, the last one ends it (role `cli`).
    Stream(StreamView),
    /// End the call of a request, and answer with what there is by then (role `cli`).
    Cut {
        /// The id of the call's request.
        id: u64,
        /// The reason.
        reason: CutReason,
    },
    /// The console has received this many screen updates since the start (role `operator`).
    Taken(u64),
}

/// The tasks a console shows, and what their programs are told of its terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsoleView {
    /// The tasks with a pane.
    pub visible: Vec<TaskId>,
    /// The task that has the focus: the one whose echo matters most.
    pub focus: Option<TaskId>,
    /// The width in columns of tasks to be shown as a terminal of that width would show them, where possible.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<TaskId, u16>,
    /// The colours of the console's terminal, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colours: Option<DefaultColours>,
}

/// A request from a console or a script to the runtime. A script may only `Call`, run a `Program`, and read the
/// `Metrics`, the `StatusCounts`, the `Streams` of a task and the `Holder` of a port, and `Undo` a task.
///
/// A `nonce` is the one that the runtime sent with the card being answered, on the same connection; `Operator::ask`
/// fills it in.
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
    Send { task: TaskId, input: TypedInput },
    /// Release the operator's lease on a task.
    Release { task: TaskId },
    /// Let a task pass that waits for its turn in a lane.
    LetPass { task: TaskId },
    /// Remove an ended task from the list; the record keeps it.
    Dismiss { task: TaskId },
    /// Name a task, or remove its name.
    Rename { task: TaskId, name: Option<String> },
    /// Leave a person's message for an agent, by its label.
    Tell { agent: String, text: String },
    /// Return the record of a call.
    Record { seq: u64 },
    /// Return what differs in the workspace's tree since then (role `operator`).
    Changes { since: ChangesSince },
    /// Undo what differs in the workspace's tree since a task began; or, if it is dry, tell what that would do.
    Undo(UndoRequest),
    /// Return in sentences what the command of a task would cost if it were run now (role `operator`).
    Cost { task: TaskId },
    /// Return the full command of a task.
    Command { task: TaskId },
    /// Hold new agent calls, or release those that only the pause holds; the nonce is required if that releases
    /// calls.
    Pause {
        paused: bool,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Decide on a held call; `hash` identifies the request that the operator was shown, and `cost` the revision of what
    /// they were told that it would cost.
    Decide {
        ticket: u64,
        hash: String,
        #[serde(default)]
        cost: u32,
        decision: Decision,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Answer a question as the operator; `cost` is the revision of what they were told that its command would cost.
    Answer {
        question: QuestionId,
        #[serde(default)]
        cost: u32,
        given: AnswerInput,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Allow agents to answer a question, or no longer.
    LetAgents {
        question: QuestionId,
        may: bool,
        #[serde(default)]
        nonce: Option<String>,
    },
    /// End what is permitted of agents' further prompts.
    EndPermissions,
    /// Additionally apply the approval rules of a console whose settings are stored elsewhere.
    Rules { config: PathBuf, rules: Vec<ApprovalRule> },
    /// Measure the current resource usage of live tasks, and of each process of the one that is `listed`.
    Usage {
        tasks: Vec<TaskId>,
        #[serde(default)]
        listed: Option<TaskId>,
    },
    /// End all tasks and the runtime. A runtime embedded in another console refuses.
    Shutdown { closing: CloseReason },
    /// Return the metrics.
    Metrics,
    /// Return the counts of what is running and waiting.
    Standing,
    /// Return the task that holds a port of this machine.
    Holder { port: u16 },
    /// Return the files with a task's exact output (role `cli`).
    Streams { task: TaskId },
    /// Return a piece of a task's log, starting at an offset (role `operator`).
    Log { task: TaskId, part: LogPart, from: u64 },
    /// Run a program and report its events meanwhile (role `cli`).
    Program(Box<run::RunRequest>),
}

impl Request {
    /// Creates a request to call a tool.
    pub fn call(tool: &str, input: Value) -> Self {
        Self::Call { tool: tool.to_owned(), input, once: None }
    }
}

/// A message from the runtime to a console or script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServerMessage {
    /// The reply to a [`Request`]; an error is a full sentence.
    Reply { id: u64, reply: Result<Reply, String> },
    /// The requested call is recorded under this number; sent for calls that take some time (role `cli`).
    Begun { id: u64, seq: u64 },
    /// New or changed items of the next snapshot, or part of them.
    Items(Vec<Item>),
    /// Completes the new snapshot.
    Update(Box<Update>),
    /// The nonces that answers must carry, for the items of the last update that wait for the operator's decision.
    Cards(Vec<Card>),
    /// The changes of a shown task's screen.
    Screen(ScreenUpdate),
    /// An event of the running program.
    Event(Box<RunEvent>),
}

/// The answer to a [`Request`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is named after its request")]
pub enum Reply {
    Answer(CallAnswer),
    Sent(InputOutcome),
    Record(Option<Arc<CallRecord>>),
    Changes(Box<ChangesReport>),
    Undo(UndoReport),
    Cost(Vec<String>),
    Command(Option<String>),
    Metrics(Box<Metrics>),
    Standing(StatusCounts),
    Holder(Option<PortHolder>),
    Streams(StoredStreams),
    Usage(Vec<TaskUsage>),
    Log(LogPiece),
    Shutdown(Vec<UnendedProcess>),
    Program(Box<Result<RunOutcome, RunRefusal>>),
    Done,
}

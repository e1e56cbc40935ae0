//! The messages in frames: requests from consoles and scripts, and the runtime's replies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::operator::{Card, Item, ScreenUpdate, Update};
use crate::config::ApprovalRule;
use crate::envelope::TaskId;
use crate::model::{
    AnswerInput, CallRecord, ChangesReport, CloseReason, Decision, InputOutcome, Metrics, PortHolder,
    StatusCounts, StreamView, Subject, TypedInput, UndoReport, UndoRequest, UnendedProcess,
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
        /// The one that the runtime sent with the card of the request's subject on the same connection, if it did.
        nonce: Option<String>,
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
    pub columns: BTreeMap<TaskId, u16>,
    /// The colours of the console's terminal, if they are known.
    pub colours: Option<DefaultColours>,
}

/// A request from a console or a script to the runtime.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// What it concerns.
    pub subject: Subject,
    /// What is asked.
    pub act: Act,
}

/// What may be asked of a runtime. A script may only `Call`, run a `Program`, and read the `Metrics`, the counts, the
/// `Streams` of a task and the `Holder` of a port, and `Undo` a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Call a tool.
    Call {
        /// Its name.
        tool: String,
        input: Value,
        /// The request's idempotency key.
        once: Option<String>,
    },
    /// Type into a task.
    Send(TypedInput),
    /// Release the operator's lease on a task.
    Release,
    /// Let a task pass that waits for its turn in a lane.
    LetPass,
    /// Remove an ended task from the list; the record keeps it.
    Dismiss,
    /// Name a task, or remove its name.
    Rename(Option<String>),
    /// Leave a person's message for an agent.
    Tell(String),
    /// Return the record of a call.
    Record,
    /// Return what differs in the workspace's tree since a task began, or since the first command of an agent.
    Changes,
    /// Undo what differs in the workspace's tree since a task began; or, if it is dry, tell what that would do.
    Undo {
        /// Bring back what an undo of it has taken.
        is_redo: bool,
        /// Only tell what would be done.
        is_dry: bool,
    },
    /// Return in sentences what the command of a task would cost if it were run now.
    Cost,
    /// Return the full command of a task.
    Command,
    /// Hold new agent calls, or release those that only the pause holds; only the latter needs a nonce, if that
    /// releases calls.
    Pause(bool),
    /// Decide on a held call.
    Decide {
        /// Identifies the request that the operator was shown.
        hash: String,
        /// The revision of what they were told that it would cost.
        cost: u32,
        decision: Decision,
    },
    /// Answer a question as the operator.
    Answer {
        /// The revision of what they were told that its command would cost.
        cost: u32,
        given: AnswerInput,
    },
    /// Allow agents to answer a question, or no longer.
    LetAgents(bool),
    /// End what is permitted of agents' further prompts.
    EndPermissions,
    /// Additionally apply the approval rules of a console whose settings are stored elsewhere.
    Rules {
        /// The folder of the settings.
        config: PathBuf,
        rules: Vec<ApprovalRule>,
    },
    /// Measure the current resource usage of live tasks, and of each process of the one that is listed.
    Usage(Option<TaskId>),
    /// End all tasks and the runtime. A runtime embedded in another console refuses.
    Shutdown(CloseReason),
    /// Return the metrics.
    Metrics,
    /// Return the counts of what is running and waiting.
    Standing,
    /// Return the task that holds a port of this machine.
    Holder(u16),
    /// Return the files with a task's exact output (role `cli`).
    Streams,
    /// Return a piece of a task's log, starting at an offset (role `operator`).
    Log {
        /// Which part of it.
        part: LogPart,
        /// The offset.
        from: u64,
    },
    /// Run a program and report its events meanwhile (role `cli`).
    Program(Box<run::RunRequest>),
}

impl Act {
    /// Returns the request to do this with a subject.
    pub fn on(self, subject: impl Into<Subject>) -> Request {
        Request { subject: subject.into(), act: self }
    }
}

impl Request {
    /// Creates a request to call a tool. It concerns the task that the input names, if any.
    pub fn call(tool: &str, input: Value) -> Self {
        let task = input.get("task_id").and_then(|id| id.as_str()?.parse().ok());
        let subject = task.map_or(Subject::Runtime, Subject::Task);
        Act::Call { tool: tool.to_owned(), input, once: None }.on(subject)
    }
}

impl From<UndoRequest> for Request {
    fn from(UndoRequest { task, is_redo, is_dry }: UndoRequest) -> Self {
        Act::Undo { is_redo, is_dry }.on(task)
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

//! Orders to the driver from handles, and reports from its helpers.

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::listening::{ListenNews, PortConflict};
use super::looks::WaitLook;
use super::measured_task::MeasuredTask;
use super::start::PreparedStart;
use super::usage::UnmeasuredTask;
use crate::consequence::Consequence;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    AnswerInput, AnsweredPrompts, BatchRequest, CloseReason, ConsoleProcess, Decision, Error, ExecOutcome,
    ExecRequest, InputOutcome, NewQuestion, ParentTask, QuestionId, QuestionOutcome, RecordedAnswer,
    ShownCall, Signal, Stop, StopOutcome, Subject, TypedInput, UnendedProcess,
};
use crate::process::environment::Environment;
use crate::process::{HostEvent, RunningCommand, SignalScope};
use crate::runtime::lanes::{LaneNews, ReturnedTicket};
use crate::runtime::ledger::LedgerNews;
use crate::runtime::supervisor;

pub(in crate::runtime) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// One message to the driver. A `Step` is input that only the supervisor handles; a `Cost` is what was computed of something
/// that waits, `then` the order that waited for it.
#[derive(Debug)]
pub(in crate::runtime) enum DriverOrder {
    Exec { prepared: Box<PreparedStart>, within: Option<ParentTask>, reply: Reply<ExecOutcome> },
    Input { by: Actor, id: TaskId, input: TypedInput, reply: Reply<InputOutcome> },
    Stop { by: Actor, id: TaskId, stop: Stop, reply: Reply<StopOutcome> },
    AgentEnded { label: String },
    Rename { id: TaskId, name: Option<String> },
    Dismiss { id: TaskId },
    Ledger { news: Box<LedgerNews> },
    Known { tasks: Vec<TaskId>, reply: Reply<Vec<UnmeasuredTask>> },
    Publish { reply: Reply<()> },
    Pause { paused: bool, from: Option<ConsoleProcess> },
    EndPause { shown: Vec<(Subject, u32)>, from: Option<ConsoleProcess> },
    IsFree { run: Box<ExecRequest>, within: Option<ParentTask>, cost: Vec<Consequence>, reply: Reply<bool> },
    Admit { batch: Box<BatchRequest>, within: Option<ParentTask>, env: Environment, reply: Reply<()> },
    Decide { shown: ShownCall, decision: Decision, from: Option<ConsoleProcess>, reply: Reply<()> },
    Costs { found: Vec<(Subject, Vec<Consequence>)>, then: Option<Box<DriverOrder>> },
    PassOn { by: Actor, id: TaskId, signal: Signal, scope: SignalScope },
    CallerResized { by: Actor, id: TaskId },
    CallerGone { id: TaskId },
    CancelForeground { call: u64, by: Actor, why: String },
    Started { id: TaskId, running: Box<RunningCommand> },
    StartFailed { id: TaskId, error: Error },
    Waiting { seen: Vec<WaitLook> },
    Listening { news: Vec<ListenNews> },
    Measured { measured: Vec<MeasuredTask> },
    Lanes { news: Vec<LaneNews> },
    LaneMoved { returned: ReturnedTicket },
    Pass { id: TaskId },
    Explained { id: TaskId, conflict: Option<PortConflict> },
    Host { id: TaskId, event: HostEvent },
    Question(QuestionOrder),
    Step(supervisor::SupervisorInput),
    Shutdown { closing: CloseReason, reply: oneshot::Sender<Vec<UnendedProcess>> },
}

/// An order about questions.
#[derive(Debug)]
pub(in crate::runtime) enum QuestionOrder {
    /// Ask a question; the asker cancels `waits` when it stops waiting.
    Ask {
        asking: Box<NewQuestion>,
        /// The environment in which its command would run, if that is known.
        environment: Option<Environment>,
        /// What its command would cost, if that was computed because a rule asks by it.
        cost: Vec<Consequence>,
        reply: Reply<QuestionOutcome>,
        waits: CancellationToken,
    },
    /// Answer a question.
    Answer {
        by: Actor,
        /// The console the answer was given in.
        from: Option<ConsoleProcess>,
        id: QuestionId,
        /// The revision of what the operator was told that its command would cost, if they were told anything.
        cost: Option<u32>,
        given: AnswerInput,
        reply: Reply<RecordedAnswer>,
    },
    /// Comment on a question.
    Comment { by: Actor, id: QuestionId, text: String, reply: Reply<()> },
    /// Allow agents to answer, or no longer.
    LetAgents { id: QuestionId, may: bool, reply: Reply<()> },
    /// A fact about a question was recorded, or could not be.
    Recorded { id: QuestionId, written: Result<(), Error> },
    /// The asker no longer waits.
    Withdraw { id: QuestionId },
    /// Prompts of an agent were answered there.
    AnsweredInAgent(AnsweredPrompts),
    /// An agent is gone: what was permitted to it is over.
    AgentGone { label: String },
    /// The operator ends what is permitted of agents' further prompts.
    Revoke { from: ConsoleProcess },
}

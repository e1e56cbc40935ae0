//! The supervisor's input and output.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::{ApprovalRule, Lane};
use crate::consequence::Consequence;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    BatchRequest, CeilingHit, CloseReason, Decision, ExecRequest, Exit, GateEvent, InputWait, LaneWait,
    Leftovers, ListenAddress, LostInput, ParentTask, RejectionReason, Signal, Stop, StopSignal, TakenPort,
    TaskEvent, UnendedProcess,
};
use crate::terminal::Size;

/// A task about to be created: its id, the request and what was resolved from it.
#[derive(Debug)]
pub(crate) struct NewTask {
    pub(crate) id: TaskId,
    pub(crate) request: ExecRequest,
    pub(crate) behind: Option<CallOrigin>,
    pub(crate) workdir: PathBuf,
    pub(crate) shell: String,
    pub(crate) folder: PathBuf,
    /// Whether it has a terminal beside its streams.
    pub(crate) side_terminal: bool,
    /// The lane that its command belongs in.
    pub(crate) lane: Option<Lane>,
    /// What it would cost, if that was computed because a rule asks by it.
    pub(crate) cost: Vec<Consequence>,
}

/// A command that the operator has allowed in its agent's own prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptedCommand {
    pub(crate) agent: Actor,
    pub(crate) session: String,
    pub(crate) cmd: String,
    pub(crate) workdir: PathBuf,
    /// The number of the question that was answered.
    pub(crate) question: u32,
}

impl PromptedCommand {
    /// Tells whether a new task is this command, run by the agent's session in its own shell.
    pub(super) fn is(&self, new: &NewTask) -> bool {
        let session = new.request.native.as_ref().and_then(|native| native.session.as_deref());
        session == Some(&*self.session)
            && new.request.actor == self.agent
            && new.request.cmd == self.cmd
            && new.workdir == self.workdir
    }
}

/// The origin of a call that came out of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallOrigin {
    pub(crate) task: TaskId,
    /// The agent that started the task, or that the task holds.
    pub(crate) agent: Option<Actor>,
}

impl CallOrigin {
    /// Returns the note for an approval's row.
    pub(crate) fn note(&self) -> String {
        let agent = self.agent.as_ref().map(|agent| format!(" of {agent}")).unwrap_or_default();
        format!("from {}{agent}", self.task)
    }
}

/// An event that the supervisor reacts to.
#[derive(Debug)]
pub(crate) enum SupervisorInput {
    Start(Box<NewTask>),
    /// The operator has allowed a command in its agent's own prompt, where they were told that a rule asks about it as well.
    Prompted {
        command: Box<PromptedCommand>,
    },
    Started {
        id: TaskId,
        pid: u32,
    },
    StartFailed {
        id: TaskId,
        error: (String, String),
    },
    /// The task waits for its turn in its lane.
    Queues {
        id: TaskId,
        wait: LaneWait,
    },
    /// The task has a slot in its lane, or the operator lets it pass.
    Admitted {
        id: TaskId,
        by: Actor,
    },
    Exited {
        id: TaskId,
        exit: Exit,
    },
    /// Its shell has exited before its command began.
    NotBegun {
        id: TaskId,
    },
    /// All output that existed at the exit is stored.
    Drained {
        id: TaskId,
    },
    /// The task has exceeded its output limit.
    Overrun {
        id: TaskId,
    },
    /// The task has passed a ceiling that is polled.
    Ceiling {
        id: TaskId,
        hit: CeilingHit,
    },
    /// The most memory that the task's processes have had together.
    Peak {
        id: TaskId,
        bytes: u64,
    },
    /// Processes that outlived the shell and are still part of the command.
    AtWork {
        id: TaskId,
        names: Vec<String>,
    },
    /// Processes that were still alive after the shell; ended or kept as requested.
    Leftovers {
        id: TaskId,
        names: Vec<String>,
    },
    /// The whole tree is reaped, except for the survivors.
    Gone {
        id: TaskId,
        survivors: Vec<UnendedProcess>,
    },
    /// The host was killed, and then its tree, except for the survivors.
    HostLost {
        id: TaskId,
        survivors: Vec<UnendedProcess>,
    },
    /// The caller that started it and waits for it was killed.
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
    /// Input that the task had taken was lost.
    InputLost {
        id: TaskId,
        lost: LostInput,
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
        waiting: Option<InputWait>,
        /// Whether a console is open.
        is_watched: bool,
    },
    /// The task accepts connections; of what is known already, only the URL is news.
    Listening {
        id: TaskId,
        at: ListenAddress,
        url: Option<String>,
    },
    /// The task no longer accepts connections there.
    Closed {
        id: TaskId,
        at: ListenAddress,
    },
    /// The task, which has ended, failed because an address was in use.
    PortTaken {
        id: TaskId,
        taken: TakenPort,
    },
    /// The program that asked on the terminal beside the task's streams was sent end-of-input.
    Unanswered {
        id: TaskId,
    },
    Due {
        id: TaskId,
        timer: Timer,
        epoch: u32,
    },
    /// Someone stops a task, or sends it a signal.
    Stop {
        id: TaskId,
        by: Actor,
        stop: Stop,
        /// The reason, where it adds something to the actor.
        why: Option<String>,
    },
    /// The task's caller has received a signal and passes it on.
    PassedOn {
        id: TaskId,
        by: Actor,
        signal: Signal,
    },
    /// A batch wants to run, within the task that its caller runs in, if any.
    Batch {
        batch: BatchRequest,
        within: Option<ParentTask>,
    },
    /// The operator pauses new calls of agents, or resumes them.
    Pause {
        paused: bool,
    },
    /// The operator decides on a held call.
    Decide {
        ticket: u64,
        hash: String,
        decision: Decision,
    },
    /// These rules apply to new calls from now on.
    Rules {
        rules: Vec<ApprovalRule>,
    },
    /// The time limit of a held batch has passed.
    HoldOver {
        ticket: u64,
    },
    /// Nobody waits for the answer of a call any more.
    Withdraw {
        call: u64,
    },
    Shutdown {
        closing: CloseReason,
    },
}

/// A timer of a task. Each expiry carries the epoch in which the timer was set; outdated ones are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The caller has waited long enough.
    Yield,
    /// The task's time limit has passed.
    Timeout,
    /// The operator's lease lapses.
    Lease,
    /// Keys typed in quick succession are recorded together.
    Burst,
    /// The caller has been gone for a while.
    Caller,
    /// A question on the terminal beside the task's streams was not answered in time.
    Ask,
    /// The task has waited for input for a while.
    Asked,
}

/// An action for the driver to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SupervisorAction {
    /// Start the process.
    Spawn(TaskId),
    /// Ask for a slot in the task's lane.
    Join { id: TaskId, lane: Lane },
    /// Record that the task waits to be started.
    Queue(TaskId),
    /// Answer the waiting call: the operator denied it.
    Refuse { id: TaskId, note: String },
    /// Send an order to its host.
    Order(TaskId, HostOrder),
    /// Set a timer.
    Wake { id: TaskId, timer: Timer, epoch: u32, at: Duration },
    /// Keep reading until the task's output is quiet, then report `Drained`.
    Drain(TaskId),
    /// Send end-of-input: nobody has answered the task's question for this many seconds.
    EndInput { id: TaskId, seconds: u64 },
    /// Tell the waiting call that the command became a task.
    Promote(TaskId),
    /// Tell the waiting call that the operator has not released the command.
    Hold(TaskId),
    /// Answer the batch that waits for the operator.
    Admit { ticket: u64, verdict: BatchVerdict },
    /// Set the timer of a held batch.
    WakeHold { ticket: u64, at: Duration },
    /// Record an event of the approval gate.
    Gate(GateEvent),
    /// The task is terminal: answer its caller and free its resources.
    Close(TaskId),
    /// Put an event on the task's timeline and record it.
    Note(TaskId, TaskEvent),
}

/// The decision on a held batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BatchVerdict {
    Go,
    Denied { note: String },
    Pending,
}

/// An order to a task host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostOrder {
    /// End the whole tree: TERM, this grace, KILL.
    End(Duration),
    /// The output is drained: end or keep the leftovers, then report; if it `waits`, when none of them is part of the
    /// command any more.
    Finish { leftovers: Leftovers, waits: bool },
    /// Send a signal to the foreground group.
    Signal(StopSignal),
}

//! The public view of the runtime: plain values, published as one snapshot after each change.
//!
//! The same values serve the embedded console, a console attached over the operator link, and the tools.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    AgentView, CallEnd, CeilingHit, Exit, GateView, HoldReason, InputWait, LaneWait, Listener, Metrics,
    NativeCall, OutputView, PlaceLink, PlaceName, ProgramView, PromptPermission, Question, QuestionId, Slot,
    StopView, StreamView, TakenPort, TaskEvent, TaskFact, TaskStatus, TreeChanges, UnendedProcess, timeline,
};
use pilothouse_envelope::{Actor, TaskId};
use pilothouse_terminal::Size;

/// One managed task, or a command still in the foreground of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskView {
    pub id: TaskId,
    /// Its number in this recording, starting at 1; shown as `t07` in the console.
    pub number: u32,
    pub status: TaskStatus,
    /// The command as given; in a snapshot, long commands are truncated.
    pub cmd: String,
    /// The number of characters in the whole command, if `cmd` is truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmd_chars: Option<u64>,
    /// Why it was started, in its starter's words.
    pub description: Option<String>,
    /// A name the operator gave it.
    pub name: Option<String>,
    /// Resolved starting directory.
    pub workdir: PathBuf,
    /// The shell that runs it.
    pub shell: String,
    /// Whether the shell runs as a login shell.
    pub login: bool,
    /// Whether it has a PTY.
    pub tty: bool,
    /// Size of its PTY (with pipes, of its pane).
    pub size: Size,
    /// Whether its starter requested that size.
    pub size_asked: bool,
    /// Whether its stdin is open for input.
    pub accepts_input: bool,
    /// Whether it has a terminal beside its streams, on which the operator answers what it asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub side_terminal: bool,
    /// Who started it.
    pub started_by: Actor,
    /// The call that started it.
    pub call: u64,
    /// The task that its starter ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_task: Option<TaskId>,
    /// Whether it outlived its call and has a handle (false while in the foreground of its call).
    pub promoted: bool,
    /// Its position in a batch; such a command belongs to its call until the end.
    pub item: Option<BatchItem>,
    /// Why it waits in state `queued` for the operator's decision, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HoldReason>,
    /// Its place in the queue of its lane, if it waits in state `queued` for its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<LaneWait>,
    /// Its time limit in milliseconds, if its caller set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The lease on its input, if someone holds it.
    pub lease: Option<Lease>,
    /// The input it seems to want.
    pub waiting: Option<InputWait>,
    /// What it listens on, in the order it was found, bounded; nothing once it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listening: Vec<Listener>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When its process started.
    pub started_at: Option<Timestamp>,
    /// When its status last changed.
    pub updated_at: Timestamp,
    /// The stop in progress or done.
    pub stop: Option<StopView>,
    /// How it ended, once terminal.
    pub ended: Option<TaskEnd>,
    /// The ceiling that it met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<CeilingHit>,
    /// The most memory that its processes had together, in bytes, where that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// What differs in the workspace's tree since it began, once it has ended and that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<TreeChanges>,
    /// Counts of what it wrote.
    pub output: OutputView,
    /// Process id of its shell: only for the console, never for agents (docs/contract.md#execcommand).
    pub pid: Option<u32>,
    /// Folder of its raw log, marks and exit record.
    pub folder: PathBuf,
    /// The last events of its timeline, oldest first, bounded.
    pub events: Vec<TaskEvent>,
    /// How many events came before these.
    #[serde(default, skip_serializing_if = "timeline::is_zero")]
    pub earlier_events: u64,
    /// The place it belongs to, in a console attached to several.
    #[serde(skip)]
    pub place: Option<Arc<PlaceName>>,
}

/// The position of a command in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchItem {
    /// Its number, starting at 1.
    pub index: usize,
    /// How many items the batch has.
    pub count: usize,
}

impl TaskView {
    /// Returns the input the task waits for, if the evidence is stronger than its silence or the look of a prompt.
    #[must_use]
    pub fn certain_wait(&self) -> Option<&InputWait> {
        self.waiting.as_ref().filter(|waiting| waiting.is_certain())
    }

    /// Returns how its shell ended, even while processes it left behind are still alive.
    #[must_use]
    pub fn shell_end(&self) -> Option<&Exit> {
        self.events.iter().rev().find_map(|event| match &event.fact {
            TaskFact::Exit(exit) => Some(exit),
            _ => None,
        })
    }

    /// Returns how many events its timeline has had.
    #[must_use]
    pub fn event_count(&self) -> u64 {
        self.earlier_events.saturating_add(self.events.len() as u64)
    }

    /// Returns how long it lived, in milliseconds; 0 until it has ended.
    #[must_use]
    pub fn lived_ms(&self) -> u64 {
        let Some(ended) = &self.ended else { return 0 };
        if let Some(ran_ms) = ended.ran_ms {
            return ran_ms;
        }
        millis_between(self.started_at.unwrap_or(self.created_at), ended.at)
    }
}

/// The operator's lease on a task's input (docs/contract.md#actors-and-the-lease).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who holds it.
    pub holder: Actor,
    /// When it lapses, unless another key extends it.
    pub until: Timestamp,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnd {
    /// When it ended.
    pub at: Timestamp,
    /// How long it ran, in milliseconds, independent of wall clock changes. `None` if only the wall clock is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_ms: Option<u64>,
    /// Exit status, if the shell exited by itself (124 after a timeout).
    pub exit_status: Option<i32>,
    /// Signal name such as `SIGKILL`, if a signal ended the shell.
    pub signal: Option<String>,
    /// Who sent the signal that ended it, if it was sent with TaskStop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signalled_by: Option<Actor>,
    /// Whether its `timeout_ms` expired.
    pub timed_out: bool,
    /// Kind and message of a start failure or other error.
    pub error: Option<(String, String)>,
    /// Names of processes still alive after the shell had exited, which were then ended.
    pub leftovers: Vec<String>,
    /// The processes that could not be ended.
    pub survivors: Vec<UnendedProcess>,
    /// The port it could not listen on, if that is why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_port: Option<TakenPort>,
}

/// A summary of one tool call. The full record is fetched by `seq`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSummary {
    /// Number of the call in this recording, starting at 1.
    pub seq: u64,
    /// When the call arrived.
    pub at: Timestamp,
    /// Who made the call.
    pub actor: Actor,
    /// Tool name, e.g. `ExecCommand`.
    pub tool: String,
    /// Once answered `success` or `error`; `abandoned` if the client stopped waiting; null while in progress.
    pub status: Option<String>,
    /// Summary text of the envelope, or the first line of the input while in progress.
    pub summary: String,
    /// What it asked for, one line with secrets masked: its command, those of a batch, or else its input or its task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked: String,
    /// The task concerned, if any.
    pub task: Option<TaskId>,
    /// What its answer says of its commands, beside the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<CallEnd>,
    /// Milliseconds from call to answer.
    pub duration_ms: Option<u64>,
    /// What the agent's hook says of it, if it is a command of the agent's own shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeCall>,
    /// Its progress, if it is a stream of commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamView>,
}

/// A message for the person that does not belong to a task: an agent connected or disconnected, the demo narrates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Number, starting at 1.
    pub seq: u64,
    /// When it was added.
    pub at: Timestamp,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// The text, one line.
    pub text: String,
    /// The process id of the console whose action it reports to the others; that console does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

/// Everything a console shows except the screens. Items of the lists are sent one by one, not as part of its JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Increases with each published change.
    pub seq: u64,
    pub workspace: PathBuf,
    /// The recording's folder.
    pub recording: PathBuf,
    /// The agents' socket.
    pub socket: PathBuf,
    /// When the runtime started.
    pub started_at: Timestamp,
    /// Whether it runs without an embedded console (headless).
    pub headless: bool,
    /// Milliseconds between TERM and KILL when a task is stopped.
    #[serde(default)]
    pub stop_grace_ms: u64,
    /// Tasks in order of creation: all live ones and the most recently ended; dismissed ones are left out.
    #[serde(skip)]
    pub tasks: Vec<Arc<TaskView>>,
    /// Number of ended tasks that are no longer listed. The record has them.
    #[serde(default)]
    pub tasks_left: u64,
    /// Recent calls, oldest first, bounded.
    #[serde(skip)]
    pub calls: Vec<Arc<CallSummary>>,
    /// Agents, in order of first connection.
    #[serde(skip)]
    pub agents: Vec<AgentView>,
    /// The running programs and the most recently ended ones, in order of their start.
    #[serde(skip)]
    pub programs: Vec<Arc<ProgramView>>,
    /// Open questions, in the order they were asked.
    #[serde(skip)]
    pub questions: Vec<Arc<Question>>,
    /// The agents' prompts that were last answered in the agents themselves, the last one first, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_agents: Vec<QuestionId>,
    /// What the person has permitted of agents' further prompts, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<PromptPermission>,
    /// Recent notices, oldest first, bounded.
    #[serde(skip)]
    pub notices: Vec<Notice>,
    /// Counters.
    pub metrics: Metrics,
    /// The state of the record.
    #[serde(default)]
    pub record: RecordView,
    /// The calls that wait for the operator.
    #[serde(default)]
    pub gate: GateView,
    /// The places it is merged from, in a console attached to several runtimes; empty if it is a single runtime's.
    #[serde(skip)]
    pub places: Vec<Arc<PlaceState>>,
}

/// The state of the record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordView {
    /// Number of its last row.
    pub seq: u64,
    /// The first 8 digits of that row's hash; a copy noted elsewhere shows later whether the row is still there.
    pub head: String,
    /// Why rows are not on disk, while that is so (`audit_degraded`).
    pub degraded: Option<String>,
}

/// A place as a console shows it.
#[derive(Debug, Clone)]
pub struct PlaceState {
    pub name: Arc<PlaceName>,
    /// The slot that its numbers carry.
    pub slot: Slot,
    /// The machine it is on; `None` for this one.
    pub host: Option<String>,
    pub workspace: PathBuf,
    /// The state of the link to it.
    pub link: PlaceLink,
    /// What it last published, with its own numbers.
    pub snapshot: Arc<Snapshot>,
}

impl Snapshot {
    /// Returns how many tasks are meant, and up to `most` of them, newest first. Of hundreds, none is copied.
    #[must_use]
    pub fn newest(&self, most: usize, is_meant: impl Fn(&TaskView) -> bool) -> (usize, Vec<&Arc<TaskView>>) {
        let mut meant = self.tasks.iter().rev().filter(|view| is_meant(view));
        let listed: Vec<_> = meant.by_ref().take(most).collect();
        (listed.len() + meant.count(), listed)
    }

    /// Returns the processes that could not be ended, of all tasks; some may have ended since.
    pub fn survivors(&self) -> impl Iterator<Item = &UnendedProcess> {
        let ended = self.tasks.iter().filter_map(|task| task.ended.as_ref());
        ended.flat_map(|ended| &ended.survivors)
    }

    /// Returns the place that prefixes a name: that of `web-fix/t07` or `web-fix/claude`.
    #[must_use]
    pub fn place_in(&self, name: &str) -> Option<&Arc<PlaceState>> {
        let (place, _) = name.split_once('/')?;
        self.places.iter().find(|known| known.name.name == place)
    }
}

impl PlaceState {
    /// Returns the number of its tasks that have not ended.
    #[must_use]
    pub fn live_tasks(&self) -> usize {
        self.snapshot.tasks.iter().filter(|task| !task.status.is_terminal()).count()
    }

    /// Returns how many things in it wait for a person.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let Snapshot { tasks, questions, gate, .. } = &*self.snapshot;
        let is_waiting = |task: &&Arc<TaskView>| {
            !task.status.is_terminal() && task.held.is_none() && task.certain_wait().is_some()
        };
        let asked = questions.iter().filter(|question| question.needs_somebody()).count();
        tasks.iter().filter(is_waiting).count() + asked + gate.held.len()
    }
}

impl PartialEq for PlaceState {
    /// Snapshots are compared by address, which avoids comparing their contents.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.slot == other.slot
            && self.host == other.host
            && self.workspace == other.workspace
            && self.link == other.link
            && Arc::ptr_eq(&self.snapshot, &other.snapshot)
    }
}

/// Returns the time from one moment to a later one, in milliseconds; 0 if it is not later.
pub fn millis_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}

//! What others may see of the runtime: plain values, published as one snapshot after each change.
//!
//! The same values serve the console in the same process, a console attached over the operator
//! link, and the tools.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::GateView;
use super::metrics::Metrics;
use super::place::{PlaceLink, PlaceName, Slot};
use super::program::ProgramView;
use super::question::Question;
use super::stream::StreamView;
use crate::envelope::{Actor, TaskId};
use crate::facts::{Exit, HoldReason, TaskEvent, TaskFact, TaskStatus, Waiting};
use crate::terminal::Size;

/// One managed task, or a command still in the foreground of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskView {
    /// Its id.
    pub id: TaskId,
    /// Its number in this recording, from 1; the console writes `t07`.
    pub number: u32,
    /// Where it stands.
    pub status: TaskStatus,
    /// The command as given; in a snapshot only the beginning of a long one.
    pub cmd: String,
    /// How many characters the whole command has, when `cmd` is only its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmd_chars: Option<u64>,
    /// Why, in the words of whoever started it.
    pub description: Option<String>,
    /// A name the operator gave it.
    pub name: Option<String>,
    /// Resolved starting directory.
    pub workdir: PathBuf,
    /// The shell that runs it.
    pub shell: String,
    /// Run as a login shell.
    pub login: bool,
    /// It has a PTY.
    pub tty: bool,
    /// Size of its PTY (of its pane for pipes).
    pub size: Size,
    /// Whoever started it asked for that size.
    pub size_asked: bool,
    /// Its stdin is open for input.
    pub accepts_input: bool,
    /// It has a terminal beside its streams, at which the operator answers what it asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub side_terminal: bool,
    /// Who started it.
    pub started_by: Actor,
    /// The call that started it.
    pub call: u64,
    /// The task that whoever started it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_task: Option<TaskId>,
    /// It outlived its call and has a handle (false while in the foreground of its call).
    pub promoted: bool,
    /// Its place in a batch: such a command belongs to its call to the end.
    pub item: Option<BatchItem>,
    /// It waits in state `queued` for the operator's word, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HoldReason>,
    /// How long it may run, in milliseconds, when its caller said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Who holds its input, if anyone.
    pub lease: Option<Lease>,
    /// It seems to want input.
    pub waiting: Option<Waiting>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When its process started.
    pub started_at: Option<Timestamp>,
    /// When its status last changed.
    pub updated_at: Timestamp,
    /// The stop in progress or done.
    pub stop: Option<StopView>,
    /// How it ended, once terminal.
    pub ended: Option<Ended>,
    /// What it wrote.
    pub output: OutputView,
    /// Process id of its shell: for the console alone, never for agents (docs/contract.md#execcommand).
    pub pid: Option<u32>,
    /// Folder of its raw log, marks and exit record.
    pub folder: PathBuf,
    /// Last events of its timeline, oldest first, bounded.
    pub events: Vec<TaskEvent>,
    /// The place it is of, in a console over several.
    #[serde(skip)]
    pub place: Option<Arc<PlaceName>>,
}

/// The place of a command among the items of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchItem {
    /// Its number, from 1.
    pub index: usize,
    /// How many items the batch has.
    pub count: usize,
}

impl TaskView {
    /// Returns what it waits for, where that is known by more than silence or a prompt's looks.
    #[must_use]
    pub fn certain_wait(&self) -> Option<&Waiting> {
        self.waiting.as_ref().filter(|waiting| waiting.is_certain())
    }

    /// Returns how its shell ended, also while processes it left behind live on.
    #[must_use]
    pub fn shell_end(&self) -> Option<&Exit> {
        self.events.iter().rev().find_map(|event| match &event.fact {
            TaskFact::Exit(exit) => Some(exit),
            _ => None,
        })
    }

    /// Returns how long it has lived, in milliseconds, once it has ended.
    #[must_use]
    pub fn lived_ms(&self) -> u64 {
        let Some(ended) = &self.ended else { return 0 };
        if let Some(ran_ms) = ended.ran_ms {
            return ran_ms;
        }
        let begun = self.started_at.unwrap_or(self.created_at);
        u64::try_from(ended.at.duration_since(begun).as_millis()).unwrap_or(0)
    }
}

/// The operator's hold on a task's input (docs/contract.md#actors-and-the-lease).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who holds it.
    pub holder: Actor,
    /// When it lapses unless another key comes.
    pub until: Timestamp,
}

/// A stop in progress or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopView {
    /// Who asked.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// When the grace ends and KILL follows.
    pub kill_at: Option<Timestamp>,
    /// KILL was asked for at once.
    pub force: bool,
    /// Why, where there is more to say than who: the runtime ends, the caller hung up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// How long it ran, in milliseconds, whatever the wall clock did meanwhile. None where only that clock tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_ms: Option<u64>,
    /// Exit status, when the shell exited by itself (124 after a timeout).
    pub exit_status: Option<i32>,
    /// Signal name such as `SIGKILL`, when one ended the shell.
    pub signal: Option<String>,
    /// Who sent the signal that ended it, when that went through a TaskStop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signalled_by: Option<Actor>,
    /// Its `timeout_ms` ran out.
    pub timed_out: bool,
    /// Kind and message of a start failure or other error.
    pub error: Option<(String, String)>,
    /// Names of processes still alive after the shell had exited, which were then ended.
    pub leftovers: Vec<String>,
    /// Names of processes that could not be killed.
    pub survivors: Vec<String>,
}

/// Counts of what a task wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutputView {
    /// Bytes written by the task, all streams.
    pub bytes: u64,
    /// Line feeds among them.
    pub lines: u64,
    /// Bytes not kept (between head and tail).
    pub dropped_bytes: u64,
    /// When the last byte came.
    pub last_at: Option<Timestamp>,
}

/// One tool call, in short. The whole record is fetched by `seq`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSummary {
    /// Number of the call in this recording, from 1.
    pub seq: u64,
    /// When it came in.
    pub at: Timestamp,
    /// Who called.
    pub actor: Actor,
    /// Tool name, e.g. `ExecCommand`.
    pub tool: String,
    /// Envelope status once answered: `success` or `error`; `abandoned` when the client stopped waiting;
    /// null while in flight.
    pub status: Option<String>,
    /// Summary text of the envelope, or the first line of the input while in flight.
    pub summary: String,
    /// The task concerned, if one is.
    pub task: Option<TaskId>,
    /// Milliseconds from call to answer.
    pub duration_ms: Option<u64>,
    /// The stream of commands it is, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamView>,
}

/// The other end of an agent's connection, as it goes on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPeer {
    /// Its name and version as it says.
    pub client: String,
    /// Process id of its shim, as the kernel has it.
    pub pid: u32,
    /// The user it runs as, as the kernel has it.
    pub uid: u32,
    /// The form of its results: `receipt` or `structured`.
    pub profile: &'static str,
}

/// An agent's connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    /// Its label.
    pub label: String,
    /// Its name and version as it says, e.g. `claude-code 2.1.330`.
    pub client: String,
    /// Process id of its shim.
    pub pid: u32,
    /// Connected now.
    pub connected: bool,
    /// When it first called a tool.
    #[serde(default)]
    pub first_call: Option<Timestamp>,
    /// When it last called a tool.
    pub last_call: Option<Timestamp>,
    /// Calls so far.
    pub calls: u64,
}

/// A line for the person that is not bound to a task: an agent came or went, the demo narrates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Number, from 1.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// It reports a failure.
    pub is_error: bool,
    /// The text, one line.
    pub text: String,
    /// The process of the console that it tells the others about; that one does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

/// Everything a console shows but the screens themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Rises with each published change.
    pub seq: u64,
    /// The workspace.
    pub workspace: PathBuf,
    /// The recording's folder.
    pub recording: PathBuf,
    /// The agents' socket.
    pub socket: PathBuf,
    /// When the runtime started.
    pub started_at: Timestamp,
    /// It runs without a console (headless).
    pub headless: bool,
    /// Tasks in order of creation: all that live, and those that ended last; dismissed ones left out.
    pub tasks: Vec<Arc<TaskView>>,
    /// Ended tasks that are no longer listed. The record has them.
    #[serde(default)]
    pub tasks_left: u64,
    /// Recent calls, oldest first, bounded.
    pub calls: Vec<Arc<CallSummary>>,
    /// Agents, in order of first connection.
    pub agents: Vec<AgentView>,
    /// Programs that run, and the last that ended, in order of their start.
    #[serde(default)]
    pub programs: Vec<Arc<ProgramView>>,
    /// Open questions, in the order they were asked.
    #[serde(default)]
    pub questions: Vec<Arc<Question>>,
    /// Recent notices, oldest first, bounded.
    pub notices: Vec<Notice>,
    /// Counters.
    pub metrics: Metrics,
    /// How the record is.
    #[serde(default)]
    pub record: RecordView,
    /// What waits for the operator.
    #[serde(default)]
    pub gate: GateView,
    /// The places it is put together of, in a console over several; none where it is one runtime's.
    #[serde(skip)]
    pub places: Vec<Arc<PlaceState>>,
}

/// How the record is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordView {
    /// Number of its last row.
    pub seq: u64,
    /// The first 8 digits of that row's hash; noted elsewhere, they show later whether it is still there.
    pub head: String,
    /// Why rows are not on disk, while they are not (`audit_degraded`).
    pub degraded: Option<String>,
}

/// A place as a console shows it.
#[derive(Debug, Clone)]
pub struct PlaceState {
    /// What it is called.
    pub name: Arc<PlaceName>,
    /// Whose numbers are its.
    pub slot: Slot,
    /// The machine it is on; none for this one.
    pub host: Option<String>,
    /// Its workspace.
    pub workspace: PathBuf,
    /// How the link to it stands.
    pub link: PlaceLink,
    /// What it published last, with its own numbers.
    pub snapshot: Arc<Snapshot>,
}

impl Snapshot {
    /// Returns the place whose name stands before a name: that of `web-fix/t07` or `web-fix/claude`.
    #[must_use]
    pub fn place_in(&self, name: &str) -> Option<&Arc<PlaceState>> {
        let (place, _) = name.split_once('/')?;
        self.places.iter().find(|known| known.name.name == place)
    }
}

impl PlaceState {
    /// Returns how many of its tasks are not at their end.
    #[must_use]
    pub fn live_tasks(&self) -> usize {
        self.snapshot.tasks.iter().filter(|task| !task.status.is_terminal()).count()
    }

    /// Returns how many things there wait for a person.
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
    /// Published states are the same when they are the same one in memory: nobody has to look through them.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.slot == other.slot
            && self.host == other.host
            && self.workspace == other.workspace
            && self.link == other.link
            && Arc::ptr_eq(&self.snapshot, &other.snapshot)
    }
}

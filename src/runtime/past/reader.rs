//! Reads a recording back from its rows: its calls, its tasks and all their events. Pure except for the reading
//! itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::envelope::{Actor, TaskId};
use crate::journal::{self, Error, Item, Meta, Problem, Reader, Record};
use crate::model::calls::ABANDONED;
use crate::model::{CallRecord, ProgramView, RejectionReason, TaskEvent, TaskState, TaskUpdate, TaskView};
use crate::runtime::counters::Counters;
use crate::runtime::events::{Abandoned, Answered, Row};
use crate::runtime::outside::{Marks, Outside};
use crate::runtime::question::Fact;
use crate::runtime::supervisor::GateEvent;

/// A recording read back from its rows.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Its folder.
    pub folder: PathBuf,
    /// The recording's description.
    pub meta: Option<Meta>,
    /// Its calls by number.
    pub calls: BTreeMap<u64, PastCall>,
    /// Its tasks in order of creation; one whose end was not recorded keeps its last known state.
    pub tasks: Vec<TaskState>,
    /// All events of its tasks, in order.
    pub events: Vec<PastEvent>,
    /// Its programs, in their last known state.
    pub programs: Vec<ProgramView>,
    /// Connections and disconnections of agents.
    pub agents: Vec<PastAgent>,
    /// When its last row was written.
    pub last_at: Option<Timestamp>,
    /// Number of rows.
    pub rows: u64,
    /// Present if its last row says that it was closed: whether that was done after its runtime had died.
    pub closed: Option<bool>,
    /// Commands that ran without a runtime before it.
    pub(super) outside: Marks,
    /// Everything that is not as it was written.
    pub problems: Vec<Problem>,
    /// The counters computed from its rows.
    pub(super) counters: Counters,
}

/// One call of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PastCall {
    /// The call, as far as it was answered.
    #[serde(flatten)]
    pub record: CallRecord,
    /// Milliseconds from the call until it could take effect.
    #[serde(default)]
    pub latency_ms: Option<u64>,
    /// The task it concerned.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// Its client stopped waiting.
    #[serde(default)]
    pub abandoned: bool,
}

impl PastCall {
    /// Returns the call's status. A call that was still open when the runtime ended counts as abandoned.
    pub(super) fn status(&self) -> &str {
        self.record.status().filter(|_| !self.abandoned).unwrap_or(ABANDONED)
    }
}

/// An event of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastEvent {
    /// The task.
    pub task: TaskId,
    /// The event.
    #[serde(flatten)]
    pub event: TaskEvent,
}

/// An agent connected or disconnected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAgent {
    /// When.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// Its label.
    pub label: String,
    /// Its name and version.
    pub client: String,
    /// Process id of its shim.
    pub pid: u32,
    /// The user it ran as; missing in recordings made before it was recorded.
    #[serde(default)]
    pub uid: Option<u32>,
    /// The format of its results.
    #[serde(default)]
    pub profile: Option<String>,
    /// Whether it connected (or else disconnected).
    pub connected: bool,
}

/// Reads a recording. Whatever cannot be read is left out and listed among the problems.
///
/// # Errors
/// If its folder cannot be listed.
pub fn read(folder: &Path) -> Result<Recording, Error> {
    let mut recording = Recording::of(folder);
    for item in Reader::open(folder)? {
        match item {
            Item::Record(record) => recording.read_row(&record),
            Item::Problem(problem) => recording.problems.push(problem),
        }
    }
    Ok(recording)
}

/// Reads one task of a recording, using memory for one segment.
///
/// # Errors
/// If its folder cannot be listed.
pub(super) fn read_task(folder: &Path, id: &TaskId) -> Result<Option<TaskState>, Error> {
    const KINDS: [&str; 5] = ["queued", "start", "task", "ended", "named"];
    let mut recording = Recording::of(folder);
    let name = memchr::memmem::Finder::new(id.as_str());
    // If a row was too large for its line, its task is stored in a file.
    let spilled = memchr::memmem::Finder::new("\"parts\":[{");
    for item in Reader::open(folder)? {
        if let Item::Record(record) = item
            && KINDS.contains(&record.header.kind.as_str())
            && (name.find(record.line()).is_some() || spilled.find(record.line()).is_some())
        {
            recording.read_row(&record);
            recording.tasks.retain(|task| task.id == *id);
        }
    }
    Ok(recording.tasks.into_iter().find(|task| task.id == *id))
}

/// Reads one call of a recording, using memory for one segment.
///
/// # Errors
/// If its folder cannot be listed.
pub(in crate::runtime) fn read_call(folder: &Path, seq: u64) -> Result<Option<CallRecord>, Error> {
    const KINDS: [&str; 3] = ["call", "answer", "abandoned"];
    let mut recording = Recording::of(folder);
    let name = format!("\"seq\":{seq}");
    let name = memchr::memmem::Finder::new(&name);
    for item in Reader::open(folder)? {
        if let Item::Record(record) = item
            && KINDS.contains(&record.header.kind.as_str())
            && name.find(record.line()).is_some()
        {
            recording.read_row(&record);
        }
    }
    Ok(recording.calls.remove(&seq).map(|call| call.record))
}

impl Recording {
    fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            meta: Meta::read(folder),
            calls: BTreeMap::new(),
            tasks: Vec::new(),
            events: Vec::new(),
            programs: Vec::new(),
            agents: Vec::new(),
            last_at: None,
            rows: 0,
            closed: None,
            outside: Marks::default(),
            problems: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Returns a task.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&TaskView> {
        self.tasks.iter().find(|task| task.id == *id).map(|task| &**task.view())
    }

    /// Returns the recording's name.
    #[must_use]
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn read_row(&mut self, record: &Record) {
        self.rows += 1;
        self.last_at = Some(record.header.ts);
        self.closed = None;
        match record.header.kind.as_str() {
            "call" => self.with(record, |recording, record| {
                recording.counters.count(&Row::Call(&record));
                let call = PastCall { record, latency_ms: None, task: None, abandoned: false };
                recording.calls.insert(call.record.seq, call);
            }),
            "answer" => self.with(record, |recording, call: PastCall| {
                let PastCall { record, latency_ms, task, .. } = &call;
                let (latency_ms, task) = (*latency_ms, task.as_ref());
                recording.counters.count(&Row::Answer(Answered { record, latency_ms, task }));
                recording.calls.insert(call.record.seq, call);
            }),
            "abandoned" => self.with(record, |recording, row: Abandoned<'static>| {
                let Some(call) = recording.calls.get_mut(&row.seq) else { return };
                call.abandoned = true;
                call.record.envelope = row.envelope.map(Cow::into_owned);
                call.record.receipt = row.receipt.map(Cow::into_owned);
                call.record.duration_ms = row.duration_ms;
                recording.counters.count(&Row::Abandoned(&call.record));
            }),
            "queued" | "start" => self.with(record, |recording, Whole { task, .. }: Whole| {
                recording.counters.count(&Row::Queued { task: &task });
                recording.stands(task);
            }),
            "ended" => self.with(record, |recording, Whole { task, first_byte_ms, .. }: Whole| {
                recording.counters.count(&Row::Ended { task: &task, first_byte_ms });
                recording.stands(task);
            }),
            "task" => self.with(record, |recording, row: PastEvent| {
                recording.update(&row.task, TaskUpdate::Event(row.event.clone()));
                recording.counters.count(&Row::Task { task: &row.task, event: &row.event });
                recording.events.push(row);
            }),
            "refused" => self.with(record, |recording, Refused { task, actor, reason }: Refused| {
                recording.counters.count(&Row::Refused { task: &task, actor: &actor, reason });
            }),
            "gate" => self.with(record, |recording, event: GateEvent| {
                recording.counters.count(&Row::Gate(&event));
            }),
            "question" => self.with(record, |recording, fact: Fact| {
                recording.counters.count(&Row::Question(&fact));
            }),
            "named" => self.with(record, |recording, row: Named| {
                recording.update(&row.task, TaskUpdate::Named(row.name));
            }),
            "agent" => self.with(record, |recording, agent: PastAgent| {
                recording.agents.push(PastAgent { at: Some(record.header.ts), ..agent });
            }),
            "program" => self.with(record, |recording, row: Ran| {
                match recording.programs.iter_mut().find(|program| program.run == row.program.run) {
                    Some(program) => *program = row.program,
                    None => recording.programs.push(row.program),
                }
            }),
            "outside" => self.with(record, |recording, row: Outside| recording.outside.add(row)),
            "closed" => self.with(record, |recording, row: Closed| recording.closed = Some(row.recovered)),
            _ => {}
        }
    }

    /// Applies a row that holds a task's state; the task's folder is taken from where the recording is now.
    fn stands(&mut self, task: TaskView) {
        let task = TaskView { folder: self.folder.join("tasks").join(task.id.as_str()), ..task };
        match self.tasks.iter_mut().rfind(|known| known.id == task.id) {
            Some(known) => known.stands(task),
            None => self.tasks.push(TaskState::new(task)),
        }
    }

    fn update(&mut self, id: &TaskId, update: TaskUpdate) {
        if let Some(task) = self.tasks.iter_mut().rfind(|task| task.id == *id) {
            task.apply(update);
        }
    }

    /// Decodes the data of a row; a row that cannot be decoded is skipped and reported.
    fn with<T: DeserializeOwned>(&mut self, record: &Record, take: impl FnOnce(&mut Self, T)) {
        match record.data(&self.folder) {
            Ok(row) => take(self, row),
            Err(error) => {
                let seq = record.header.seq;
                tracing::warn!(%error, seq, "a row has data this program does not know");
                self.problems.extend(matches!(error, journal::Error::Part { .. }).then(|| Problem {
                    kind: journal::ProblemKind::Changed,
                    first: seq,
                    last: seq,
                    segment: "parts".to_owned(),
                    offset: 0,
                }));
            }
        }
    }
}

#[derive(Deserialize)]
struct Whole {
    task: TaskView,
    #[serde(default)]
    #[expect(dead_code, reason = "names of variables, on record for people")]
    env: IgnoredAny,
    #[serde(default)]
    first_byte_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Ran {
    program: ProgramView,
}

#[derive(Deserialize)]
struct Refused {
    task: TaskId,
    actor: Actor,
    reason: RejectionReason,
}

#[derive(Deserialize)]
struct Named {
    task: TaskId,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Closed {
    #[serde(default)]
    recovered: bool,
}

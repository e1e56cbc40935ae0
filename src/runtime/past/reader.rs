//! Reads a recording back from its rows: its calls, its tasks and all their events. Pure except for the reading
//! itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use jiff::Timestamp;

use crate::envelope::TaskId;
use crate::journal::{self, JournalError, JournalItem, JournalReader, JournalRecord, Problem, RecordingMeta};
use crate::model::calls::ABANDONED;
use crate::model::{CallRecord, ProgramView, TaskEvent, TaskState, TaskUpdate, TaskView};
use crate::runtime::counters::Counters;
use crate::runtime::record_row::{AbandonedCall, AgentConnection, AnsweredCall, Fact, FactKind};
use crate::runtime::unrecorded::UnrecordedCommands;

/// A recording read back from its rows.
#[derive(Debug, Clone)]
pub struct Recording {
    pub folder: PathBuf,
    /// The recording's description.
    pub meta: Option<RecordingMeta>,
    /// Its calls by number.
    pub calls: BTreeMap<u64, PastCall>,
    /// Its tasks in order of creation; one whose end was not recorded keeps its last known state.
    pub tasks: Vec<TaskState>,
    /// All events of its tasks, in order.
    pub events: Vec<PastEvent>,
    /// Its programs, in their last known state.
    pub programs: Vec<ProgramView>,
    /// Connections and disconnections of agents.
    pub(super) agents: Vec<AgentConnection<'static>>,
    /// When its last row was written.
    pub last_at: Option<Timestamp>,
    /// Number of rows.
    pub rows: u64,
    /// Present if its last row says that it was closed: whether that was done after its runtime had died.
    pub closed: Option<bool>,
    /// Commands that ran without a runtime before it.
    pub(super) unrecorded: UnrecordedCommands,
    /// Everything that is not as it was written.
    pub problems: Vec<Problem>,
    /// The counters computed from its rows.
    pub(super) counters: Counters,
}

/// One call of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCall {
    /// The call, as far as it was answered.
    pub record: CallRecord,
    /// Milliseconds from the call until it could take effect.
    pub latency_ms: Option<u64>,
    /// The task it concerned.
    pub task: Option<TaskId>,
    /// Its client stopped waiting.
    pub abandoned: bool,
}

impl PastCall {
    /// Returns the call's status. A call that was still open when the runtime ended counts as abandoned.
    pub(super) fn status(&self) -> &str {
        self.record.status().filter(|_| !self.abandoned).unwrap_or(ABANDONED)
    }
}

/// An event of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEvent {
    pub task: TaskId,
    pub event: TaskEvent,
}

/// Reads a recording. Whatever cannot be read is left out and listed among the problems.
///
/// # Errors
/// If its folder cannot be listed.
pub fn read(folder: &Path) -> Result<Recording, JournalError> {
    let mut recording = Recording::of(folder);
    for item in JournalReader::open(folder)? {
        match item {
            JournalItem::Record(record) => recording.read_row(&record),
            JournalItem::Problem(problem) => recording.problems.push(problem),
        }
    }
    Ok(recording)
}

/// Reads one task of a recording, using memory for one segment.
///
/// # Errors
/// If its folder cannot be listed.
pub(super) fn read_task(folder: &Path, id: &TaskId) -> Result<Option<TaskState>, JournalError> {
    use FactKind::{Ended, Named, Queued, Start, Task};
    const KINDS: [FactKind; 5] = [Queued, Start, Task, Ended, Named];
    let mut recording = Recording::of(folder);
    let name = memchr::memmem::Finder::new(id.as_str());
    // If a row was too large for its line, its task is stored in a file.
    let spilled = memchr::memmem::Finder::new("\"parts\":[{");
    for item in JournalReader::open(folder)? {
        if let JournalItem::Record(record) = item
            && KINDS.iter().any(|kind| kind.is(&record.header.kind))
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
pub(in crate::runtime) fn read_call(folder: &Path, seq: u64) -> Result<Option<CallRecord>, JournalError> {
    const KINDS: [FactKind; 4] = [FactKind::Call, FactKind::Answer, FactKind::Abandoned, FactKind::Told];
    let mut recording = Recording::of(folder);
    let name = format!("\"seq\":{seq}");
    let name = memchr::memmem::Finder::new(&name);
    for item in JournalReader::open(folder)? {
        if let JournalItem::Record(record) = item
            && KINDS.iter().any(|kind| kind.is(&record.header.kind))
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
            meta: RecordingMeta::read(folder),
            calls: BTreeMap::new(),
            tasks: Vec::new(),
            events: Vec::new(),
            programs: Vec::new(),
            agents: Vec::new(),
            last_at: None,
            rows: 0,
            closed: None,
            unrecorded: UnrecordedCommands::default(),
            problems: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Returns a task.
    pub fn task(&self, id: &TaskId) -> Option<&TaskView> {
        self.tasks.iter().find(|task| task.id == *id).map(|task| &**task.view())
    }

    /// Returns the recording's name.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reads a row. One that cannot be decoded is skipped and reported; one of a kind that this program does not know is
    /// skipped.
    fn read_row(&mut self, record: &JournalRecord) {
        self.rows += 1;
        self.last_at = Some(record.header.ts);
        self.closed = None;
        if FactKind::from_str(&record.header.kind).is_err() {
            return;
        }
        match record.row(&self.folder) {
            Ok(fact) => self.apply(fact),
            Err(error) => {
                let seq = record.header.seq;
                tracing::warn!(%error, seq, "a row has data this program does not know");
                self.problems.extend(matches!(error, journal::JournalError::Part { .. }).then(|| Problem {
                    kind: journal::ProblemKind::Changed,
                    first: seq,
                    last: seq,
                    segment: "parts".to_owned(),
                    offset: 0,
                }));
            }
        }
    }

    fn apply(&mut self, fact: Fact<'static>) {
        self.counters.count(&fact);
        match fact {
            Fact::Call(record) => {
                let record = record.into_owned();
                let call = PastCall { record, latency_ms: None, task: None, abandoned: false };
                self.calls.insert(call.record.seq, call);
            }
            Fact::Answer(AnsweredCall { record, latency_ms, task }) => {
                let (record, task) = (record.into_owned(), task.map(Cow::into_owned));
                self.calls.insert(record.seq, PastCall { record, latency_ms, task, abandoned: false });
            }
            Fact::Abandoned(AbandonedCall { seq, envelope, receipt, duration_ms }) => {
                let Some(call) = self.calls.get_mut(&seq) else { return };
                call.abandoned = true;
                call.record.envelope = envelope.map(Cow::into_owned);
                call.record.receipt = receipt.map(Cow::into_owned);
                call.record.duration_ms = duration_ms;
            }
            Fact::Told { seq, receipt, native } => {
                let Some(call) = self.calls.get_mut(&seq) else { return };
                call.record.tell(receipt.into_owned(), native.into_owned());
            }
            Fact::Queued { task } | Fact::Start { task, .. } | Fact::Ended { task, .. } => {
                self.apply_state(task.into_owned());
            }
            Fact::Task { task, event } => {
                let (task, event) = (task.into_owned(), event.into_owned());
                self.update(&task, TaskUpdate::Event(event.clone()));
                self.events.push(PastEvent { task, event });
            }
            Fact::Named { task, name } => self.update(&task, TaskUpdate::Named(name.map(Cow::into_owned))),
            Fact::Undone { task, is_redo, .. } => self.update(&task, TaskUpdate::Undone { is_redo }),
            Fact::Changed { task, changes, .. } => {
                self.update(&task, TaskUpdate::Changed(changes.into_owned()));
            }
            Fact::Agent(connection) => self.agents.push(connection),
            Fact::Program { program } => {
                match self.programs.iter_mut().find(|known| known.run == program.run) {
                    Some(known) => *known = program.into_owned(),
                    None => self.programs.push(program.into_owned()),
                }
            }
            Fact::Unrecorded(row) => self.unrecorded.add(row.into_owned()),
            Fact::Closed { recovered } => self.closed = Some(recovered),
            Fact::Recording { .. } | Fact::Refused { .. } | Fact::Gate(_) | Fact::Question(_) => {}
            Fact::Words { .. } | Fact::Rules { .. } | Fact::Recovery { .. } => {}
            Fact::Pruned { .. } | Fact::OutputsRemoved { .. } => {}
        }
    }

    /// Applies a row that holds a task's state; the task's folder is taken from where the recording is now.
    fn apply_state(&mut self, task: TaskView) {
        let task = TaskView { folder: self.folder.join("tasks").join(task.id.as_str()), ..task };
        match self.tasks.iter_mut().rfind(|known| known.id == task.id) {
            Some(known) => known.replace_view(task),
            None => self.tasks.push(TaskState::new(task)),
        }
    }

    fn update(&mut self, id: &TaskId, update: TaskUpdate) {
        if let Some(task) = self.tasks.iter_mut().rfind(|task| task.id == *id) {
            task.apply(update);
        }
    }
}

//! What the console knows of one runtime: its last snapshot and what was fetched from it. Contains nothing
//! about the user; a console for several runtimes would hold several of these.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::console::state::durations::UsualDurations;
use crate::console::state::names::born;
use crate::console::state::picture::Picture;
use crate::console::state::usage::Usages;
use crate::envelope::{TaskId, json_length};
use crate::link::ForeignHolder;
use crate::model::{CallRecord, CallSummary, Question, QuestionId, Snapshot, TaskView};
use crate::runtime::TaskUsage;

/// Maximum number of call records cached for the receipts screen.
const MOST_RECORDS: usize = 32;

/// The most bytes that they take as JSON, but for two, which can be compared.
const RECORD_BYTES: usize = 32 << 20;

/// Maximum number of cached pictures of tasks without a pane.
const SPARE_PICTURES: usize = 8;

/// What is known of a call: whether it was answered, and whether its agent's hook has told of it.
pub type CallStage = (bool, bool);

/// The known state of one runtime.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The snapshot it last published.
    pub snapshot: Arc<Snapshot>,
    /// The latest pictures of its tasks.
    pub pictures: BTreeMap<TaskId, Picture>,
    /// Call records fetched so far; a bounded cache.
    pub records: BTreeMap<u64, Arc<CallRecord>>,
    /// Their lengths as JSON.
    record_bytes: BTreeMap<u64, usize>,
    /// Fetches in progress, each with what was known of the call when the fetch began.
    pub asked: BTreeMap<u64, CallStage>,
    /// The resource usage of its tasks.
    pub usage: Usages,
    /// Finished tasks about to be cleared; already hidden from every list.
    pub cleared: BTreeSet<TaskId>,
    /// When these are dismissed from the runtime's list.
    pub clear_at: Option<Timestamp>,
    /// Who holds, in another workspace, the port that a task could not have; `None` where that is not known, or not yet.
    pub holders: BTreeMap<TaskId, Option<ForeignHolder>>,
    /// The usual durations of its commands.
    pub usual: UsualDurations,
    /// Whether the connection to it was lost.
    pub is_lost: bool,
}

impl View {
    /// Returns the view of a runtime of which only the snapshot is known.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, ..Self::default() }
    }

    /// Begins with the next runtime of the workspace, whose commands take as long as before.
    pub(in crate::console) fn begin_again(&mut self, snapshot: Arc<Snapshot>) {
        *self = Self { usual: std::mem::take(&mut self.usual), ..Self::new(snapshot) };
    }

    /// Returns a task by its id.
    pub fn task(&self, id: &TaskId) -> Option<&Arc<TaskView>> {
        self.snapshot.tasks.iter().find(|task| task.id == *id)
    }

    /// Returns the number of tasks that have not ended.
    pub fn live(&self) -> usize {
        self.snapshot.tasks.iter().filter(|task| !task.status.is_terminal()).count()
    }

    /// Returns the calls, newest first.
    pub fn newest_calls(&self) -> impl Iterator<Item = &Arc<CallSummary>> {
        self.snapshot.calls.iter().rev()
    }

    /// Returns all tasks in list order: live ones first, each group newest first.
    pub fn all_tasks(&self) -> Vec<&Arc<TaskView>> {
        let kept = |task: &&Arc<TaskView>| !self.cleared.contains(&task.id);
        let mut tasks: Vec<_> = self.snapshot.tasks.iter().filter(kept).collect();
        tasks.sort_by_key(|task| (task.status.is_terminal(), Reverse(born(task))));
        tasks
    }

    /// Returns the numbers of the calls that may have typed into a task, oldest first.
    pub fn inputs_of(&self, task: &TaskId) -> Vec<u64> {
        let is_input =
            |call: &&Arc<CallSummary>| call.tool == "TaskInput" && call.task.as_ref() == Some(task);
        self.snapshot.calls.iter().filter(is_input).map(|call| call.seq).collect()
    }

    /// Caches a fetched record; beyond the limit, the oldest call's record is dropped.
    pub(in crate::console) fn keep_record(&mut self, record: Arc<CallRecord>) {
        self.asked.remove(&record.seq);
        self.record_bytes.insert(record.seq, json_length(&*record));
        self.records.insert(record.seq, record);
        while self.records.len() > MOST_RECORDS
            || self.records.len() > 2 && self.record_bytes.values().sum::<usize>() > RECORD_BYTES
        {
            self.records.pop_first();
            self.record_bytes.pop_first();
        }
    }

    /// Drops the pictures of tasks that currently have no pane, except for a few; returns the ids of those
    /// tasks.
    pub(in crate::console) fn drop_pictures(&mut self, shown: &[TaskId]) -> Vec<TaskId> {
        let spare: Vec<_> = self.pictures.keys().filter(|id| !shown.contains(id)).cloned().collect();
        let many = spare.len().saturating_sub(SPARE_PICTURES);
        let is_over = |at: usize, id: &TaskId| at < many || self.task(id).is_none();
        let over = spare.into_iter().enumerate().filter(|(at, id)| is_over(*at, id));
        let over: Vec<TaskId> = over.map(|(_, id)| id).collect();
        self.pictures.retain(|id, _| !over.contains(id));
        over
    }

    /// Takes new usage measurements; returns whether they change what is displayed.
    pub(in crate::console) fn take_usage(&mut self, now: Timestamp, seen: Vec<TaskUsage>) -> bool {
        let bytes = |usage: &TaskUsage| Some(self.task(&usage.task)?.output.bytes);
        let seen = seen.into_iter().filter_map(|usage| Some((bytes(&usage)?, usage)));
        let seen = seen.map(|(bytes, usage)| (usage, bytes)).collect();
        let is_new = self.usage.take(now, seen);
        let tasks = &self.snapshot.tasks;
        self.usage.keep(|id| tasks.iter().any(|task| task.id == *id));
        is_new
    }

    /// Returns the oldest prompt of an agent besides one that was answered, at the same place.
    pub(in crate::console) fn next_prompt(&self, answered: &Question) -> Option<&Arc<Question>> {
        let is_next = |next: &&Arc<Question>| {
            !next.is_of_program() && next.id != answered.id && next.place == answered.place
        };
        self.snapshot.questions.iter().find(is_next).filter(|_| !answered.is_of_program())
    }

    /// Returns an open question.
    pub fn question(&self, id: &QuestionId) -> Option<&Arc<Question>> {
        self.snapshot.questions.iter().find(|question| question.id == *id)
    }
}

//! What the console knows of one runtime: its last state, and what was fetched of it. Nothing here is about the
//! person; a console of several runtimes would have several.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::envelope::TaskId;
use crate::runtime::{CallRecord, CallSummary, Question, QuestionId, Snapshot, TaskView};

use super::picture::Picture;
use super::usage::Usages;

/// One runtime as it is known.
#[derive(Debug, Clone)]
pub struct View {
    /// What it last published.
    pub snapshot: Arc<Snapshot>,
    /// Last pictures of its tasks.
    pub pictures: BTreeMap<TaskId, Picture>,
    /// Records of calls fetched so far, a few.
    pub records: BTreeMap<u64, Arc<CallRecord>>,
    /// Fetches under way, with whether the call was answered when they were asked for.
    pub asked: BTreeMap<u64, bool>,
    /// What its tasks use.
    pub usage: Usages,
    /// It went away.
    pub is_lost: bool,
}

impl View {
    /// Returns a runtime of which nothing but its state is known.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self {
            snapshot,
            pictures: BTreeMap::new(),
            records: BTreeMap::new(),
            asked: BTreeMap::new(),
            usage: Usages::default(),
            is_lost: false,
        }
    }

    /// Returns a task by its id.
    pub fn task(&self, id: &TaskId) -> Option<&Arc<TaskView>> {
        self.snapshot.tasks.iter().find(|task| task.id == *id)
    }

    /// Returns the number of tasks that are not at their end.
    pub fn live(&self) -> usize {
        self.snapshot.tasks.iter().filter(|task| !task.status.is_terminal()).count()
    }

    /// Returns the calls, newest first.
    pub fn newest_calls(&self) -> impl Iterator<Item = &Arc<CallSummary>> {
        self.snapshot.calls.iter().rev()
    }

    /// Returns all tasks in the order of the list: live ones first, newest first.
    pub fn all_tasks(&self) -> Vec<&Arc<TaskView>> {
        let mut tasks: Vec<_> = self.snapshot.tasks.iter().collect();
        tasks.sort_by_key(|task| (task.status.is_terminal(), Reverse(task.number)));
        tasks
    }

    /// Returns the numbers of the calls that may have typed into a task, oldest first.
    pub fn inputs_of(&self, task: &TaskId) -> Vec<u64> {
        let is_input =
            |call: &&Arc<CallSummary>| call.tool == "TaskInput" && call.task.as_ref() == Some(task);
        self.snapshot.calls.iter().filter(is_input).map(|call| call.seq).collect()
    }

    /// Returns an open question.
    pub fn question(&self, id: &QuestionId) -> Option<&Arc<Question>> {
        self.snapshot.questions.iter().find(|question| question.id == *id)
    }
}

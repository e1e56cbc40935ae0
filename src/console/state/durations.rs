//! How long a command usually takes: the median of its latest successful runs in this workspace, from the
//! record and from tasks that have ended since. Pure.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::envelope::TaskId;
use crate::model::{TaskStatus, TaskView};
use crate::runtime::past::{Durations, MOST_RUNS, add_run};

/// Minimum number of runs for a meaningful median.
const LEAST_RUNS: usize = 3;

/// The known durations of earlier runs.
#[derive(Debug, Clone, Default)]
pub struct UsualDurations {
    took: Durations,
    /// Listed tasks whose run is already included.
    counted: BTreeSet<TaskId>,
}

/// The usual duration of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Median {
    pub(crate) ms: u64,
    /// The number of runs it is the median of.
    pub(crate) runs: usize,
}

impl UsualDurations {
    /// Takes the durations on record; the runs of this runtime are appended to them.
    pub(in crate::console) fn take(&mut self, earlier: Durations) {
        let since = std::mem::replace(&mut self.took, earlier);
        for (cmd, runs) in since {
            runs.into_iter().for_each(|ms| add_run(&mut self.took, &cmd, ms));
        }
    }

    /// Records the tasks that have succeeded since the last time.
    pub(in crate::console) fn note(&mut self, tasks: &[Arc<TaskView>]) {
        for task in tasks.iter().filter(|task| task.status == TaskStatus::Completed) {
            if task.cmd_chars.is_none() && self.counted.insert(task.id.clone()) {
                add_run(&mut self.took, &key(task), task.lived_ms());
            }
        }
        // More counted than listed means that a task has left the list.
        if self.counted.len() > tasks.len() {
            let listed: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
            self.counted.retain(|id| listed.contains(id));
        }
    }

    /// Returns how long the command of a task usually takes; none if there were too few runs.
    pub(crate) fn of(&self, task: &TaskView) -> Option<Median> {
        let runs = self.took.get(&*key(task)).filter(|_| task.cmd_chars.is_none())?;
        // The task's own run is not an earlier one.
        let own = self.counted.contains(&task.id).then(|| task.lived_ms());
        let mut earlier: Vec<u64> = Vec::with_capacity(MOST_RUNS);
        earlier.extend(runs.iter().copied());
        if let Some(at) = own.and_then(|own| earlier.iter().rposition(|ms| *ms == own)) {
            earlier.remove(at);
        }
        earlier.sort_unstable();
        let ms = earlier.get(earlier.len() / 2).copied().filter(|_| earlier.len() >= LEAST_RUNS)?;
        Some(Median { ms, runs: earlier.len() })
    }
}

/// Returns the key that runs of a command are counted under: the command, with its place if there are
/// several.
fn key(task: &TaskView) -> Cow<'_, str> {
    match &task.place {
        Some(place) => format!("{}\0{}", place.id, task.cmd).into(),
        None => Cow::Borrowed(&task.cmd),
    }
}

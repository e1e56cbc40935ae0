//! What stands for several tasks in the list: the head of a group, a batch in one row, and how those tasks stand.

use super::filter::Filter;
use crate::envelope::Actor;
use crate::runtime::{PlaceId, TaskStatus, TaskView};

/// What the head of a group is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadOf {
    /// Who started its tasks: one of those it is about.
    Actor(Actor),
    /// A place.
    Place(PlaceId),
}

/// The head of a group: who or where, and how their tasks stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) of: HeadOf,
    pub(crate) name: String,
    pub(crate) counts: Counts,
}

/// A batch in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Its call.
    pub(crate) call: u64,
    pub(crate) counts: Counts,
}

/// How tasks stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) all: usize,
    pub(crate) live: usize,
    pub(crate) waiting: usize,
    pub(crate) failed: usize,
    pub(crate) completed: usize,
}

impl Counts {
    pub(super) fn of<'a>(tasks: impl Iterator<Item = &'a TaskView>) -> Self {
        let mut counts = Self::default();
        for task in tasks {
            counts.all += 1;
            counts.live += usize::from(!task.status.is_terminal());
            counts.waiting += usize::from(waits(task));
            counts.failed += usize::from(Filter::Failed.holds(task));
            counts.completed += usize::from(task.status == TaskStatus::Completed);
        }
        counts
    }
}

/// Tells whether a task waits for the person.
pub(super) fn waits(task: &TaskView) -> bool {
    !task.status.is_terminal() && (task.certain_wait().is_some() || task.held.is_some())
}

//! Rows that represent several tasks in the list: group headers, and batches in a single row, with the states
//! of their tasks.

use crate::console::state::listing::filter::Filter;
use crate::envelope::Actor;
use crate::model::{PlaceId, TaskStatus, TaskView};

/// What a group has in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GroupKey {
    /// The initiator of its tasks: one of the group's actors.
    Actor(Actor),
    /// A place.
    Place(PlaceId),
}

/// A group header: the initiator or place, and the states of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupHead {
    pub(crate) of: GroupKey,
    pub(crate) name: String,
    pub(crate) counts: StateCounts,
}

/// A batch in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BatchRow {
    pub(crate) call: u64,
    pub(crate) counts: StateCounts,
}

/// The number of tasks by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StateCounts {
    pub(crate) all: usize,
    pub(crate) live: usize,
    pub(crate) waiting: usize,
    pub(crate) failed: usize,
    pub(crate) completed: usize,
}

impl StateCounts {
    pub(in crate::console) fn of<'a>(tasks: impl Iterator<Item = &'a TaskView>) -> Self {
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

/// Tells whether a task waits for the user.
pub(in crate::console) fn waits(task: &TaskView) -> bool {
    !task.status.is_terminal() && (task.certain_wait().is_some() || task.held.is_some())
}

//! Rows that represent several tasks in the list: group headers, and batches and short tasks in a single row, with the
//! states of their tasks.

use crate::console::state::answers::answers_no;
use crate::console::state::listing::filter::Filter;
use crate::envelope::Actor;
use crate::model::{PlaceId, TaskStatus, TaskView};

/// What a group has in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GroupKey {
    /// The initiator of its tasks: one of the group's actors.
    Actor(Actor),
    Place(PlaceId),
}

/// A group header: the initiator or place, and the states of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupHead {
    pub(crate) of: GroupKey,
    pub(crate) name: String,
    pub(crate) counts: StateCounts,
}

/// Several tasks in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoldedTasks {
    pub(crate) reason: FoldReason,
    pub(crate) counts: StateCounts,
}

/// What tasks in one row have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoldReason {
    /// The call that started them all.
    Batch,
    /// They ended within a second.
    Short,
}

/// The number of tasks by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StateCounts {
    pub(crate) all: usize,
    pub(crate) live: usize,
    pub(crate) waiting: usize,
    pub(crate) failed: usize,
    /// How many of the failed ones deserve a look.
    pub(crate) troubled: usize,
    pub(crate) completed: usize,
    /// Those that were stopped or denied.
    pub(crate) stopped: usize,
}

impl StateCounts {
    pub(in crate::console) fn of<'a>(tasks: impl Iterator<Item = &'a TaskView>) -> Self {
        let mut counts = Self::default();
        for task in tasks {
            counts.all += 1;
            counts.live += usize::from(!task.status.is_terminal());
            counts.waiting += usize::from(waits(task));
            counts.failed += usize::from(Filter::Failed.holds(task));
            counts.troubled += usize::from(Filter::Failed.holds(task) && !answers_no(task));
            counts.completed += usize::from(task.status == TaskStatus::Completed);
            counts.stopped += usize::from(task.status == TaskStatus::Cancelled);
        }
        counts
    }
}

/// Tells whether a task waits for the user.
pub(in crate::console) fn waits(task: &TaskView) -> bool {
    !task.status.is_terminal() && (task.certain_wait().is_some() || task.held.is_some())
}

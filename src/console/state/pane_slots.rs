//! Which tasks have a pane where several fit, and at which position: pinned ones, the selected one, those
//! that wait for the user, live ones. Positions change when another task is selected or an ended task has
//! been seen, but never by themselves while the user is reading or typing.

use crate::envelope::TaskId;
use crate::model::{InputWait, TaskStatus, TaskView};

/// The tasks that have a pane.
#[derive(Debug, Clone, Default)]
pub struct PaneSlots {
    /// The tasks by position, pinned ones first.
    pub(super) order: Vec<TaskId>,
    /// The state for which the positions were decided.
    pub(super) decided: Option<SlotBasis>,
    /// Whether something has happened since that may change them.
    pub(super) is_due: bool,
}

/// The state that determines the positions: they stay while it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlotBasis {
    pub(super) room: usize,
    pub(super) selected: Option<TaskId>,
    pub(super) pins: Vec<TaskId>,
}

/// The priority of a task for getting a pane; the lowest value has the highest priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It waits for the user.
    Waits,
    /// It is running.
    Live,
    /// It has nothing to show: not yet, or nothing new any more.
    Still,
}

impl Rank {
    pub(super) fn of(task: &TaskView) -> Self {
        match task {
            task if task.status.is_terminal() => Self::Still,
            task if task.held.is_some() => Self::Waits,
            task if task.status == TaskStatus::Queued => Self::Still,
            task if task.waiting.as_ref().is_some_and(InputWait::is_certain) => Self::Waits,
            _ => Self::Live,
        }
    }
}

impl PaneSlots {
    /// Records that tasks have changed or a key was pressed.
    pub(in crate::console) fn review(&mut self) {
        self.is_due = true;
    }

    /// Keeps tasks that had a pane at their position, and fills the free positions with new ones.
    pub(super) fn seated(&self, chosen: &[&TaskId], pins: &[TaskId]) -> Vec<TaskId> {
        let mut places: Vec<Option<&TaskId>> = vec![None; chosen.len()];
        let before = self.order.iter().filter(|id| !pins.contains(id));
        for (place, old) in places.iter_mut().zip(before) {
            *place = chosen.contains(&old).then_some(old);
        }
        let kept: Vec<&TaskId> = places.iter().copied().flatten().collect();
        let mut new = chosen.iter().copied().filter(|id| !kept.contains(id));
        places.into_iter().filter_map(|place| place.or_else(|| new.next())).cloned().collect()
    }
}

//! Which tasks are folded into one row because they were over before anybody could have looked. Pure.

use crate::envelope::Actor;
use crate::model::{TaskStatus, TaskView};

/// The shortest time for which a command has a row of its own, in milliseconds.
const SHORT_MS: u64 = 1_000;

/// The smallest number of tasks that are folded.
pub(crate) const LEAST_SHORT: usize = 3;

/// Tells whether a task is one of the short ones: it ended by itself within a second, and nobody who looks at the list
/// typed or named it. What they type runs in a terminal; what a program of theirs runs does not.
pub(crate) fn is_short(task: &TaskView) -> bool {
    let is_over = matches!(task.status, TaskStatus::Completed | TaskStatus::Failed);
    let is_plain = task.ended.as_ref().is_some_and(|ended| {
        ended.error.is_none() && ended.signal.is_none() && !ended.timed_out && ended.survivors.is_empty()
    });
    is_over
        && is_plain
        && task.lived_ms() < SHORT_MS
        && task.item.is_none()
        && task.name.is_none()
        && task.stop.is_none()
        && !(task.started_by == Actor::Operator && task.tty)
}

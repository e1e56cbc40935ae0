//! The task list: moving in it, filtering it, folding batches, and clearing what has ended.

pub(crate) mod agents;
pub mod choose;
pub mod columns;
pub mod draw;

use crate::console::state::State;
use crate::console::state::listing::short::{LEAST_SHORT, is_short};

/// Tells whether the selected task is one of several listed ones that can share a row: of a batch, or short ones.
pub(in crate::console) fn can_fold(state: &State) -> bool {
    let tasks = &state.view.snapshot.tasks;
    if state.selected_task().is_some_and(|task| is_short(task)) {
        return tasks.iter().filter(|task| is_short(task)).nth(LEAST_SHORT - 1).is_some();
    }
    let Some(task) = state.selected_task().filter(|task| task.item.is_some()) else { return false };
    state.view.snapshot.tasks.iter().filter(|other| other.call == task.call && other.item.is_some()).count()
        > 1
}

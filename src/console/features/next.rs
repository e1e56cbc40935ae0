//! Going to the next task or call that failed or waits for the user.

use std::sync::Arc;

use crate::console::keys::Action;
use crate::console::state::call_rows::task_of;
use crate::console::state::{CallRow, CallState, Filter, Screen, State, outcome};
use crate::envelope::TaskId;
use crate::model::TaskView;

/// What to go to next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::console) enum Next {
    Task(TaskId),
    Call(u64),
}

/// Returns the next list entry that failed or waits for the user, wrapping around.
pub(in crate::console) fn next_of(state: &State, action: Action) -> Option<Next> {
    let is_failed = action == Action::NextFailed;
    let waits = |task: &TaskView| Filter::Waiting.holds(task);
    if state.focus.screen == Screen::Receipts {
        let is_it = |row: &CallRow<'_>| match is_failed {
            true => outcome(&state.view, row.call).0 == CallState::Failed,
            false => task_of(&state.view, row.call).is_some_and(|task| waits(task)),
        };
        let rows = state.call_rows();
        let found = around(rows.len(), state.call_at()).find(|at| rows.get(*at).is_some_and(is_it));
        return found.and_then(|at| rows.get(at)).map(|row| Next::Call(row.call.seq));
    }
    let is_it = |task: &&Arc<TaskView>| if is_failed { Filter::Failed.holds(task) } else { waits(task) };
    // Including those folded into the row of another task of their batch.
    let listed = state.listed();
    let tasks: Vec<&Arc<TaskView>> =
        listed.tasks.iter().filter_map(|at| state.view.snapshot.tasks.get(*at)).collect();
    let selected = state.list.selected.as_ref();
    let here = tasks.iter().position(|task| Some(&task.id) == selected).unwrap_or(0);
    let found = around(tasks.len(), here).filter_map(|at| tasks.get(at)).find(|task| is_it(task));
    found.map(|task| Next::Task(task.id.clone()))
}

pub(in crate::console) fn go_to_next(state: &mut State, action: Action) {
    match next_of(state, action) {
        Some(Next::Task(task)) => state.select(task),
        Some(Next::Call(seq)) => state.calls.selected = Some(seq),
        None => {}
    }
}

/// Returns the indices of a list after a given one, wrapping around, ending with itself.
pub(in crate::console) fn around(count: usize, at: usize) -> impl Iterator<Item = usize> {
    (1..=count).map(move |step| (at + step) % count)
}

//! The task list: moving in it, filtering it, folding batches, and clearing what has ended.

pub(crate) mod agents;
pub mod choose;
pub mod columns;
pub mod draw;

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::console::effect::Effect;
use crate::console::keys::{Action, Motion};
use crate::console::state::listing::short::{LEAST_SHORT, is_short};
use crate::console::state::{Filters, ListRow, Mode, PointedRow, Prompt, Screen, SelectableRow, State};
use crate::console::text::reading::{moved, window};
use crate::envelope::TaskId;
use crate::link::Act;

/// How long clearing tasks can be undone.
const UNDONE: SignedDuration = SignedDuration::from_secs(10);

/// Opens the input line for the filter text.
pub(in crate::console) fn write_task_filter(state: &mut State) {
    state.focus.mode = Mode::Write(Prompt::FilterTasks, state.list.filters.text.clone().into());
}

/// Lists the tasks that match the typed text.
pub(in crate::console) fn filter_tasks(state: &mut State) {
    let Mode::Write(Prompt::FilterTasks, editor) = &state.focus.mode else { return };
    let text = editor.value().to_owned();
    state.set_filters(Filters { text, ..state.list.filters.clone() });
}

/// Removes the filters, the text first; tells whether there were any.
pub(in crate::console) fn unfilter(state: &mut State) -> bool {
    if state.focus.screen != Screen::Tasks || state.list.filters.is_empty() {
        return false;
    }
    let filters = match state.list.filters.text.is_empty() {
        true => Filters::default(),
        false => Filters { text: String::new(), ..state.list.filters.clone() },
    };
    state.set_filters(filters);
    true
}

/// Scrolls the list so that the selected row is visible, including the group header if it is the first
/// row of its group.
pub(in crate::console) fn place_list(state: &mut State, shown: usize) {
    let (at, count) = (state.selected_row().unwrap_or(0), state.listed().rows.len());
    state.list.top = window(state.list.top, at, count, shown);
    let listed = state.listed();
    let before = at.checked_sub(1).and_then(|before| listed.rows.get(before));
    if state.list.top == at && shown > 1 && matches!(before, Some(ListRow::Head(_))) {
        state.list.top = at - 1;
    }
    // What waits for approval stands above the tasks, and is not scrolled away as long as the selection is in sight.
    while let Some(above) = state.list.top.checked_sub(1)
        && matches!(listed.rows.get(above), Some(ListRow::Held(_)))
        && at - above < shown
    {
        state.list.top = above;
    }
    // The first row is headed by the row above the list.
    if listed.rows.get(state.list.top) == Some(&ListRow::Ended) {
        state.list.top += 1;
    }
}

/// Unfolds the tasks that share a row with the selected one into one row per task, or folds them.
pub(in crate::console) fn fold(state: &mut State) {
    let Some((call, is_short)) = state.selected().map(|task| (task.call, is_short(task))) else { return };
    state.hold();
    if is_short {
        state.list.shows_short = !state.list.shows_short;
        return;
    }
    if !state.list.unfolded.remove(&call) {
        let calls: BTreeSet<u64> = state.view.snapshot.tasks.iter().map(|task| task.call).collect();
        state.list.unfolded.retain(|other| calls.contains(other));
        state.list.unfolded.insert(call);
    }
}

/// Tells whether the selected task is one of several listed ones that can share a row: of a batch, or short ones.
pub(in crate::console) fn can_fold(state: &State) -> bool {
    let tasks = &state.view.snapshot.tasks;
    if state.selected().is_some_and(|task| is_short(task)) {
        return tasks.iter().filter(|task| is_short(task)).nth(LEAST_SHORT - 1).is_some();
    }
    let Some(task) = state.selected().filter(|task| task.item.is_some()) else { return false };
    state.view.snapshot.tasks.iter().filter(|other| other.call == task.call && other.item.is_some()).count()
        > 1
}

pub(in crate::console) fn go_in_tasks(state: &mut State, motion: Motion) {
    let (page, last) = (state.layout().list_items().max(1), state.selectable().len().saturating_sub(1));
    let to = moved(state.selected_at().unwrap_or(0), motion, page, last);
    select_at(state, to);
}

/// Moves the selection by this many rows.
pub(in crate::console) fn step_task(state: &mut State, by: isize) {
    let last = state.selectable().len().saturating_sub(1);
    let to = state.selected_at().unwrap_or(0).saturating_add_signed(by).min(last);
    select_at(state, to);
}

fn select_at(state: &mut State, at: usize) {
    match state.selectable().get(at) {
        Some(SelectableRow::Batch(held)) => {
            let row = PointedRow::Batch(held.ticket);
            state.point_at(row);
        }
        Some(SelectableRow::Agent(agent)) => {
            let row = PointedRow::Agent(agent.label.clone());
            state.point_at(row);
        }
        Some(SelectableRow::Task(task)) => {
            let id = task.id.clone();
            state.select(id);
        }
        None => {}
    }
}

/// Clears all finished tasks; can be undone for a while.
pub(in crate::console) fn clear_finished(state: &mut State) {
    let ended = state.view.snapshot.tasks.iter().filter(|task| task.status.is_terminal());
    let mut ended: Vec<TaskId> = ended.map(|task| task.id.clone()).collect();
    for told in state.refused_of(&mut ended) {
        state.toasts.fail(told, None);
    }
    if !ended.is_empty() {
        clear(state, ended);
    }
}

/// Removes finished tasks from the list; the runtime is only notified once this can no longer be undone. The row that takes
/// the place of the selected one is selected.
pub(in crate::console) fn clear(state: &mut State, tasks: Vec<TaskId>) {
    let next = row_after(state, &tasks);
    clear_now(state);
    let key = state.setup.keymap.key(state.view_context(), Action::Undo).unwrap_or_default();
    let count = tasks.len();
    let what = if count == 1 { "finished task" } else { "finished tasks" };
    let within = UNDONE.as_secs();
    state.say(format!("{count} {what} cleared, still on record; {key} brings them back for {within} s"));
    state.view.cleared.extend(tasks);
    state.view.clear_at = state.clock.now.checked_add(UNDONE).ok();
    if let Some(next) = next.filter(|_| state.at_hand().is_none()) {
        state.select(next);
    }
    state.follow();
}

/// Returns the task in the row below the selected one, or else above it, without those.
fn row_after(state: &State, tasks: &[TaskId]) -> Option<TaskId> {
    let rows = state.selectable();
    let (above, below) = rows.split_at(state.selected_at()?);
    let stays = |row: &SelectableRow<'_>| match row {
        SelectableRow::Task(task) if !tasks.contains(&task.id) => Some(task.id.clone()),
        _ => None,
    };
    below.iter().chain(above.iter().rev()).find_map(stays)
}

/// Brings back the cleared tasks.
pub(in crate::console) fn undo(state: &mut State) {
    state.view.clear_at = None;
    let count = std::mem::take(&mut state.view.cleared).len();
    state.say(format!("{count} brought back"));
}

/// Dismisses the cleared tasks for good.
pub(in crate::console) fn clear_now(state: &mut State) {
    state.view.clear_at = None;
    let tasks = std::mem::take(&mut state.view.cleared);
    state.effects.extend(tasks.into_iter().map(|task| Effect::Ask(Act::Dismiss.on(task))));
}

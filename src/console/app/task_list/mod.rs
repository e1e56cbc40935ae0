//! The task list: which tasks it contains and in which order, its selection, and its rows: one line per task
//! on a wide screen, two in a narrow column.

mod choose;
mod columns;
pub(crate) mod draw;
mod filter;
mod heads;
mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::envelope::TaskId;
use crate::link::Request;
use crate::model::TaskView;
use crate::terminal::{Key, KeyPress};

use super::receipts::rows::{CallRow, CallState, outcome, task_of};
use super::{App, Mode, Prompt, Screen, moved, window};
use crate::console::keys::Action;
use crate::console::msg::Effect;
pub use choose::Arranged;
pub use columns::ListColumn;
pub use filter::{Filter, Filters, Whose};
pub use rows::{Grouping, Listing, Memo, Sort};
pub(crate) use rows::{Listed, Row};

/// How long clearing tasks can be undone.
const UNDONE: SignedDuration = SignedDuration::from_secs(10);

/// The task list.
#[derive(Debug, Clone, Default)]
pub struct TaskList {
    /// The selected task.
    pub selected: Option<TaskId>,
    /// Whether the user has moved the selection, so that it no longer follows the newest live task.
    pub is_held: bool,
    /// First row shown.
    pub top: usize,
    /// The filters.
    pub filters: Filters,
    /// The sort order, grouping and columns.
    pub listing: Listing,
    /// Calls of unfolded batches, whose tasks have rows of their own.
    pub unfolded: BTreeSet<u64>,
    /// The rows computed last.
    pub(super) memo: Memo,
}

/// What to go to next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    Task(TaskId),
    Call(u64),
}

impl App {
    /// Returns the tasks in screen order, one for each row of the list. Includes the selected task even if
    /// the filter no longer matches it: what the user is looking at never vanishes by itself.
    pub fn tasks(&self) -> Vec<&Arc<TaskView>> {
        let listed = self.listed();
        listed.rows.iter().filter_map(|row| self.task_in(row)).collect()
    }

    /// Sets the filters; unless the selected task matches, selects the first one that does.
    pub(crate) fn set_filters(&mut self, filters: Filters) {
        if filters == self.list.filters {
            return;
        }
        let holds = filters.holding();
        let is_held = self.selected().is_some_and(|task| holds(task));
        self.list.filters = filters;
        self.list.top = 0;
        if is_held {
            return;
        }
        let first = self.tasks().into_iter().find(|task| holds(task)).map(|task| task.id.clone());
        // If no task matches, the selection stays.
        if let Some(first) = first {
            self.select_within(first);
        }
    }

    /// Opens the input line for the filter text.
    pub(super) fn write_task_filter(&mut self) {
        self.mode = Mode::Write(Prompt::FilterTasks, self.list.filters.text.clone().into());
    }

    /// Handles a key while the filter is being typed: up and down move through the listed tasks.
    pub(super) fn write_filter_key(&mut self, press: KeyPress) {
        match press.key {
            Key::Up => self.step_task(-1),
            Key::Down => self.step_task(1),
            _ => {
                self.edit_key(press);
                self.filter_tasks();
            }
        }
    }

    /// Lists the tasks that match the typed text.
    pub(super) fn filter_tasks(&mut self) {
        let Mode::Write(Prompt::FilterTasks, editor) = &self.mode else { return };
        let text = editor.value().to_owned();
        self.set_filters(Filters { text, ..self.list.filters.clone() });
    }

    /// Removes the filters, the text first; tells whether there were any.
    pub(super) fn unfilter(&mut self) -> bool {
        if self.screen != Screen::Tasks || self.list.filters.is_empty() {
            return false;
        }
        let filters = match self.list.filters.text.is_empty() {
            true => Filters::default(),
            false => Filters { text: String::new(), ..self.list.filters.clone() },
        };
        self.set_filters(filters);
        true
    }

    /// Scrolls the list so that the selected row is visible, including the group header if it is the first
    /// row of its group.
    pub(super) fn place_list(&mut self, shown: usize) {
        let (at, count) = (self.selected_row().unwrap_or(0), self.listed().rows.len());
        self.list.top = window(self.list.top, at, count, shown);
        let listed = self.listed();
        let before = at.checked_sub(1).and_then(|before| listed.rows.get(before));
        if self.list.top == at && shown > 1 && matches!(before, Some(Row::Head(_))) {
            self.list.top = at - 1;
        }
    }

    /// Unfolds the batch of the selected task into one row per task, or folds it.
    pub(super) fn fold_batch(&mut self) {
        let Some(call) = self.selected().map(|task| task.call) else { return };
        if !self.list.unfolded.remove(&call) {
            let calls: BTreeSet<u64> = self.view.snapshot.tasks.iter().map(|task| task.call).collect();
            self.list.unfolded.retain(|other| calls.contains(other));
            self.list.unfolded.insert(call);
        }
    }

    /// Tells whether the selected task belongs to a batch of several listed tasks.
    pub(super) fn is_in_batch(&self) -> bool {
        let Some(task) = self.selected().filter(|task| task.item.is_some()) else { return false };
        self.view
            .snapshot
            .tasks
            .iter()
            .filter(|other| other.call == task.call && other.item.is_some())
            .count()
            > 1
    }

    pub(super) fn go_in_tasks(&mut self, action: Action) {
        let (page, last) = (self.layout().list_items().max(1), self.tasks().len().saturating_sub(1));
        self.select_at(moved(self.selected_at().unwrap_or(0), action, page, last));
        // If the newest task is first, going to the first row means following it.
        self.list.is_held &= action != Action::First || !self.list.listing.is_newest_first();
    }

    /// Holds the selection: a task that was acted on stays selected, even once it has ended.
    pub(super) fn hold(&mut self) {
        self.list.is_held |= self.screen != Screen::Program;
    }

    pub(super) fn select(&mut self, task: TaskId) {
        self.select_within(task);
        self.list.is_held = true;
    }

    fn select_within(&mut self, task: TaskId) {
        if self.list.selected.as_ref() != Some(&task) {
            self.thaw();
            self.pan = 0;
        }
        self.list.selected = Some(task);
    }

    /// Moves the selection by this many tasks.
    pub(super) fn step_task(&mut self, by: isize) {
        let last = self.tasks().len().saturating_sub(1);
        self.select_at(self.selected_at().unwrap_or(0).saturating_add_signed(by).min(last));
    }

    /// Returns the next list entry that failed or waits for the user, wrapping around.
    pub(super) fn next_of(&self, action: Action) -> Option<Next> {
        let is_failed = action == Action::NextFailed;
        let waits = |task: &TaskView| Filter::Waiting.holds(task);
        if self.screen == Screen::Receipts {
            let is_it = |row: &CallRow<'_>| match is_failed {
                true => outcome(&self.view, row.call).0 == CallState::Failed,
                false => task_of(&self.view, row.call).is_some_and(|task| waits(task)),
            };
            let rows = self.call_rows();
            let found = around(rows.len(), self.call_at()).find(|at| rows.get(*at).is_some_and(is_it));
            return found.and_then(|at| rows.get(at)).map(|row| Next::Call(row.call.seq));
        }
        let is_it = |task: &&Arc<TaskView>| if is_failed { Filter::Failed.holds(task) } else { waits(task) };
        // Including those folded into the row of another task of their batch.
        let listed = self.listed();
        let tasks: Vec<&Arc<TaskView>> =
            listed.tasks.iter().filter_map(|at| self.view.snapshot.tasks.get(*at)).collect();
        let selected = self.list.selected.as_ref();
        let here = tasks.iter().position(|task| Some(&task.id) == selected).unwrap_or(0);
        let found = around(tasks.len(), here).filter_map(|at| tasks.get(at)).find(|task| is_it(task));
        found.map(|task| Next::Task(task.id.clone()))
    }

    pub(super) fn go_to_next(&mut self, action: Action) {
        match self.next_of(action) {
            Some(Next::Task(task)) => self.select(task),
            Some(Next::Call(seq)) => self.calls.selected = Some(seq),
            None => {}
        }
    }

    /// Selects the task at an index of the list.
    pub(super) fn select_at(&mut self, at: usize) {
        let id = self.tasks().get(at).map(|task| task.id.clone());
        id.into_iter().for_each(|id| self.select(id));
    }

    /// Clears all finished tasks; can be undone for a while.
    pub(super) fn clear_finished(&mut self) {
        let ended = self.view.snapshot.tasks.iter().filter(|task| task.status.is_terminal());
        let mut ended: Vec<TaskId> = ended.map(|task| task.id.clone()).collect();
        for told in self.refused_of(&mut ended) {
            self.toasts.fail(told, None);
        }
        if !ended.is_empty() {
            self.clear(ended);
        }
    }

    /// Removes finished tasks from the list; the runtime is only notified once this can no longer be undone.
    pub(super) fn clear(&mut self, tasks: Vec<TaskId>) {
        self.clear_now();
        let key = self.setup.keymap.key(self.view_context(), Action::Undo).unwrap_or_default();
        let count = tasks.len();
        let what = if count == 1 { "finished task" } else { "finished tasks" };
        self.say(format!("{count} {what} cleared, still on record; {key} brings them back for 10 s"));
        self.view.cleared.extend(tasks);
        self.clear_at = self.now.checked_add(UNDONE).ok();
        self.follow();
    }

    /// Brings back the cleared tasks.
    pub(super) fn undo(&mut self) {
        self.clear_at = None;
        let count = std::mem::take(&mut self.view.cleared).len();
        self.say(format!("{count} brought back"));
    }

    /// Dismisses the cleared tasks for good.
    pub(super) fn clear_now(&mut self) {
        self.clear_at = None;
        let tasks = std::mem::take(&mut self.view.cleared);
        self.effects.extend(tasks.into_iter().map(|task| Effect::Ask(Request::Dismiss { task })));
    }
}

/// Returns the indices of a list after a given one, wrapping around, ending with itself.
fn around(count: usize, at: usize) -> impl Iterator<Item = usize> {
    (1..=count).map(move |step| (at + step) % count)
}

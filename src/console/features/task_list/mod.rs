//! The task list: which tasks it contains and in which order, its selection, and its rows: one line per task
//! on a wide screen, two in a narrow column.

mod choose;
mod columns;
pub mod draw;

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::console::effect::Effect;
use crate::console::keys::Action;
use crate::console::state::State;
use crate::console::state::focus::{Mode, Prompt, Screen};
use crate::console::state::listing::filter::Filters;
use crate::console::state::listing::rows::Row;
use crate::console::text::reading::{moved, window};
use crate::envelope::TaskId;
use crate::link::Request;

/// How long clearing tasks can be undone.
const UNDONE: SignedDuration = SignedDuration::from_secs(10);

impl State {
    /// Opens the input line for the filter text.
    pub(in crate::console) fn write_task_filter(&mut self) {
        self.mode = Mode::Write(Prompt::FilterTasks, self.list.filters.text.clone().into());
    }

    /// Lists the tasks that match the typed text.
    pub(in crate::console) fn filter_tasks(&mut self) {
        let Mode::Write(Prompt::FilterTasks, editor) = &self.mode else { return };
        let text = editor.value().to_owned();
        self.set_filters(Filters { text, ..self.list.filters.clone() });
    }

    /// Removes the filters, the text first; tells whether there were any.
    pub(in crate::console) fn unfilter(&mut self) -> bool {
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
    pub(in crate::console) fn place_list(&mut self, shown: usize) {
        let (at, count) = (self.selected_row().unwrap_or(0), self.listed().rows.len());
        self.list.top = window(self.list.top, at, count, shown);
        let listed = self.listed();
        let before = at.checked_sub(1).and_then(|before| listed.rows.get(before));
        if self.list.top == at && shown > 1 && matches!(before, Some(Row::Head(_))) {
            self.list.top = at - 1;
        }
    }

    /// Unfolds the batch of the selected task into one row per task, or folds it.
    pub(in crate::console) fn fold_batch(&mut self) {
        let Some(call) = self.selected().map(|task| task.call) else { return };
        if !self.list.unfolded.remove(&call) {
            let calls: BTreeSet<u64> = self.view.snapshot.tasks.iter().map(|task| task.call).collect();
            self.list.unfolded.retain(|other| calls.contains(other));
            self.list.unfolded.insert(call);
        }
    }

    /// Tells whether the selected task belongs to a batch of several listed tasks.
    pub(in crate::console) fn is_in_batch(&self) -> bool {
        let Some(task) = self.selected().filter(|task| task.item.is_some()) else { return false };
        self.view
            .snapshot
            .tasks
            .iter()
            .filter(|other| other.call == task.call && other.item.is_some())
            .count()
            > 1
    }

    pub(in crate::console) fn go_in_tasks(&mut self, action: Action) {
        let (page, last) = (self.layout().list_items().max(1), self.tasks().len().saturating_sub(1));
        self.select_at(moved(self.selected_at().unwrap_or(0), action, page, last));
        // If the newest task is first, going to the first row means following it.
        self.list.is_held &= action != Action::First || !self.list.listing.is_newest_first();
    }

    /// Moves the selection by this many tasks.
    pub(in crate::console) fn step_task(&mut self, by: isize) {
        let last = self.tasks().len().saturating_sub(1);
        self.select_at(self.selected_at().unwrap_or(0).saturating_add_signed(by).min(last));
    }

    /// Selects the task at an index of the list.
    pub(in crate::console) fn select_at(&mut self, at: usize) {
        let id = self.tasks().get(at).map(|task| task.id.clone());
        id.into_iter().for_each(|id| self.select(id));
    }

    /// Clears all finished tasks; can be undone for a while.
    pub(in crate::console) fn clear_finished(&mut self) {
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
    pub(in crate::console) fn clear(&mut self, tasks: Vec<TaskId>) {
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
    pub(in crate::console) fn undo(&mut self) {
        self.clear_at = None;
        let count = std::mem::take(&mut self.view.cleared).len();
        self.say(format!("{count} brought back"));
    }

    /// Dismisses the cleared tasks for good.
    pub(in crate::console) fn clear_now(&mut self) {
        self.clear_at = None;
        let tasks = std::mem::take(&mut self.view.cleared);
        self.effects.extend(tasks.into_iter().map(|task| Effect::Ask(Request::Dismiss { task })));
    }
}

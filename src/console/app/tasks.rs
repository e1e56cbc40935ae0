//! The list of tasks: going through it, filtering and folding it, and clearing what has ended.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::console::effect::Effect;
use crate::console::features::next::{Next, next_of, wait_rank};
use crate::console::features::task_list::choose::arrangement_list;
use crate::console::keys::{Action, Motion};
use crate::console::state::choice::ListForm;
use crate::console::state::listing::filter::AgentFilter;
use crate::console::state::listing::rows::ListOrder;
use crate::console::state::listing::short::is_short;
use crate::console::state::{
    Filter, Filters, ListChoice, ListRow, Mode, PointedRow, Prompt, Screen, SelectableRow, State, alias,
};
use crate::console::text::reading::{move_by, window};
use crate::console::widgets::Chooser;
use crate::envelope::TaskId;
use crate::link::Act;

/// How long clearing tasks can be undone.
const UNDONE: SignedDuration = SignedDuration::from_secs(10);

impl State {
    /// Opens the input line for the filter text.
    pub(super) fn write_task_filter(&mut self) {
        self.focus.mode = Mode::Write(Prompt::FilterTasks, self.list.filters.text.clone().into());
    }

    /// Lists the tasks that match the typed text.
    pub(super) fn filter_tasks(&mut self) {
        let Mode::Write(Prompt::FilterTasks, editor) = &self.focus.mode else { return };
        let text = editor.value().to_owned();
        self.set_filters(Filters { text, ..self.list.filters.clone() });
    }

    /// Removes the filters, the text first; tells whether there were any.
    pub(super) fn unfilter(&mut self) -> bool {
        if self.focus.screen != Screen::Tasks || self.list.filters.is_empty() {
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
        let (at, count) = (self.selected_row().unwrap_or(0), self.list_rows().rows.len());
        self.list.top = window(self.list.top, at, count, shown);
        let listed = self.list_rows();
        let before = at.checked_sub(1).and_then(|before| listed.rows.get(before));
        if self.list.top == at && shown > 1 && matches!(before, Some(ListRow::Head(_))) {
            self.list.top = at - 1;
        }
        // What waits for approval stands above the tasks, and is not scrolled away as long as the selection is in sight.
        while let Some(above) = self.list.top.checked_sub(1)
            && matches!(listed.rows.get(above), Some(ListRow::Held(_)))
            && at - above < shown
        {
            self.list.top = above;
        }
        // The first row is headed by the row above the list.
        if listed.rows.get(self.list.top) == Some(&ListRow::Ended) {
            self.list.top += 1;
        }
    }

    /// Unfolds the tasks that share a row with the selected one into one row per task, or folds them.
    pub(super) fn fold_list(&mut self) {
        let Some((call, is_short)) = self.selected_task().map(|task| (task.call, is_short(task))) else {
            return;
        };
        self.hold();
        if is_short {
            self.list.shows_short = !self.list.shows_short;
            return;
        }
        if !self.list.unfolded.remove(&call) {
            let calls: BTreeSet<u64> = self.view.snapshot.tasks.iter().map(|task| task.call).collect();
            self.list.unfolded.retain(|other| calls.contains(other));
            self.list.unfolded.insert(call);
        }
    }

    pub(super) fn go_in_tasks(&mut self, motion: Motion) {
        let (page, last) = (self.layout().list_items().max(1), self.selectable().len().saturating_sub(1));
        let to = move_by(self.selected_at().unwrap_or(0), motion, page, last);
        self.select_at(to);
    }

    /// Moves the selection by this many rows.
    pub(super) fn step_task(&mut self, by: isize) {
        let last = self.selectable().len().saturating_sub(1);
        let to = self.selected_at().unwrap_or(0).saturating_add_signed(by).min(last);
        self.select_at(to);
    }

    fn select_at(&mut self, at: usize) {
        match self.selectable().get(at) {
            Some(SelectableRow::Batch(held)) => {
                let row = PointedRow::Batch(held.ticket);
                self.point_at(row);
            }
            Some(SelectableRow::Agent(agent)) => {
                let row = PointedRow::Agent(agent.label.clone());
                self.point_at(row);
            }
            Some(SelectableRow::Task(task)) => {
                let id = task.id.clone();
                self.select(id);
            }
            None => {}
        }
    }

    /// Clears all finished tasks; can be undone for a while.
    pub(super) fn clear_finished(&mut self) {
        let ended = self.view.snapshot.tasks.iter().filter(|task| task.status.is_terminal());
        let mut ended: Vec<TaskId> = ended.map(|task| task.id.clone()).collect();
        for told in self.refused_of(&mut ended) {
            self.toasts.fail(told, None);
        }
        if !ended.is_empty() {
            self.clear_tasks(ended);
        }
    }

    /// Removes finished tasks from the list; the runtime is only notified once this can no longer be undone. The row that takes
    /// the place of the selected one is selected.
    pub(super) fn clear_tasks(&mut self, tasks: Vec<TaskId>) {
        let next = self.row_after(&tasks);
        self.clear_now();
        let key = self.setup.keymap.key(self.view_context(), Action::Undo).unwrap_or_default();
        let count = tasks.len();
        let what = if count == 1 { "finished task" } else { "finished tasks" };
        let within = UNDONE.as_secs();
        self.say(format!("{count} {what} cleared, still on record; {key} brings them back for {within} s"));
        self.view.cleared.extend(tasks);
        self.view.clear_at = self.clock.now.checked_add(UNDONE).ok();
        if let Some(next) = next.filter(|_| self.at_hand().is_none()) {
            self.select(next);
        }
        self.follow();
    }

    /// Returns the task in the row below the selected one, or else above it, without those.
    fn row_after(&self, tasks: &[TaskId]) -> Option<TaskId> {
        let rows = self.selectable();
        let (above, below) = rows.split_at(self.selected_at()?);
        let stays = |row: &SelectableRow<'_>| match row {
            SelectableRow::Task(task) if !tasks.contains(&task.id) => Some(task.id.clone()),
            _ => None,
        };
        below.iter().chain(above.iter().rev()).find_map(stays)
    }

    /// Brings back the cleared tasks.
    pub(super) fn bring_back(&mut self) {
        self.view.clear_at = None;
        let count = std::mem::take(&mut self.view.cleared).len();
        self.say(format!("{count} brought back"));
    }

    /// Dismisses the cleared tasks for good.
    pub(super) fn clear_now(&mut self) {
        self.view.clear_at = None;
        let tasks = std::mem::take(&mut self.view.cleared);
        self.effects.extend(tasks.into_iter().map(|task| Effect::Ask(Act::Dismiss.on(task))));
    }

    /// Lists only the tasks of one agent or connection.
    pub(super) fn list_those_of(&mut self, whose: AgentFilter) {
        self.thaw();
        self.set_filters(Filters { whose: Some(whose), ..self.list.filters.clone() });
    }

    /// Limits every list to the agent that is pointed at; if they are already, removes that limit.
    pub(super) fn filter_by_pointed(&mut self) {
        let Some(agent) = self.agent_pointed_at() else { return };
        let whose = AgentFilter::Session(agent.label.clone());
        if self.list.filters.whose.as_ref() == Some(&whose) {
            self.set_filters(Filters { whose: None, ..self.list.filters.clone() });
            return;
        }
        self.calls.selected = None;
        self.list_those_of(whose);
    }

    /// Filters tasks by state or kind of actor; `All` removes every filter.
    pub(super) fn list_only(&mut self, filter: Filter) {
        self.thaw();
        let filters = match filter {
            Filter::All => Filters::default(),
            one => Filters { state: one, ..self.list.filters.clone() },
        };
        self.set_filters(filters);
    }

    /// Changes the form of the list; the options stay open after choosing a column.
    pub(super) fn arrange_list(&mut self, choice: ListForm) -> Option<Chooser> {
        let listing: &mut ListOrder = &mut self.list.listing;
        match choice {
            ListForm::Sort(sort) => listing.sort = sort,
            ListForm::Groups(groups) => listing.groups = groups,
            ListForm::Column(one) => {
                if !listing.columns.remove(&one) {
                    listing.columns.insert(one);
                }
                let mut list = arrangement_list(self);
                list.select(&ListChoice::Arranged(choice));
                return Some(list);
            }
        }
        self.list.top = 0;
        None
    }

    pub(super) fn go_to_next(&mut self, action: Action) {
        match next_of(self, action) {
            Some(Next::Task(task)) => {
                let weak =
                    self.view.task(&task).filter(|task| wait_rank(task) == Some(1)).map(|task| alias(task));
                if let Some(name) = weak.filter(|_| action == Action::NextWaiting) {
                    self.say(format!("{name} is only at a prompt: it may want nothing"));
                }
                self.select(task)
            }
            Some(Next::Call(seq)) => self.calls.selected = Some(seq),
            None => {}
        }
    }
}

//! Changes that several features make: the selection, the screen, the pane, the line that is written.

use std::cmp::Reverse;

use tui_input::Input as Editor;

use crate::console::effect::Effect;
use crate::console::state::focus::{Mode, Prompt, Screen};
use crate::console::state::listing::PointedRow;
use crate::console::state::listing::filter::Filters;
use crate::console::state::memory::ConsoleMemory;
use crate::console::state::{SelectableRow, State, names};
use crate::envelope::TaskId;
use crate::model::PlaceId;

impl State {
    pub(in crate::console) fn leave_copy(&mut self) {
        let Mode::Copy(copying) = &self.focus.mode else { return };
        self.focus.mode = if copying.was_input { Mode::Input(copying.task.clone()) } else { Mode::Observe };
    }

    /// Changes what is remembered, and saves it.
    pub(in crate::console) fn remember(&mut self, change: impl FnOnce(&mut ConsoleMemory)) {
        change(&mut self.memory);
        self.effects.push(Effect::Remember(self.memory.clone()));
    }

    /// Unfreezes the pane: it follows its task again, and any search ends.
    pub(in crate::console) fn thaw(&mut self) -> bool {
        let was_frozen = self.reading.scroll.take().is_some();
        self.reading.search.take().is_some() || was_frozen
    }

    /// Moves the keys back to the source; tells whether they were in the pane.
    pub(in crate::console) fn leave_pane(&mut self) -> bool {
        self.thaw();
        self.reading.pan = 0;
        std::mem::take(&mut self.programs.in_pane)
    }

    /// Makes the task of the chosen pane the current one.
    pub(in crate::console) fn take_up(&mut self, task: TaskId) {
        match self.focus.screen {
            Screen::Program => self.programs.in_pane = true,
            _ => self.select(task),
        }
    }

    /// Opens an input line.
    pub(in crate::console) fn write(&mut self, prompt: Prompt) {
        self.composer.lines.rest();
        self.composer.commands.rest();
        self.focus.mode = Mode::Write(prompt, Editor::default());
    }

    /// Returns the editor of the input line, if one is open.
    pub(in crate::console) fn editor(&mut self) -> Option<&mut Editor> {
        match &mut self.focus.mode {
            Mode::Write(_, editor) => Some(editor),
            Mode::Observe | Mode::Input(_) | Mode::Copy(_) => None,
        }
    }

    /// Returns the typed text and goes back to observing.
    pub(in crate::console) fn take_written(&mut self) -> String {
        let written = self.editor().map(Editor::value_and_reset).unwrap_or_default();
        self.observe();
        written
    }

    pub(in crate::console) fn observe(&mut self) {
        self.focus.mode = Mode::Observe;
    }

    pub(in crate::console) fn show(&mut self, screen: Screen) {
        self.focus.screen = screen;
        self.focus.in_pane = false;
        self.thaw();
        (self.reader, self.replay, self.calls.finding) = (None, None, None);
        if screen == Screen::Tasks {
            self.follow();
        }
    }

    /// Holds the selection: a task that was acted on stays selected, even once it has ended.
    pub(in crate::console) fn hold(&mut self) {
        self.list.is_held |= self.focus.screen != Screen::Program;
    }

    pub(in crate::console) fn select(&mut self, task: TaskId) {
        self.select_within(task);
        self.list.is_held = true;
        self.key_target.choose();
    }

    pub(in crate::console) fn select_within(&mut self, task: TaskId) {
        if self.list.selected.as_ref() != Some(&task) {
            self.thaw();
            self.reading.pan = 0;
        }
        (self.list.selected, self.list.pointed) = (Some(task), None);
    }

    /// Points at a row that is no task's.
    pub(in crate::console) fn point_at(&mut self, row: PointedRow) {
        self.thaw();
        (self.list.pointed, self.list.is_held) = (Some(row), true);
        self.key_target.choose();
    }

    /// Limits the lists of tasks and calls to one place, or shows those of all.
    pub(in crate::console) fn show_only(&mut self, place: Option<PlaceId>) {
        self.thaw();
        if !matches!(self.focus.screen, Screen::Metrics | Screen::Receipts) {
            self.show(Screen::Tasks);
        }
        self.calls.selected = None;
        self.set_filters(Filters { place, ..Filters::default() });
    }

    /// Tells whether there is anything new to draw.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Shows a transient message.
    pub(in crate::console) fn say(&mut self, text: impl Into<String>) {
        self.toasts.say(text, None, self.clock.now);
    }

    /// Says why the key just pressed did nothing.
    pub(in crate::console) fn decline(&mut self, text: impl Into<String>) {
        self.toasts.decline(text, self.clock.now);
    }

    /// Marks the state as changed, to be drawn again.
    pub fn touch(&mut self) {
        self.is_dirty = true;
    }

    /// Moves the selection to the task that has waited longest for the user, or else to the newest live one, unless
    /// they have moved it, type, or read something: what they are at never changes by itself.
    pub(in crate::console) fn follow(&mut self) {
        // Once a batch has been decided, the selection follows again.
        if self.pointed_is_gone() {
            (self.list.pointed, self.list.is_held) = (None, false);
        }
        let is_held = self.list.is_held || self.focus.screen == Screen::Focus || self.is_reading();
        let has_target = self.selected().is_some() || self.batch_at_hand().is_some();
        if is_held && (has_target || self.agent_pointed_at().is_some()) {
            return;
        }
        let before = self.list.selected.clone();
        self.follow_to_next();
        if self.list.selected != before {
            self.key_target.changes_by_user(false);
        }
    }

    fn follow_to_next(&mut self) {
        if let Some(waiter) = self.waiter().map(|task| task.id.clone()) {
            return self.select_within(waiter);
        }
        let still_there = self.selected().is_some();
        let newest = self
            .tasks()
            .into_iter()
            .min_by_key(|task| (task.status.is_terminal(), Reverse(names::born(task))));
        let newest = newest.map(|task| (task.id.clone(), !task.status.is_terminal()));
        match newest {
            Some((id, is_live)) if is_live || !still_there => self.list.selected = Some(id),
            None => {
                let row = |row: &SelectableRow<'_>| match row {
                    SelectableRow::Batch(held) => Some(PointedRow::Batch(held.ticket)),
                    SelectableRow::Agent(_) | SelectableRow::Task(_) => None,
                };
                let first = self.selectable().first().and_then(row);
                (self.list.selected, self.list.pointed) = (None, first);
            }
            Some(_) => {}
        }
    }

    /// Lets the selection follow again.
    pub(in crate::console) fn let_go(&mut self) {
        if self.focus.screen != Screen::Program {
            (self.list.is_held, self.list.pointed) = (false, None);
            self.follow();
        }
    }

    /// Sets the filters; unless the selected task matches, selects the first one that does.
    pub(crate) fn set_filters(&mut self, filters: Filters) {
        if filters == self.list.filters {
            return;
        }
        let holds = filters.holding();
        // Behind the row of an agent, a task is selected as well.
        let agent = self.agent_pointed_at().map(|agent| PointedRow::Agent(agent.label.clone()));
        let task = self.list.selected.as_ref().and_then(|id| self.view.task(id));
        let is_held = match self.batch_at_hand() {
            Some(batch) => filters.holds_batch(batch),
            None => task.is_some_and(|task| holds(task)),
        };
        self.list.filters = filters;
        self.list.top = 0;
        if is_held {
            return;
        }
        if agent.is_some() {
            self.list.selected = None;
        }
        let first = self.tasks().into_iter().find(|task| holds(task)).map(|task| task.id.clone());
        // If no task matches, the selection stays.
        if let Some(first) = first {
            self.select_within(first);
        }
        if agent.is_some() {
            self.list.pointed = agent;
        }
    }
}

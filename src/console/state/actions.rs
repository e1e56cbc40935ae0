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

    /// Selects a task for the user. Filters that hide it are removed: nothing outside them is selected under them.
    pub(in crate::console) fn select(&mut self, task: TaskId) {
        let holds = self.list.filters.holding();
        if let Some(hidden) = self.view.task(&task).filter(|task| !holds(task))
            && self.selected_task().is_none_or(|selected| selected.id != task)
        {
            let name = names::alias(hidden);
            (self.list.filters, self.list.top) = (Filters::default(), 0);
            self.say(format!("all tasks are listed: the filter hid {name}"));
        }
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

    /// Moves the selection to the task that has waited longest for the user, or else to the newest live one, of those that
    /// match the filters; unless they have moved it, type, or read something: what they are at never changes by itself.
    pub(in crate::console) fn follow(&mut self) {
        // Once a batch has been decided, the selection follows again.
        if self.pointed_is_gone() {
            (self.list.pointed, self.list.is_held) = (None, false);
        }
        let is_held = self.list.is_held || self.focus.screen == Screen::Focus || self.is_reading();
        let has_target = self.selected_task().is_some() || self.batch_at_hand().is_some();
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
        let holds = self.list.filters.holding();
        if let Some(waiter) = self.waiter_of(&holds).map(|task| task.id.clone()) {
            return self.select_within(waiter);
        }
        let still_there = self.selected_task().is_some();
        let matching = self.tasks().into_iter().filter(|task| holds(task));
        let newest = matching.min_by_key(|task| (task.status.is_terminal(), Reverse(names::born(task))));
        let newest = newest.map(|task| (task.id.clone(), !task.status.is_terminal()));
        match newest {
            Some((id, is_live)) if is_live || !still_there => {
                self.list.pointed.take_if(|row| *row == PointedRow::Nothing);
                self.list.selected = Some(id);
            }
            None if !still_there => {
                let row = |row: &SelectableRow<'_>| match row {
                    SelectableRow::Batch(held) => Some(PointedRow::Batch(held.ticket)),
                    SelectableRow::Agent(_) | SelectableRow::Task(_) => None,
                };
                let nothing = (!self.list.filters.is_empty()).then_some(PointedRow::Nothing);
                self.list.pointed = self.selectable().first().and_then(row).or(nothing);
            }
            _ => {}
        }
    }

    /// Lets the selection follow again.
    pub(in crate::console) fn let_go(&mut self) {
        if self.focus.screen != Screen::Program {
            self.list.is_held = false;
            self.list.pointed.take_if(|row| *row != PointedRow::Nothing);
            self.follow();
        }
    }

    /// Sets the filters. A selected task that matches stays selected until the user moves, or else the first one that does;
    /// if none does, none is selected.
    pub(crate) fn set_filters(&mut self, filters: Filters) {
        if filters == self.list.filters {
            self.list.is_held |= !filters.is_empty();
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
        (self.list.filters, self.list.top, self.list.is_held) = (filters, 0, true);
        self.list.pointed.take_if(|row| *row == PointedRow::Nothing);
        if is_held {
            return;
        }
        if agent.is_some() {
            self.list.selected = None;
        }
        let first = self.tasks().into_iter().find(|task| holds(task)).map(|task| task.id.clone());
        match first {
            Some(first) => self.select_within(first),
            None => {
                self.list.pointed = Some(PointedRow::Nothing);
                self.follow();
            }
        }
        if agent.is_some() {
            self.list.pointed = agent;
        }
    }
}

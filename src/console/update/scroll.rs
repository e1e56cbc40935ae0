//! Moving through lists, texts and a task's past. At the end = follow; one step up = frozen.

use crate::envelope::TaskId;
use crate::terminal::Size;

use super::super::app::calls::{Column, Place};
use super::super::app::search::{matches, row_of};
use super::super::app::{App, Scroll, View};
use super::super::keys::action::Action;
use super::super::msg::{Anchor, Effect, PageView};
use super::super::plan::Pane;

impl App {
    /// Moves what the screen's keys move: the selection, a text, or the pane's view into the log.
    pub(super) fn go(&mut self, action: Action) -> Vec<Effect> {
        if self.reader.is_some() {
            self.go_in_reader(action);
            return Vec::new();
        }
        match (self.view, self.calls.column) {
            (View::Tasks | View::Metrics, _) => self.go_in_tasks(action),
            (View::Focus, _) => self.go_in_log(action),
            (View::Program, _) if self.programs.in_pane => self.go_in_log(action),
            (View::Program, _) => {
                self.go_in_source(action);
                Vec::new()
            }
            (View::Receipts, Column::Calls) => self.go_in_calls(action),
            (View::Receipts, column) => self.go_in_text(column, action),
        }
    }

    fn go_in_tasks(&mut self, action: Action) -> Vec<Effect> {
        let page = isize::try_from(self.plan().list_items().max(1)).unwrap_or(1);
        match action {
            Action::Up => self.step_task(-1),
            Action::Down => self.step_task(1),
            Action::PageUp => self.step_task(-page),
            Action::PageDown => self.step_task(page),
            Action::First => {
                // The newest stands first: going there is following it.
                let effects = self.step_task(isize::MIN);
                self.list.is_held = false;
                effects
            }
            _ => self.step_task(isize::MAX),
        }
    }

    fn go_in_calls(&mut self, action: Action) -> Vec<Effect> {
        let count = self.snapshot.calls.len();
        let page = self.plan().list_items().max(1);
        let to = moved(self.call_at(), action, page, count.saturating_sub(1));
        let seq = self.newest_calls().nth(to).map(|call| call.seq);
        self.calls.selected = if to == 0 { None } else { seq };
        Vec::new()
    }

    fn go_in_text(&mut self, column: Column, action: Action) -> Vec<Effect> {
        if let Some((place, rows, shown)) = self.text(column) {
            place.at = moved(place.at, action, shown.saturating_sub(1).max(1), rows.saturating_sub(1));
        }
        Vec::new()
    }

    /// Rolls a text by a row, as the wheel does; the row that keys are at stays if it can.
    pub(super) fn roll_text(&mut self, column: Column, action: Action) {
        if let Some((place, rows, shown)) = self.text(column) {
            place.top = moved(place.top, action, shown, rows.saturating_sub(shown));
            place.at = place.at.clamp(place.top, place.top + shown.saturating_sub(1));
        }
    }

    /// Returns where a text is read, its rows, and how many of them are shown.
    fn text(&mut self, column: Column) -> Option<(&mut Place, usize, usize)> {
        let plan = self.plan();
        let sheet = self.calls.sheet.as_ref()?;
        let (rows, area, place) = match column {
            Column::Envelope => (sheet.envelope.rows().len(), plan.envelope, &mut self.calls.envelope),
            _ => (sheet.receipt.rows().len(), plan.receipt, &mut self.calls.receipt),
        };
        Some((place, rows, usize::from(area.height.saturating_sub(1))))
    }

    /// Freezes the pane on a page of the log, or moves the page.
    pub(super) fn go_in_log(&mut self, action: Action) -> Vec<Effect> {
        let Some(task) = self.at_hand().cloned() else { return Vec::new() };
        let Some(rows) = self.plan().pane(&task.id).map(|pane| u64::from(pane.cells.height)) else {
            return Vec::new();
        };
        let page = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
        // The line at the top of the pane when it follows.
        let bottom = task.output.lines.saturating_sub(rows.saturating_sub(1));
        let wanted = match (action, page.map(|page| (page.first_line, page.next_line))) {
            (Action::First, _) => Anchor::From(0),
            // Where the end is told a little later than it is: that is for who reads the log.
            (Action::Up, None) => Anchor::LineAboveTail,
            (Action::PageUp, None) => Anchor::AboveTail,
            (Action::Up | Action::PageUp, Some((0, _))) => Anchor::From(0),
            (Action::Up, Some((first, _))) => Anchor::From(first - 1),
            (Action::PageUp, Some((first, next))) => Anchor::Before((first + 1).min(next)),
            _ if self.scroll.is_none() => return Vec::new(),
            (Action::Down, Some((first, _))) if first + 1 < bottom => Anchor::From(first + 1),
            (Action::PageDown, Some((first, next))) if next.saturating_sub(1) < bottom => {
                Anchor::From(next.saturating_sub(1).max(first + 1))
            }
            _ => {
                self.thaw();
                return Vec::new();
            }
        };
        self.turn_to(task.id.clone(), wanted)
    }

    /// Freezes the pane of a task, which goes on showing what it does until the page asked for is there.
    pub(super) fn turn_to(&mut self, task: TaskId, wanted: Anchor) -> Vec<Effect> {
        let Some(size) = self.plan().pane(&task).map(Pane::size) else { return Vec::new() };
        let (page, lines) = match self.scroll.take().filter(|scroll| scroll.task == task) {
            Some(scroll) => (scroll.page, scroll.lines),
            None => (None, self.task(&task).map_or(0, |task| task.output.lines)),
        };
        let effect = self.page_effect(task.clone(), wanted, size);
        self.scroll = Some(Scroll { task, wanted, page, lines, prompt: None, matches: Vec::new() });
        self.mark_matches();
        vec![effect]
    }

    /// Finds the search's matches on the page shown.
    pub(super) fn mark_matches(&mut self) {
        let Some(scroll) = &mut self.scroll else { return };
        let search = self.search.as_ref().filter(|search| search.task == scroll.task);
        let found = scroll.page.as_ref().zip(search);
        scroll.matches = found.map(|(page, search)| matches(page, &search.query.needle)).unwrap_or_default();
        if let Some((page, line)) = scroll.page.as_ref().zip(scroll.prompt) {
            scroll.matches.extend(row_of(page, line));
        }
    }

    /// Pages are wrapped as the task's terminal wraps them, cut to the rows of the pane.
    pub(super) fn page_effect(&self, task: TaskId, anchor: Anchor, pane: Size) -> Effect {
        let columns = self.task(&task).map_or(pane.cols(), |task| task.size.cols());
        Effect::Page { task, anchor, size: Size::clamped(columns, pane.rows()) }
    }

    pub(super) fn page(&mut self, task: TaskId, page: PageView) {
        if self.copying().is_some_and(|copying| copying.task == task) && self.lengthen(page.anchor, &page) {
            return;
        }
        match &mut self.scroll {
            Some(scroll) if scroll.task == task && scroll.wanted == page.anchor => {
                scroll.page = Some(page);
                self.mark_matches();
            }
            // An empty log has nothing better than the last live picture.
            _ if page.anchor == Anchor::Tail && page.lines > 0 => {
                self.pictures.insert(task, page.picture);
            }
            _ => {}
        }
    }
}

/// Returns where a position goes.
pub(in super::super) fn moved(at: usize, action: Action, page: usize, last: usize) -> usize {
    let to = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at.saturating_add(1),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::First => 0,
        _ => last,
    };
    to.min(last)
}

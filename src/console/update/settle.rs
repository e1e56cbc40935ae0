//! What follows from the state after each message: what to fetch, what to show, where lists stand.

use std::collections::BTreeSet;

use crate::envelope::TaskId;
use crate::runtime::Input;
use crate::terminal::Size;

use super::super::app::calls::{Column, Place};
use super::super::app::compacted;
use super::super::app::{App, Mode, View};
use super::super::msg::{Anchor, Effect};
use super::super::plan::{Class, Plan};

/// Pictures kept of tasks that have no pane at the moment.
const SPARE_PICTURES: usize = 8;
/// Rows read of an ended task, so that a larger pane is filled too.
const TAIL_ROWS: u16 = 80;

impl App {
    pub(super) fn settle(&mut self) -> Vec<Effect> {
        self.close_outdated();
        self.turn_card();
        if self.mode.task().is_some_and(|task| self.task(task).is_none()) {
            self.observe();
        }
        let plan = self.plan();
        self.place_lists(&plan);
        self.want_usage(&plan);
        let mut effects: Vec<Effect> = self.show_panes(&plan).into_iter().collect();
        effects.extend(self.fit_watched(&plan));
        effects.extend(self.read_tails(&plan));
        effects.extend(self.fetch_call(&plan));
        self.lay_out_sheet(&plan);
        self.lay_out_reader(&plan);
        effects.extend(self.play_on());
        self.look_through();
        effects
    }

    fn place_lists(&mut self, plan: &Plan) {
        let shown = plan.list_items();
        if self.view == View::Receipts {
            let (at, count) = (self.call_at(), self.snapshot.calls.len());
            self.calls.top = window(self.calls.top, at, count, shown);
        } else if self.view == View::Tasks {
            let (at, count) = (self.selected_at().unwrap_or(0), self.snapshot.tasks.len());
            self.list.top = window(self.list.top, at, count, shown);
        }
    }

    fn show_panes(&mut self, plan: &Plan) -> Option<Effect> {
        let visible: Vec<TaskId> = plan.panes.iter().map(|pane| pane.task.clone()).collect();
        let focus = self.at_hand().map(|task| task.id.clone()).filter(|id| visible.contains(id));
        let shown = (visible, focus);
        if shown == self.shown {
            return None;
        }
        // A screen that was out of sight may count its changes from the beginning again.
        for task in shown.0.iter().filter(|task| !self.shown.0.contains(task)) {
            if let Some(picture) = self.pictures.get_mut(task) {
                picture.generation = 0;
            }
        }
        self.shown = shown;
        self.drop_pictures();
        let (visible, focus) = self.shown.clone();
        Some(Effect::Show { visible, focus })
    }

    /// A task looked at full size, or typed into, is fitted to its pane unless somebody chose its size: once for
    /// each size of the pane, so that two consoles or an agent's resize do not start a quarrel.
    fn fit_watched(&mut self, plan: &Plan) -> Option<Effect> {
        let is_typed = self.view == View::Program && matches!(self.mode, Mode::Input(_));
        let is_watched = self.view == View::Focus || is_typed;
        let is_watched = is_watched && !self.is_lost && plan.class != Class::Sentence;
        let pane = self.at_hand().filter(|_| is_watched).and_then(|task| plan.pane(&task.id));
        let Some((task, size)) = pane.map(|pane| (pane.task.clone(), pane.size())) else {
            self.fitted = None;
            return None;
        };
        let needs_it = self.task(&task).is_some_and(|task| !task.size_asked && self.fits_badly(task));
        let wanted = Some((task.clone(), size));
        if !needs_it || self.fitted == wanted {
            return None;
        }
        self.fitted = wanted;
        Some(Effect::Send { task, input: Input::Resize(size) })
    }

    fn drop_pictures(&mut self) {
        let there: BTreeSet<&TaskId> = self.snapshot.tasks.iter().map(|task| &task.id).collect();
        let spare: Vec<TaskId> =
            self.pictures.keys().filter(|id| !self.shown.0.contains(id)).cloned().collect();
        let many = spare.len().saturating_sub(SPARE_PICTURES);
        for (at, id) in spare.into_iter().enumerate() {
            if at < many || !there.contains(&id) {
                self.pictures.remove(&id);
                self.paged.remove(&id);
            }
        }
    }

    /// An ended task has no live screen: its last rows come from the log, once.
    fn read_tails(&mut self, plan: &Plan) -> Vec<Effect> {
        let mut effects = Vec::new();
        for pane in &plan.panes {
            let is_ended = self.task(&pane.task).is_some_and(|task| task.status.is_terminal());
            if is_ended && self.paged.insert(pane.task.clone()) {
                let size = pane.size();
                let tall = Size::clamped(size.cols(), size.rows().max(TAIL_ROWS));
                effects.push(self.page_effect(pane.task.clone(), Anchor::Tail, tall));
            }
        }
        effects
    }

    fn fetch_call(&mut self, plan: &Plan) -> Option<Effect> {
        let is_wanted = self.view == View::Receipts || !plan.receipt.is_empty();
        let call = self.shown_call().filter(|_| is_wanted)?;
        let (seq, is_answered) = (call.seq, call.status.is_some());
        let has_it =
            self.calls.records.get(&seq).is_some_and(|record| !is_answered || record.envelope.is_some());
        if has_it || self.calls.asked.get(&seq) == Some(&is_answered) {
            return None;
        }
        self.calls.asked.insert(seq, is_answered);
        Some(Effect::Fetch(seq))
    }

    fn lay_out_sheet(&mut self, plan: &Plan) {
        let record = self.shown_call().and_then(|call| self.calls.records.get(&call.seq)).cloned();
        let Some(record) = record else {
            self.calls.sheet = None;
            return;
        };
        let is_answered = record.envelope.is_some();
        let budget = self.calls.budget.filter(|_| self.view == View::Receipts);
        let wanted = (record.seq, is_answered, budget);
        let is_same = self.calls.sheet.as_ref().is_some_and(|s| (s.seq, s.is_answered, s.budget) == wanted);
        if !is_same {
            self.calls.sheet = Some(compacted::sheet(&record, budget, self.setup.theme.glyphs));
            (self.calls.receipt, self.calls.envelope, self.calls.followed) = Default::default();
        }
        self.place_texts(plan);
    }

    /// Wraps the text over the screen for its room, and puts the row read on screen.
    fn lay_out_reader(&mut self, plan: &Plan) {
        let Some(reader) = &mut self.reader else { return };
        let is_new = reader.document.columns() == 0;
        let place = &mut reader.place;
        place.at = reader.document.wrap_at(text_columns(plan.stage.width), place.at);
        if let Some(first) = reader.parts.get(reader.begin).and_then(|line| reader.document.row_of(*line))
            && is_new
        {
            *place = Place { at: first, top: first.saturating_sub(usize::from(plan.stage.height / 3)) };
        }
        let rows = reader.document.rows().len();
        place.at = place.at.min(rows.saturating_sub(1));
        place.top = window(place.top, place.at, rows, usize::from(plan.stage.height.saturating_sub(1)));
    }

    /// Wraps the texts for their room, puts one column where the other is, and the rows read on screen.
    fn place_texts(&mut self, plan: &Plan) {
        let calls = &mut self.calls;
        let Some(sheet) = &mut calls.sheet else { return };
        // A text that is not on screen is wrapped like the one that is: rows in it can be looked up.
        let columns = |one: u16, other: u16| text_columns(if one == 0 { other } else { one });
        let (receipt, envelope) = (plan.receipt.width, plan.envelope.width);
        calls.receipt.at = sheet.receipt.wrap_at(columns(receipt, envelope), calls.receipt.at);
        calls.envelope.at = sheet.envelope.wrap_at(columns(envelope, receipt), calls.envelope.at);
        if self.view != View::Receipts {
            return;
        }
        let at = if calls.column == Column::Envelope { calls.envelope.at } else { calls.receipt.at };
        let followed = Some((sheet.seq, calls.column, at));
        if calls.column != Column::Calls && calls.followed != followed {
            calls.followed = followed;
            let there = sheet.counterpart(calls.column, at);
            if let Some(there) = there.filter(|_| !sheet.are_linked(calls.receipt.at, calls.envelope.at)) {
                let other =
                    if calls.column == Column::Envelope { &mut calls.receipt } else { &mut calls.envelope };
                other.at = there;
            }
        }
        for (place, document, area) in [
            (&mut calls.receipt, &sheet.receipt, plan.receipt),
            (&mut calls.envelope, &sheet.envelope, plan.envelope),
        ] {
            let rows = document.rows().len();
            place.at = place.at.min(rows.saturating_sub(1));
            place.top = window(place.top, place.at, rows, usize::from(area.height.saturating_sub(1)));
        }
    }
}

/// Texts stand one column in from either side.
fn text_columns(width: u16) -> usize {
    usize::from(width.saturating_sub(2))
}

/// Returns the first item to show so that the selected one is on screen and no room is wasted.
fn window(top: usize, selected: usize, count: usize, shown: usize) -> usize {
    let last_top = count.saturating_sub(shown);
    let top = top.min(last_top);
    if selected < top {
        selected
    } else if shown > 0 && selected >= top + shown {
        (selected + 1 - shown).min(last_top)
    } else {
        top
    }
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn the_selected_item_is_always_on_screen() {
        for (top, selected, count, shown, expected) in [
            (0, 0, 0, 5, 0),
            (0, 7, 10, 5, 3),
            (6, 2, 10, 5, 2),
            (9, 9, 10, 5, 5),
            (3, 4, 10, 5, 3),
            (0, 3, 9, 0, 0),
        ] {
            assert_eq!(window(top, selected, count, shown), expected, "{top} {selected} {count} {shown}");
        }
    }
}

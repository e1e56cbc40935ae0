//! The receipts screen: moving between calls and columns, and the texts to read.

mod answer;
mod budget;
pub mod compare;
pub mod coverage;
mod covered_lines;
pub mod draw;
pub mod links;
mod list;
mod native_parts;
mod progress;
pub(in crate::console) mod rulings;
pub mod share;
pub mod sheet;

use std::sync::Arc;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::features::receipts::budget::{more, next_less};
use crate::console::features::receipts::links::LineLink;
use crate::console::features::receipts::share::PendingShare;
use crate::console::features::receipts::sheet::{CallSheet, sheet};
use crate::console::keys::{Action, Motion};
use crate::console::state::{Column, Layout, Screen, State};
use crate::model::CallRecord;

/// What the receipts screen keeps: the texts of the current call, and the answer that others are compared with.
#[derive(Debug, Clone, Default)]
pub struct Receipts {
    /// The texts of the current call.
    pub sheet: Option<CallSheet>,
    /// The answer marked for comparison.
    pub marked: Option<Arc<CallRecord>>,
    /// The call that is being shared.
    sharing: Option<PendingShare>,
}

impl Receipts {
    /// Returns the index of the batch item that the current row belongs to.
    pub fn item_read(&self, column: Column) -> Option<usize> {
        let sheet = self.sheet.as_ref().filter(|_| column != Column::Calls)?;
        let text = sheet.text(column);
        let line = text.document.line_of(text.at)?;
        let start = |link: &&LineLink| link.lines(column).start;
        // The list of all items comes first: the item that began last is the one being read.
        let begun = sheet.links.iter().filter(|link| link.item.is_some() && start(link) <= line);
        usize::try_from(begun.max_by_key(start)?.item?.checked_sub(1)?).ok()
    }

    /// Copies the text on screen.
    pub(crate) fn copy_text(&self, state: &State) -> Option<[FeatureReply; 2]> {
        let sheet = self.sheet.as_ref().filter(|sheet| sheet.is_answered)?;
        let text = match state.calls.column {
            Column::Envelope => sheet.envelope_text.clone(),
            _ => rulings::refused_command(state).unwrap_or_else(|| sheet.receipt_text.clone()),
        };
        Some([FeatureReply::About("copied".to_owned(), sheet.seq), FeatureReply::Do(Effect::Copy(text))])
    }

    /// Returns the smaller or larger budget of the texts, or none; or why it stays.
    pub(crate) fn next_budget(
        &self,
        state: &State,
        action: Action,
    ) -> Option<Result<Option<u64>, &'static str>> {
        let (sheet, record) = self.sheet.as_ref().zip(state.shown_record())?;
        if record.native.is_some() {
            return Some(Err("its agent gave this to its model: it is not made from the envelope"));
        }
        let whole = sheet.whole_chars;
        let now = state.calls.budget.unwrap_or(whole).min(whole);
        Some(match action {
            Action::SmallerBudget => match next_less(&record, now) {
                None => Err("it is as short as it gets"),
                less => Ok(less),
            },
            Action::LargerBudget => Ok(more(now, whole)),
            _ => Ok(None),
        })
    }

    pub(crate) fn go_in_text(&mut self, state: &State, column: Column, motion: Motion) {
        let shown = text_rows(state, column);
        self.sheet.iter_mut().for_each(|sheet| sheet.text_mut(column).go(motion, shown));
    }

    /// Scrolls a text by a row, as the wheel does.
    pub(in crate::console) fn roll_text(&mut self, state: &State, column: Column, motion: Motion) {
        let shown = text_rows(state, column);
        self.sheet.iter_mut().for_each(|sheet| sheet.text_mut(column).roll(motion, shown));
    }

    pub(crate) fn lay_out_sheet(&mut self, state: &State, layout: &Layout) {
        let record = state.shown_call().and_then(|call| state.view.records.get(&call.seq)).cloned();
        let Some(record) = record else {
            self.sheet = None;
            return;
        };
        let is_answered = record.envelope.is_some();
        let budget = state.calls.budget.filter(|_| state.focus.screen == Screen::Receipts);
        let wanted = (record.seq, is_answered, budget, &record.native);
        let is_same =
            self.sheet.as_ref().is_some_and(|s| (s.seq, s.is_answered, s.budget, &s.native) == wanted);
        if !is_same {
            self.sheet = Some(sheet(&record, budget, state.setup.theme.glyphs));
        }
        self.place_texts(state, layout);
    }

    /// Wraps the texts for their areas, moves the other column to the counterpart of the current row, and
    /// scrolls the current rows into view.
    fn place_texts(&mut self, state: &State, layout: &Layout) {
        let column = state.calls.column;
        let Some(sheet) = &mut self.sheet else { return };
        // A text that is not on screen is wrapped like the one that is, so that its rows can be looked up.
        let [receipt, envelope] = [layout.receipt.width, layout.envelope.width];
        sheet.receipt.wrap(if receipt == 0 { envelope } else { receipt });
        sheet.envelope.wrap(if envelope == 0 { receipt } else { envelope });
        if state.focus.screen != Screen::Receipts {
            return;
        }
        let at = sheet.text(column).at;
        if column != Column::Calls && sheet.followed != Some((column, at)) {
            sheet.followed = Some((column, at));
            let there = sheet.counterpart(column, at).filter(|_| !sheet.are_linked());
            there.into_iter().for_each(|there| sheet.text_mut(column.opposite()).at = there);
        }
        for column in [Column::Receipt, Column::Envelope] {
            sheet.text_mut(column).settle(usize::from(layout.text(column).height.saturating_sub(1)));
        }
    }
}

/// Returns how many rows of a text fit on screen.
pub(in crate::console) fn text_rows(state: &State, column: Column) -> usize {
    usize::from(state.layout().text(column).height.saturating_sub(1))
}

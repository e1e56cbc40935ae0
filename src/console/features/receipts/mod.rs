//! The receipts screen: moving between calls and columns, and the texts to read.

mod answer;
mod budget;
pub mod compare;
pub mod coverage;
mod covered_lines;
pub mod draw;
pub mod find;
pub mod links;
mod list;
mod native_parts;
mod progress;
pub(in crate::console) mod rulings;
pub mod share;
pub mod sheet;

use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::features::receipts::budget::{more, next_less};
use crate::console::features::receipts::links::LineLink;
use crate::console::features::receipts::share::PendingShare;
use crate::console::features::receipts::sheet::{CallSheet, sheet};
use crate::console::keys::{Action, Motion};
use crate::console::state::calls::RulingFilter;
use crate::console::state::{Column, Layout, Mode, Prompt, Screen, State, alias};
use crate::console::text::reading::moved;
use crate::link::Act;
use crate::model::{CallRecord, Subject};

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

    /// Folds or unfolds the current row of the envelope; in another column goes to the next column.
    pub(crate) fn fold(&mut self, state: &mut State) {
        if state.calls.column == Column::Calls {
            let row = state.call_rows().get(state.call_at()).map(|row| (row.oldest, row.count));
            if let Some((oldest, 2..)) = row {
                state.calls.unfolded = Some(oldest);
                return;
            }
        }
        if state.calls.column != Column::Envelope {
            return cycle_column(state, 1);
        }
        let Some(sheet) = &mut self.sheet else { return };
        sheet.envelope.at = sheet.envelope.document.fold(sheet.envelope.at);
    }

    pub(crate) fn copy_text(&mut self, state: &mut State) {
        let Some(sheet) = self.sheet.as_ref().filter(|sheet| sheet.is_answered) else {
            return;
        };
        let text = match state.calls.column {
            Column::Envelope => sheet.envelope_text.clone(),
            _ => rulings::refused_command(state).unwrap_or_else(|| sheet.receipt_text.clone()),
        };
        state.toasts.say("copied", Some(sheet.seq), state.clock.now);
        state.effects.push(Effect::Copy(text));
    }

    /// Gives the texts a smaller or larger budget, or removes it.
    pub(crate) fn change_budget(&mut self, state: &mut State, action: Action) {
        if let Some((sheet, record)) = self.sheet.as_ref().zip(state.shown_record()) {
            if record.native.is_some() {
                return state.say("its agent gave this to its model: it is not made from the envelope");
            }
            let whole = sheet.whole_chars;
            let now = state.calls.budget.unwrap_or(whole).min(whole);
            state.calls.budget = match action {
                Action::SmallerBudget => match next_less(&record, now) {
                    None => return state.say("it is as short as it gets"),
                    less => less,
                },
                Action::LargerBudget => more(now, whole),
                _ => None,
            };
        }
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
            there.into_iter().for_each(|there| sheet.text_mut(column.other()).at = there);
        }
        for column in [Column::Receipt, Column::Envelope] {
            sheet.text_mut(column).settle(usize::from(layout.text(column).height.saturating_sub(1)));
        }
    }
}

/// Shows the calls; when coming from a task or a batch, its own.
pub(crate) fn show_calls(state: &mut State) {
    if let Some(seq) = state.batch_at_hand().map(|batch| batch.call) {
        return go_to_call(state, seq);
    }
    let is_at_task = matches!(state.focus.screen, Screen::Tasks | Screen::Focus | Screen::Program);
    let task = state.at_hand().filter(|_| is_at_task && state.replay.is_none()).cloned();
    match task.as_ref().map(|task| state.call_of(task)) {
        Some(Some(seq)) => go_to_call(state, seq),
        // A task that was selected by itself is not what was asked about.
        Some(None) if state.list.is_held => {
            let name = task.map(|task| alias(&task)).unwrap_or_default();
            state.show(Screen::Receipts);
            state.say(format!("no call on the list is about {name}"));
        }
        _ => state.show(Screen::Receipts),
    }
}

/// Shows a call, and removes the filters that hide it.
pub(in crate::console) fn go_to_call(state: &mut State, seq: u64) {
    if !state.view.newest_calls().any(|call| call.seq == seq) {
        state.say(format!("call {} is no longer on the list", state.call_name(seq)));
        return;
    }
    if state.call_rows().iter().all(|row| !(row.oldest..=row.call.seq).contains(&seq)) {
        state.calls.filter.clear();
        state.calls.ruling = RulingFilter::All;
    }
    if !state.newest_calls().any(|call| call.seq == seq) {
        state.show_only(None);
    }
    state.calls.selected = Some(seq);
    state.show(Screen::Receipts)
}

/// Lists the calls that match the typed text, and shows the newest of them.
pub(in crate::console) fn filter_calls(state: &mut State) {
    let Mode::Write(Prompt::FilterCalls, editor) = &state.focus.mode else { return };
    state.calls.filter = editor.value().to_owned();
    state.calls.selected = None;
}

/// Removes the filter from the list of calls, or if there is none, the limit to one place; tells whether
/// there was anything to remove.
pub(crate) fn unfilter_calls(state: &mut State) -> bool {
    let had_text = !std::mem::take(&mut state.calls.filter).is_empty();
    if had_text || std::mem::take(&mut state.calls.ruling) != RulingFilter::All {
        return true;
    }
    let is_narrowed = state.calls_of().is_some();
    if is_narrowed {
        state.show_only(None);
    }
    is_narrowed
}

pub(crate) fn cycle_column(state: &mut State, by: usize) {
    const TURN: [Column; 3] = [Column::Calls, Column::Receipt, Column::Envelope];
    let at = TURN.iter().position(|column| *column == state.calls.column).unwrap_or(0);
    state.calls.column = TURN[(at + by) % TURN.len()];
}

/// Opens the task of the current call, or the command of the program on screen.
pub(crate) fn open_task(state: &mut State) {
    let task = match state.focus.screen {
        Screen::Program => state.program_task(),
        _ => state.shown_call().and_then(|call| call.task.clone()),
    };
    let Some(task) = task else { return };
    if state.view.task(&task).is_none() {
        state.say("that task is no longer on the list");
        return;
    }
    state.select(task);
    state.show(Screen::Focus)
}

pub(crate) fn go_in_calls(state: &mut State, motion: Motion) {
    let count = state.call_rows().len();
    let page = state.layout().list_items().max(1);
    let to = moved(state.call_at(), motion, page, count.saturating_sub(1));
    let seq = state.call_rows().get(to).map(|row| row.call.seq);
    state.calls.selected = if to == 0 { None } else { seq };
}

/// Returns how many rows of a text fit on screen.
pub(in crate::console) fn text_rows(state: &State, column: Column) -> usize {
    usize::from(state.layout().text(column).height.saturating_sub(1))
}

pub(crate) fn fetch_call(state: &mut State, layout: &Layout) -> Option<Effect> {
    let is_wanted = state.focus.screen == Screen::Receipts || !layout.receipt.is_empty();
    let call = state.shown_call().filter(|_| is_wanted)?;
    let (seq, stage) = (call.seq, (call.status.is_some(), call.native.is_some()));
    let is_whole = |record: &Arc<CallRecord>| {
        (!stage.0 || record.envelope.is_some()) && (!stage.1 || record.native == call.native)
    };
    if state.view.records.get(&seq).is_some_and(is_whole) || state.view.asked.get(&seq) == Some(&stage) {
        return None;
    }
    state.view.asked.insert(seq, stage);
    Some(Effect::Ask(Act::Record.on(Subject::Call(seq))))
}

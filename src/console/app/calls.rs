//! The list of calls: going through it, filtering it, and the records that are asked for.

use std::sync::Arc;

use crate::console::app::App;
use crate::console::effect::Effect;
use crate::console::keys::Motion;
use crate::console::state::calls::RulingFilter;
use crate::console::state::{Column, CommandCoverage, Layout, Mode, Prompt, Screen, ShareForm, State, alias};
use crate::console::text::reading::move_by;
use crate::link::Act;
use crate::model::{CallRecord, Subject};

impl State {
    /// Shows the calls; when coming from a task or a batch, its own.
    pub(super) fn show_calls(&mut self) {
        if let Some(seq) = self.batch_at_hand().map(|batch| batch.call) {
            return self.go_to_call(seq);
        }
        let is_at_task = matches!(self.focus.screen, Screen::Tasks | Screen::Focus | Screen::Program);
        let task = self.at_hand().filter(|_| is_at_task && self.replay.is_none()).cloned();
        match task.as_ref().map(|task| self.call_of(task)) {
            Some(Some(seq)) => self.go_to_call(seq),
            // A task that was selected by itself is not what was asked about.
            Some(None) if self.list.is_held => {
                let name = task.map(|task| alias(&task)).unwrap_or_default();
                self.show(Screen::Receipts);
                self.say(format!("no call on the list is about {name}"));
            }
            _ => self.show(Screen::Receipts),
        }
    }

    /// Shows a call, and removes the filters that hide it.
    pub(super) fn go_to_call(&mut self, seq: u64) {
        if !self.view.newest_calls().any(|call| call.seq == seq) {
            self.say(format!("call {} is no longer on the list", self.call_name(seq)));
            return;
        }
        if self.call_rows().iter().all(|row| !(row.oldest..=row.call.seq).contains(&seq)) {
            self.calls.filter.clear();
            self.calls.ruling = RulingFilter::All;
        }
        if !self.newest_calls().any(|call| call.seq == seq) {
            self.show_only(None);
        }
        self.calls.selected = Some(seq);
        self.show(Screen::Receipts)
    }

    /// Lists the calls that match the typed text, and shows the newest of them.
    pub(super) fn filter_calls(&mut self) {
        let Mode::Write(Prompt::FilterCalls, editor) = &self.focus.mode else { return };
        self.calls.filter = editor.value().to_owned();
        self.calls.selected = None;
    }

    /// Removes the filter from the list of calls, or if there is none, the limit to one place; tells whether
    /// there was anything to remove.
    pub(super) fn unfilter_calls(&mut self) -> bool {
        let had_text = !std::mem::take(&mut self.calls.filter).is_empty();
        if had_text || std::mem::take(&mut self.calls.ruling) != RulingFilter::All {
            return true;
        }
        let is_narrowed = self.calls_of().is_some();
        if is_narrowed {
            self.show_only(None);
        }
        is_narrowed
    }

    pub(super) fn cycle_column(&mut self, by: usize) {
        const TURN: [Column; 3] = [Column::Calls, Column::Receipt, Column::Envelope];
        let at = TURN.iter().position(|column| *column == self.calls.column).unwrap_or(0);
        self.calls.column = TURN[(at + by) % TURN.len()];
    }

    /// Opens the task of the current call, or the command of the program on screen.
    pub(super) fn open_task(&mut self) {
        let task = match self.focus.screen {
            Screen::Program => self.program_task(),
            _ => self.shown_call().and_then(|call| call.task.clone()),
        };
        let Some(task) = task else { return };
        if self.view.task(&task).is_none() {
            self.say("that task is no longer on the list");
            return;
        }
        self.select(task);
        self.show(Screen::Focus)
    }

    pub(super) fn go_in_calls(&mut self, motion: Motion) {
        let count = self.call_rows().len();
        let page = self.layout().list_items().max(1);
        let to = move_by(self.call_at(), motion, page, count.saturating_sub(1));
        let seq = self.call_rows().get(to).map(|row| row.call.seq);
        self.calls.selected = if to == 0 { None } else { seq };
    }

    pub(super) fn fetch_call(&mut self, layout: &Layout) -> Option<Effect> {
        let is_wanted = self.focus.screen == Screen::Receipts || !layout.receipt.is_empty();
        let call = self.shown_call().filter(|_| is_wanted)?;
        let (seq, stage) = (call.seq, (call.status.is_some(), call.native.is_some()));
        let is_whole = |record: &Arc<CallRecord>| {
            (!stage.0 || record.envelope.is_some()) && (!stage.1 || record.native == call.native)
        };
        if self.view.records.get(&seq).is_some_and(is_whole) || self.view.asked.get(&seq) == Some(&stage) {
            return None;
        }
        self.view.asked.insert(seq, stage);
        Some(Effect::Ask(Act::Record.on(Subject::Call(seq))))
    }
}

impl App {
    /// Unfolds the calls of the current row, or folds or unfolds the current row of the envelope; goes to the next column
    /// otherwise.
    pub(super) fn fold_call(&mut self) {
        let state = &mut self.state;
        let row = state.call_rows().get(state.call_at()).map(|row| (row.oldest, row.count));
        match (state.calls.column, row) {
            (Column::Calls, Some((oldest, 2..))) => state.calls.unfolded = Some(oldest),
            (Column::Envelope, _) => self.receipts.sheet.iter_mut().for_each(|sheet| {
                sheet.envelope.at = sheet.envelope.document.fold(sheet.envelope.at);
            }),
            _ => state.cycle_column(1),
        }
    }

    pub(super) fn share(&mut self, form: ShareForm) {
        self.state.effects.extend(self.receipts.share(&self.state, form));
    }

    /// Takes what an answer showed of the output: for the call that is being shared, or else to be read.
    pub(super) fn take_coverage(&mut self, call: u64, commands: &[CommandCoverage]) {
        if let Some(effect) = self.receipts.share_with(&self.state, call, commands) {
            return self.state.effects.push(effect);
        }
        match self.receipts.coverage(&self.state, call, commands) {
            Some(Ok(reader)) => (self.state.calls.finding, self.state.reader) = (None, Some(reader)),
            Some(Err(why)) => self.state.toasts.fail(why, None),
            None => {}
        }
    }
}

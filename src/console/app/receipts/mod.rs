//! The receipts screen: which call is selected, which column has the keys, and the texts to read.

pub mod draw;
pub mod rows;
pub mod sheet;

use std::sync::Arc;

use sheet::{Link, Sheet};

use crate::envelope::Actor;
use crate::link::Request;
use crate::model::{CallRecord, CallSummary};

use super::find::Finding;
use super::{App, Layout, Screen, moved};
use crate::console::keys::Action;
use crate::console::msg::Effect;

/// The columns of the receipts screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Column {
    /// The calls.
    #[default]
    Calls,
    /// The receipt of the selected call.
    Receipt,
    /// Its canonical envelope.
    Envelope,
}

impl Column {
    /// Returns the column of the other text.
    pub(crate) fn other(self) -> Self {
        if self == Self::Envelope { Self::Receipt } else { Self::Envelope }
    }
}

/// The receipts screen, and the receipt beside a task.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// The selected call; if none, the newest is shown.
    pub selected: Option<u64>,
    /// First item shown.
    pub top: usize,
    /// The column keys act on.
    pub column: Column,
    /// The texts of the current call.
    pub sheet: Option<Sheet>,
    /// The budget for the texts, in characters of the envelope; if none, they are shown in full.
    pub budget: Option<u64>,
    /// The text to filter the list of calls by; empty if all are listed.
    pub filter: String,
    /// The oldest call of the row of polls that is unfolded.
    pub unfolded: Option<u64>,
    /// The call marked for comparison.
    pub marked: Option<Arc<CallRecord>>,
    /// The search in the current text.
    pub finding: Option<Finding>,
}

impl Calls {
    /// Returns the index of the batch item that the current row belongs to.
    pub fn item_read(&self) -> Option<usize> {
        let sheet = self.sheet.as_ref().filter(|_| self.column != Column::Calls)?;
        let text = sheet.text(self.column);
        let line = text.document.line_of(text.at)?;
        let start = |link: &&Link| link.lines(self.column).start;
        // The list of all items comes first: the item that began last is the one being read.
        let begun = sheet.links.iter().filter(|link| link.item.is_some() && start(link) <= line);
        usize::try_from(begun.max_by_key(start)?.item?.checked_sub(1)?).ok()
    }
}

impl App {
    /// Returns the call shown on the receipts screen or at the side of the tasks screen.
    pub fn shown_call(&self) -> Option<&Arc<CallSummary>> {
        if self.screen == Screen::Receipts {
            return match self.calls.selected {
                Some(seq) => self.view.newest_calls().find(|call| call.seq == seq),
                None if self.calls.filter.is_empty() => self.newest_calls().next(),
                None => self.call_rows().first().map(|row| row.call),
            };
        }
        // Beside a task: what its agent was last told.
        let task = self.selected()?;
        // A batch answers for all its items at once, and shows its progress until then.
        if task.item.is_some() {
            return self.view.newest_calls().find(|call| call.seq == task.call);
        }
        let mut about = self.view.newest_calls().filter(|call| call.task.as_ref() == Some(&task.id));
        about.find(|call| call.actor != Actor::Operator && call.status.is_some())
    }

    /// Returns the record of the current call, once it has been answered and fetched.
    pub fn shown_record(&self) -> Option<Arc<CallRecord>> {
        let record = self.view.records.get(&self.shown_call()?.seq)?;
        record.envelope.is_some().then(|| Arc::clone(record))
    }

    /// Removes the filter from the list of calls, or if there is none, the limit to one place; tells whether
    /// there was anything to remove.
    pub(crate) fn unfilter_calls(&mut self) -> bool {
        if !std::mem::take(&mut self.calls.filter).is_empty() {
            return true;
        }
        let is_narrowed = self.is_narrowed();
        if is_narrowed {
            self.show_only(None);
        }
        is_narrowed
    }

    pub(crate) fn cycle_column(&mut self, by: usize) {
        const TURN: [Column; 3] = [Column::Calls, Column::Receipt, Column::Envelope];
        let at = TURN.iter().position(|column| *column == self.calls.column).unwrap_or(0);
        self.calls.column = TURN[(at + by) % TURN.len()];
    }

    /// Folds or unfolds the current row of the envelope; in another column goes to the next column.
    pub(crate) fn fold(&mut self) {
        if self.calls.column == Column::Calls {
            let row = self.call_rows().get(self.call_at()).map(|row| (row.oldest, row.count));
            if let Some((oldest, 2..)) = row {
                self.calls.unfolded = Some(oldest);
                return;
            }
        }
        if self.calls.column != Column::Envelope {
            return self.cycle_column(1);
        }
        let Some(sheet) = &mut self.calls.sheet else { return };
        sheet.envelope.at = sheet.envelope.document.fold(sheet.envelope.at);
    }

    pub(crate) fn copy_text(&mut self) {
        let Some(sheet) = self.calls.sheet.as_ref().filter(|sheet| sheet.is_answered) else {
            return;
        };
        let text = match self.calls.column {
            Column::Envelope => sheet.envelope_text.clone(),
            _ => sheet.receipt_text.clone(),
        };
        self.toasts.say("copied", Some(sheet.seq), self.now);
        self.effects.push(Effect::Copy(text));
    }

    /// Gives the texts a smaller or larger budget, or removes it.
    pub(crate) fn change_budget(&mut self, action: Action) {
        if self.can(action)
            && let Some((sheet, record)) = self.calls.sheet.as_ref().zip(self.shown_record())
        {
            let whole = sheet.whole_chars;
            let now = self.calls.budget.unwrap_or(whole).min(whole);
            self.calls.budget = match action {
                Action::LessRoom => match sheet::next_less(&record, now) {
                    None => return self.say("it is as short as it gets"),
                    less => less,
                },
                Action::MoreRoom => sheet::more(now, whole),
                _ => None,
            };
        }
    }

    /// Opens the task of the current call, or the command of the program on screen.
    pub(crate) fn open_task(&mut self) {
        let task = match self.screen {
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

    pub(crate) fn go_in_calls(&mut self, action: Action) {
        let count = self.call_rows().len();
        let page = self.layout().list_items().max(1);
        let to = moved(self.call_at(), action, page, count.saturating_sub(1));
        let seq = self.call_rows().get(to).map(|row| row.call.seq);
        self.calls.selected = if to == 0 { None } else { seq };
    }

    pub(crate) fn go_in_text(&mut self, column: Column, action: Action) {
        let shown = self.text_rows(column);
        self.calls.sheet.iter_mut().for_each(|sheet| sheet.text_mut(column).go(action, shown));
    }

    /// Scrolls a text by a row, as the wheel does.
    pub(super) fn roll_text(&mut self, column: Column, action: Action) {
        let shown = self.text_rows(column);
        self.calls.sheet.iter_mut().for_each(|sheet| sheet.text_mut(column).roll(action, shown));
    }

    /// Returns how many rows of a text fit on screen.
    fn text_rows(&self, column: Column) -> usize {
        usize::from(self.layout().text(column).height.saturating_sub(1))
    }

    pub(crate) fn fetch_call(&mut self, layout: &Layout) -> Option<Effect> {
        let is_wanted = self.screen == Screen::Receipts || !layout.receipt.is_empty();
        let call = self.shown_call().filter(|_| is_wanted)?;
        let (seq, is_answered) = (call.seq, call.status.is_some());
        let has_it =
            self.view.records.get(&seq).is_some_and(|record| !is_answered || record.envelope.is_some());
        if has_it || self.view.asked.get(&seq) == Some(&is_answered) {
            return None;
        }
        self.view.asked.insert(seq, is_answered);
        Some(Effect::Ask(Request::Record { seq }))
    }
}

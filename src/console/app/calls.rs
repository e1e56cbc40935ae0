//! The calls as the person reads them: which one is shown, which column is read, the texts laid out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::envelope::{Actor, TaskId};
use crate::runtime::{CallRecord, CallSummary};

use super::super::text::document::Document;
use super::fields::Link;
use super::finding::Finding;
use super::{App, View};

/// The columns of the receipts screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The calls.
    Calls,
    /// The receipt of the selected one.
    Receipt,
    /// Its canonical envelope.
    Envelope,
}

/// Where a text is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The row the keys are at.
    pub at: usize,
    /// The first row shown.
    pub top: usize,
}

/// A call's texts, wrapped for where they are shown.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// The call.
    pub seq: u64,
    /// The call was answered.
    pub is_answered: bool,
    /// The room the texts were given, if not all.
    pub budget: Option<u64>,
    /// The receipt.
    pub receipt: Document,
    /// The envelope.
    pub envelope: Document,
    /// What of them says the same.
    pub links: Vec<Link>,
    /// Characters of the receipt.
    pub receipt_chars: u64,
    /// Characters of the envelope on one line.
    pub envelope_chars: u64,
    /// Characters of the envelope as it is on record.
    pub whole_chars: u64,
    /// The receipt as text.
    pub receipt_text: String,
    /// The envelope on one line.
    pub envelope_text: String,
}

/// The receipts screen, and the receipt beside a task.
#[derive(Debug, Clone)]
pub struct Calls {
    /// The selected call; none follows the newest.
    pub selected: Option<u64>,
    /// First item shown.
    pub top: usize,
    /// The column keys act on.
    pub column: Column,
    /// Where the receipt is read.
    pub receipt: Place,
    /// Where the envelope is read.
    pub envelope: Place,
    /// The call, column and row whose counterpart was last looked up.
    pub(in crate::console) followed: Option<(u64, Column, usize)>,
    /// Records fetched so far, a few.
    pub records: BTreeMap<u64, Arc<CallRecord>>,
    /// Fetches under way, with whether the call was answered when they were asked for.
    pub asked: BTreeMap<u64, bool>,
    /// The texts of the call shown.
    pub sheet: Option<Sheet>,
    /// The room the texts are given, in characters of the envelope; all of it unless set.
    pub budget: Option<u64>,
    /// The call that others are compared with.
    pub marked: Option<Arc<CallRecord>>,
    /// What is looked for in the text that is read.
    pub finding: Option<Finding>,
}

impl Calls {
    pub(in crate::console) fn new() -> Self {
        Self {
            selected: None,
            top: 0,
            column: Column::Calls,
            receipt: Place::default(),
            envelope: Place::default(),
            followed: None,
            records: BTreeMap::new(),
            asked: BTreeMap::new(),
            sheet: None,
            budget: None,
            marked: None,
            finding: None,
        }
    }

    /// Returns where the column that keys act on is read.
    #[must_use]
    pub fn place(&self) -> Place {
        if self.column == Column::Envelope { self.envelope } else { self.receipt }
    }

    /// Reads that column from there on.
    pub fn put(&mut self, place: Place) {
        *(if self.column == Column::Envelope { &mut self.envelope } else { &mut self.receipt }) = place;
    }
}

impl Calls {
    /// Returns which item of a batch the row read belongs to, from 0, where that is certain.
    #[must_use]
    pub fn item_read(&self) -> Option<usize> {
        let sheet = self.sheet.as_ref().filter(|_| self.column != Column::Calls)?;
        let line = sheet.document(self.column).line_of(self.place().at)?;
        let begun = |link: &&Link| match self.column {
            Column::Envelope => link.envelope.start <= line,
            _ => link.receipt.start <= line,
        };
        let number = |link: &Link| {
            let (number, _) =
                sheet.receipt_text.lines().nth(link.receipt.start)?.strip_prefix('[')?.split_once(']')?;
            number.parse::<usize>().ok()?.checked_sub(1)
        };
        sheet.links.iter().filter(begun).filter_map(number).max()
    }
}

impl App {
    /// Returns the call that the receipts screen, or the side of the tasks screen, shows.
    #[must_use]
    pub fn shown_call(&self) -> Option<&Arc<CallSummary>> {
        if self.view == View::Receipts {
            return match self.calls.selected {
                Some(seq) => self.newest_calls().find(|call| call.seq == seq),
                None => self.newest_calls().next(),
            };
        }
        // Beside a task: what its agent was told last.
        let task = self.selected()?;
        // The batch it belongs to is told about all its items at once, and shows how far it is until then.
        if task.item.is_some() {
            return self.newest_calls().find(|call| call.seq == task.call);
        }
        let mut about = self.newest_calls().filter(|call| call.task.as_ref() == Some(&task.id));
        about.find(|call| call.actor != Actor::Operator && call.status.is_some())
    }
}

impl App {
    /// Returns the record of the call shown, once it is answered and was fetched.
    #[must_use]
    pub fn shown_record(&self) -> Option<Arc<CallRecord>> {
        let record = self.calls.records.get(&self.shown_call()?.seq)?;
        record.envelope.is_some().then(|| Arc::clone(record))
    }

    /// Returns the numbers of the calls that may have typed into a task, oldest first.
    #[must_use]
    pub fn inputs_of(&self, task: &TaskId) -> Vec<u64> {
        let is_input =
            |call: &&Arc<CallSummary>| call.tool == "TaskInput" && call.task.as_ref() == Some(task);
        self.snapshot.calls.iter().filter(is_input).map(|call| call.seq).collect()
    }
}

impl Sheet {
    /// Returns the text of a column.
    #[must_use]
    pub fn document(&self, column: Column) -> &Document {
        if column == Column::Envelope { &self.envelope } else { &self.receipt }
    }

    /// Tells whether a row of a column has a counterpart.
    #[must_use]
    pub fn is_linked(&self, column: Column, row: usize) -> bool {
        self.counterparts(column, row).next().is_some()
    }

    /// Tells whether a row of the receipt and one of the envelope say the same.
    #[must_use]
    pub fn are_linked(&self, receipt: usize, envelope: usize) -> bool {
        let line = self.envelope.line_of(envelope);
        line.is_some_and(|line| {
            self.counterparts(Column::Receipt, receipt).any(|link| link.envelope.contains(&line))
        })
    }

    /// Returns the first row of what says the same as a row of a column, in the other one.
    #[must_use]
    pub fn counterpart(&self, column: Column, row: usize) -> Option<usize> {
        let link = self.counterparts(column, row).next()?;
        match column {
            Column::Envelope => self.receipt.row_of(link.receipt.start),
            _ => self.envelope.row_of(link.envelope.start),
        }
    }

    fn counterparts(&self, column: Column, row: usize) -> impl Iterator<Item = &Link> {
        let line = match column {
            Column::Envelope => self.envelope.line_of(row),
            _ => self.receipt.line_of(row),
        };
        self.links.iter().filter(move |link| {
            let lines = if column == Column::Envelope { &link.envelope } else { &link.receipt };
            line.is_some_and(|line| lines.contains(&line))
        })
    }
}

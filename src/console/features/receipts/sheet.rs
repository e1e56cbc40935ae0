//! The texts of a call, wrapped for the areas they are shown in, and how they lead to one another.

use crate::console::features::receipts::answer::{AnswerTexts, chars};
use crate::console::features::receipts::links::{LineLink, links};
use crate::console::state::Column;
use crate::console::text::WrappedText;
use crate::console::text::reading::ReaderText;
use crate::console::theme::Glyphs;
use crate::model::{CallRecord, NativeCall};

/// A call's texts, wrapped for the areas they are shown in.
#[derive(Debug, Clone)]
pub struct CallSheet {
    /// The call.
    pub seq: u64,
    /// Whether the call was answered.
    pub is_answered: bool,
    /// The budget of the texts, if limited.
    pub budget: Option<u64>,
    /// What the agent's hook says of it.
    pub(super) native: Option<NativeCall>,
    pub receipt: ReaderText,
    pub envelope: ReaderText,
    /// The lines of both texts that correspond.
    pub links: Vec<LineLink>,
    /// The column and row whose counterpart was last looked up.
    pub(super) followed: Option<(Column, usize)>,
    /// Length of the receipt in characters.
    pub receipt_chars: u64,
    /// Length of the envelope on one line, in characters.
    pub envelope_chars: u64,
    /// Length of the recorded envelope, in characters.
    pub whole_chars: u64,
    /// The receipt as text.
    pub receipt_text: String,
    /// The envelope on one line.
    pub envelope_text: String,
}

impl CallSheet {
    /// Returns the text of a column.
    pub fn text(&self, column: Column) -> &ReaderText {
        if column == Column::Envelope { &self.envelope } else { &self.receipt }
    }

    /// Returns the same, mutably.
    pub(crate) fn text_mut(&mut self, column: Column) -> &mut ReaderText {
        if column == Column::Envelope { &mut self.envelope } else { &mut self.receipt }
    }

    /// Returns the length of the text of a column in characters.
    pub fn chars(&self, column: Column) -> u64 {
        if column == Column::Envelope { self.envelope_chars } else { self.receipt_chars }
    }

    /// Tells whether a row of a column has a counterpart.
    pub fn is_linked(&self, column: Column, row: usize) -> bool {
        self.counterparts(column, row).next().is_some()
    }

    /// Tells whether the current rows of both texts correspond.
    pub fn are_linked(&self) -> bool {
        let line = self.envelope.document.line_of(self.envelope.at);
        let mut links = self.counterparts(Column::Receipt, self.receipt.at);
        line.is_some_and(|line| links.any(|link| link.envelope.contains(&line)))
    }

    /// Returns the first row in the other column that corresponds to a row of this column.
    pub fn counterpart(&self, column: Column, row: usize) -> Option<usize> {
        let (link, other) = (self.counterparts(column, row).next()?, column.opposite());
        self.text(other).document.row_of(link.lines(other).start)
    }

    fn counterparts(&self, column: Column, row: usize) -> impl Iterator<Item = &LineLink> {
        let line = self.text(column).document.line_of(row);
        self.links.iter().filter(move |link| line.is_some_and(|line| link.lines(column).contains(&line)))
    }
}

/// Lays out the texts of a call.
pub(crate) fn sheet(record: &CallRecord, budget: Option<u64>, glyphs: Glyphs) -> CallSheet {
    let whole = AnswerTexts::of(record);
    // What an agent's model was given of the agent's own command was not made from the envelope.
    let budget = budget.filter(|_| record.native.is_none());
    let shorter = budget.and_then(|budget| whole.within(budget)).filter(|shorter| shorter.is_within(&whole));
    let (receipt, envelope, links) = match &shorter {
        None => (
            whole.receipt_lines(),
            WrappedText::json(&whole.envelope),
            links(&whole.envelope, &whole.sources),
        ),
        Some(shorter) => shorter.beside(&whole, glyphs),
    };
    let whole_chars = chars(&whole.envelope.to_string());
    let AnswerTexts { receipt: receipt_text, envelope: value, .. } = shorter.unwrap_or(whole);
    let envelope_text = value.to_string();
    let is_answered = record.envelope.is_some();
    CallSheet {
        seq: record.seq,
        is_answered,
        budget,
        native: record.native.clone(),
        receipt: ReaderText::new(receipt),
        envelope: ReaderText::new(if is_answered { envelope } else { WrappedText::default() }),
        links,
        followed: None,
        receipt_chars: chars(&receipt_text),
        envelope_chars: chars(&envelope_text),
        whole_chars,
        receipt_text,
        envelope_text,
    }
}

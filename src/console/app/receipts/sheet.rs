//! A call's texts laid out to read: as they were sent, or in the room that a budget gives them. What
//! the budget took is marked line by line.

use crate::console::app::layout::Layout;
use crate::console::app::reader::Text;
use crate::console::app::{App, Screen};
use crate::console::text::document::Marks;
use crate::console::text::{Document, Piece, count, piece, tokens};
use crate::console::theme::{Glyphs, Role};
use serde::Deserialize as _;
use serde_json::Value;

use crate::envelope::{Envelope, compact};
use crate::runtime::CallRecord;
use crate::tools::{self, Rendered, Source};

use super::Column;
use super::links::{Link, links};

/// The smallest budget that can be set.
const LEAST: u64 = 50;

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
    pub receipt: Text,
    /// The envelope.
    pub envelope: Text,
    /// What of them says the same.
    pub links: Vec<Link>,
    /// The column and row whose counterpart was last looked up.
    followed: Option<(Column, usize)>,
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

impl Sheet {
    /// Returns the text of a column.
    pub fn text(&self, column: Column) -> &Text {
        if column == Column::Envelope { &self.envelope } else { &self.receipt }
    }

    /// The same, to move in it.
    pub(crate) fn text_mut(&mut self, column: Column) -> &mut Text {
        if column == Column::Envelope { &mut self.envelope } else { &mut self.receipt }
    }

    /// Returns the characters of the text of a column.
    pub fn chars(&self, column: Column) -> u64 {
        if column == Column::Envelope { self.envelope_chars } else { self.receipt_chars }
    }

    /// Tells whether a row of a column has a counterpart.
    pub fn is_linked(&self, column: Column, row: usize) -> bool {
        self.counterparts(column, row).next().is_some()
    }

    /// Tells whether the rows that are read of both texts say the same.
    pub fn are_linked(&self) -> bool {
        let line = self.envelope.document.line_of(self.envelope.at);
        let mut links = self.counterparts(Column::Receipt, self.receipt.at);
        line.is_some_and(|line| links.any(|link| link.envelope.contains(&line)))
    }

    /// Returns the first row of what says the same as a row of a column, in the other one.
    pub fn counterpart(&self, column: Column, row: usize) -> Option<usize> {
        let (link, other) = (self.counterparts(column, row).next()?, column.other());
        self.text(other).document.row_of(link.lines(other).start)
    }

    fn counterparts(&self, column: Column, row: usize) -> impl Iterator<Item = &Link> {
        let line = self.text(column).document.line_of(row);
        self.links.iter().filter(move |link| line.is_some_and(|line| link.lines(column).contains(&line)))
    }
}

/// Lays out the texts of a call.
pub(crate) fn sheet(record: &CallRecord, budget: Option<u64>, glyphs: Glyphs) -> Sheet {
    let whole = Sent::of(record);
    let shorter = budget.and_then(|budget| whole.within(budget));
    let (receipt, envelope, links) = match &shorter {
        None => (
            Document::plain(&whole.receipt),
            Document::json(&whole.envelope),
            links(&whole.envelope, &whole.sources),
        ),
        Some(shorter) => shorter.beside(&whole, glyphs),
    };
    let whole_chars = chars(&whole.envelope.to_string());
    let Sent { receipt: receipt_text, envelope: value, .. } = shorter.unwrap_or(whole);
    let envelope_text = value.to_string();
    let is_answered = record.envelope.is_some();
    Sheet {
        seq: record.seq,
        is_answered,
        budget,
        receipt: Text::new(receipt),
        envelope: Text::new(if is_answered { envelope } else { Document::default() }),
        links,
        followed: None,
        receipt_chars: chars(&receipt_text),
        envelope_chars: chars(&envelope_text),
        whole_chars,
        receipt_text,
        envelope_text,
    }
}

/// The next smaller budget, of two digits that count.
pub(crate) fn less(chars: u64) -> u64 {
    let next = chars * 4 / 5;
    (next - next % grain(next)).max(LEAST)
}

/// The next larger budget, none when it takes the whole.
pub(crate) fn more(chars: u64, whole: u64) -> Option<u64> {
    let next = chars.saturating_mul(5).div_ceil(4);
    let next = next.next_multiple_of(grain(next));
    Some(next).filter(|next| *next < whole)
}

fn grain(chars: u64) -> u64 {
    10_u64.pow(chars.max(1).ilog10().saturating_sub(1))
}

/// Both texts of an answer, and what of them says the same.
struct Sent {
    receipt: String,
    envelope: Value,
    sources: Vec<Source>,
}

impl Sent {
    /// The texts on record. Their sources are those of the same envelope rendered again, as far as its lines are still
    /// the ones that were sent.
    fn of(record: &CallRecord) -> Self {
        let receipt = record.receipt.clone().unwrap_or_default();
        let envelope = record.envelope.clone().unwrap_or(Value::Null);
        let again = Envelope::deserialize(&envelope).map(|envelope| tools::render_with_sources(&envelope));
        let Rendered { text, mut sources } = again.unwrap_or_default();
        let (sent, again): (Vec<_>, Vec<_>) = (receipt.split('\n').collect(), text.split('\n').collect());
        sources.retain(|source| sent.get(source.lines.clone()) == again.get(source.lines.clone()));
        Self { receipt, envelope, sources }
    }

    /// None when it is no envelope of this version.
    fn within(&self, budget: u64) -> Option<Self> {
        let envelope = Envelope::deserialize(&self.envelope).ok()?;
        let shorter = compact(&envelope, usize::try_from(budget).unwrap_or(usize::MAX));
        let Rendered { text, sources } = tools::render_with_sources(&shorter);
        Some(Self { receipt: text.into(), envelope: shorter.to_value(), sources })
    }

    /// Lays both out with their sizes, and the envelope with a mark at each field.
    fn beside(&self, whole: &Self, glyphs: Glyphs) -> (Document, Document, Vec<Link>) {
        let marks = Marks {
            kept: glyphs.states[4],
            cut: glyphs.states[7],
            gone: glyphs.states[5],
            whole: &whole.envelope,
        };
        let mut receipt = Document::plain(&self.receipt);
        receipt.head(vec![sizes(chars(&self.receipt), chars(&whole.receipt)), Vec::new()]);
        let mut shown = self.envelope.clone();
        let had_details = whole.envelope.pointer("/error/details").is_some();
        if let Some(error) = shown["error"].as_object_mut().filter(|_| had_details) {
            // Left out of the envelope altogether: named here, to carry its mark.
            error.entry("details").or_insert(Value::Null);
        }
        let mut envelope = Document::marked(&shown, &marks);
        let (now, before) = (chars(&self.envelope.to_string()), chars(&whole.envelope.to_string()));
        envelope.head(vec![sizes(now, before), legend(&marks), Vec::new()]);
        (receipt, envelope, links(&shown, &self.sources))
    }
}

fn sizes(now: u64, before: u64) -> Vec<Piece> {
    let text = format!(
        "{} of {} chars, ~{} of ~{} tokens",
        count(now),
        count(before),
        count(tokens(now)),
        count(tokens(before))
    );
    vec![piece(text, Role::Strong)]
}

fn legend(marks: &Marks<'_>) -> Vec<Piece> {
    let Marks { kept, cut, gone, .. } = marks;
    vec![piece(format!("{kept} kept  {cut} cut  {gone} left out"), Role::Faint)]
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

impl App {
    pub(crate) fn lay_out_sheet(&mut self, layout: &Layout) {
        let record = self.shown_call().and_then(|call| self.view.records.get(&call.seq)).cloned();
        let Some(record) = record else {
            self.calls.sheet = None;
            return;
        };
        let is_answered = record.envelope.is_some();
        let budget = self.calls.budget.filter(|_| self.screen == Screen::Receipts);
        let wanted = (record.seq, is_answered, budget);
        let is_same = self.calls.sheet.as_ref().is_some_and(|s| (s.seq, s.is_answered, s.budget) == wanted);
        if !is_same {
            self.calls.sheet = Some(sheet(&record, budget, self.setup.theme.glyphs));
        }
        self.place_texts(layout);
    }

    /// Wraps the texts for their room, puts one column where the other is, and the rows read on screen.
    fn place_texts(&mut self, layout: &Layout) {
        let column = self.calls.column;
        let Some(sheet) = &mut self.calls.sheet else { return };
        // A text that is not on screen is wrapped like the one that is: rows in it can be looked up.
        let [receipt, envelope] = [layout.receipt.width, layout.envelope.width];
        sheet.receipt.wrap(if receipt == 0 { envelope } else { receipt });
        sheet.envelope.wrap(if envelope == 0 { receipt } else { envelope });
        if self.screen != Screen::Receipts {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn budgets_go_down_and_up_in_round_steps() {
        assert_eq!([less(1_106), less(880), less(700), less(60), less(50)], [880, 700, 560, 50, 50]);
        assert_eq!(
            [more(560, 1_106), more(700, 1_106), more(880, 1_106)],
            [Some(700), Some(880), Some(1_100)]
        );
        assert_eq!(more(1_100, 1_106), None);
    }

    #[test]
    fn a_line_that_was_sent_in_other_words_has_no_counterpart() {
        let result = json!({
            "disposition": "completed", "exit_status": 3, "signal": null, "stdout_preview": "a\n",
            "stderr_preview": null, "truncated": false, "duration_ms": 5,
        });
        let envelope = Envelope::success("ExecCommand", "x", &result);
        let record = CallRecord {
            seq: 1,
            at: jiff::Timestamp::UNIX_EPOCH,
            actor: crate::envelope::Actor::Cli,
            tool: "ExecCommand".into(),
            input: Value::Null,
            envelope: Some(envelope.to_value()),
            receipt: Some("Exited with 3\n\nstdout:\na".into()),
            duration_ms: None,
        };
        let pointers: Vec<String> =
            Sent::of(&record).sources.into_iter().map(|source| source.pointer).collect();
        assert_eq!(pointers, ["/result/stdout_preview"]);
    }
}

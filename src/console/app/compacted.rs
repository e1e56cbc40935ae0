//! A call's texts laid out to read: as they were sent, or in the room that a budget gives them. What
//! the budget took is marked line by line.

use serde::Deserialize as _;
use serde_json::Value;

use crate::envelope::{Envelope, compact};
use crate::runtime::CallRecord;
use crate::tools;

use super::super::looks::theme::{Glyphs, Role};
use super::super::text::document::{Document, Marks, Piece, piece};
use super::super::text::{count, tokens};
use super::calls::Sheet;
use super::fields::{Link, links};

/// The smallest budget that can be set.
const LEAST: u64 = 50;

/// Lays out the texts of a call.
pub(in crate::console) fn sheet(record: &CallRecord, budget: Option<u64>, glyphs: Glyphs) -> Sheet {
    let whole = Sent {
        receipt: record.receipt.clone().unwrap_or_default(),
        envelope: record.envelope.clone().unwrap_or(Value::Null),
    };
    let shorter = budget.and_then(|budget| whole.within(budget));
    let (receipt, envelope, links) = match &shorter {
        None => (
            Document::plain(&whole.receipt),
            Document::json(&whole.envelope),
            links(&whole.envelope, &whole.receipt),
        ),
        Some(shorter) => shorter.beside(&whole, glyphs),
    };
    let whole_chars = chars(&whole.envelope.to_string());
    let Sent { receipt: receipt_text, envelope: value } = shorter.unwrap_or(whole);
    let envelope_text = value.to_string();
    let is_answered = record.envelope.is_some();
    Sheet {
        seq: record.seq,
        is_answered,
        budget,
        receipt,
        envelope: if is_answered { envelope } else { Document::default() },
        links,
        receipt_chars: chars(&receipt_text),
        envelope_chars: chars(&envelope_text),
        whole_chars,
        receipt_text,
        envelope_text,
    }
}

/// The next smaller budget, of two digits that count.
pub(in crate::console) fn less(chars: u64) -> u64 {
    let next = chars * 4 / 5;
    (next - next % grain(next)).max(LEAST)
}

/// The next larger budget, none when it takes the whole.
pub(in crate::console) fn more(chars: u64, whole: u64) -> Option<u64> {
    let next = chars.saturating_mul(5).div_ceil(4);
    let next = next.next_multiple_of(grain(next));
    Some(next).filter(|next| *next < whole)
}

fn grain(chars: u64) -> u64 {
    10_u64.pow(chars.max(1).ilog10().saturating_sub(1))
}

/// Both texts of an answer.
struct Sent {
    receipt: String,
    envelope: Value,
}

impl Sent {
    /// None when it is no envelope of this version.
    fn within(&self, budget: u64) -> Option<Self> {
        let envelope = Envelope::deserialize(&self.envelope).ok()?;
        let shorter = compact(&envelope, usize::try_from(budget).unwrap_or(usize::MAX));
        Some(Self { receipt: tools::render(&shorter).into(), envelope: shorter.to_value() })
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
        (receipt, envelope, links(&shown, &self.receipt))
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

#[cfg(test)]
mod tests {
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
}

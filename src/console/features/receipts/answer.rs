//! Both texts of an answer, as sent or compacted to a budget; what the budget removed is marked line by line.

use serde::Deserialize as _;
use serde_json::Value;

use crate::console::features::receipts::links::{LineLink, links};
use crate::console::text::document::ValueMarks;
use crate::console::text::{StyledPiece, WrappedText, count, piece, tokens};
use crate::console::theme::{Glyphs, Role};
use crate::envelope::{Envelope, compact};
use crate::model::CallRecord;
use crate::tools;
use crate::tools::{ReceiptSource, RenderedReceipt};

/// Both texts of an answer, and which of their lines correspond.
pub(super) struct AnswerTexts {
    pub(super) receipt: String,
    pub(super) envelope: Value,
    pub(super) sources: Vec<ReceiptSource>,
}

impl AnswerTexts {
    /// Returns the texts on record. The sources come from rendering the same envelope again, kept only where
    /// its lines are still those that were sent.
    pub(super) fn of(record: &CallRecord) -> Self {
        let receipt = record.receipt.clone().unwrap_or_default();
        let envelope = record.envelope.clone().unwrap_or(Value::Null);
        let again = Envelope::deserialize(&envelope).map(|envelope| tools::render_with_sources(&envelope));
        let RenderedReceipt { text, mut sources } = again.unwrap_or_default();
        let (sent, again): (Vec<_>, Vec<_>) = (receipt.split('\n').collect(), text.split('\n').collect());
        sources.retain(|source| sent.get(source.lines.clone()) == again.get(source.lines.clone()));
        Self { receipt, envelope, sources }
    }

    /// Returns the texts compacted to a budget, or `None` if this is not an envelope of this version.
    pub(super) fn within(&self, budget: u64) -> Option<Self> {
        let envelope = Envelope::deserialize(&self.envelope).ok()?;
        let shorter = compact(&envelope, usize::try_from(budget).unwrap_or(usize::MAX));
        let RenderedReceipt { text, sources } = tools::render_with_sources(&shorter);
        Some(Self { receipt: text.into(), envelope: shorter.to_value(), sources })
    }

    /// Tells whether neither text became longer: the note that something was left out takes room too.
    pub(super) fn is_within(&self, whole: &Self) -> bool {
        let sizes = |sent: &Self| (chars(&sent.receipt), chars(&sent.envelope.to_string()));
        let (now, before) = (sizes(self), sizes(whole));
        now.0 <= before.0 && now.1 <= before.1
    }

    /// Lays out both texts with their sizes, with a mark at each field of the envelope.
    pub(super) fn beside(&self, whole: &Self, glyphs: Glyphs) -> (WrappedText, WrappedText, Vec<LineLink>) {
        let marks = ValueMarks {
            kept: glyphs.states[4],
            cut: glyphs.states[7],
            gone: glyphs.states[5],
            whole: &whole.envelope,
        };
        let mut receipt = WrappedText::plain(&self.receipt);
        receipt.head(vec![sizes(chars(&self.receipt), chars(&whole.receipt)), Vec::new()]);
        let mut shown = self.envelope.clone();
        let had_details = whole.envelope.pointer("/error/details").is_some();
        if let Some(error) = shown["error"].as_object_mut().filter(|_| had_details) {
            // Omitted from the envelope altogether: listed here to carry its mark.
            error.entry("details").or_insert(Value::Null);
        }
        let mut envelope = WrappedText::marked(&shown, &marks);
        let (now, before) = (chars(&self.envelope.to_string()), chars(&whole.envelope.to_string()));
        envelope.head(vec![sizes(now, before), legend(&marks), Vec::new()]);
        (receipt, envelope, links(&shown, &self.sources))
    }
}

fn sizes(now: u64, before: u64) -> Vec<StyledPiece> {
    let text = format!(
        "{} of {} chars, ~{} of ~{} tokens",
        count(now),
        count(before),
        count(tokens(now)),
        count(tokens(before))
    );
    vec![piece(text, Role::Strong)]
}

fn legend(marks: &ValueMarks<'_>) -> Vec<StyledPiece> {
    let ValueMarks { kept, cut, gone, .. } = marks;
    vec![piece(format!("{kept} kept  {cut} cut  {gone} left out"), Role::Faint)]
}

pub(super) fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            notices: Vec::new(),
            duration_ms: None,
        };
        let pointers: Vec<String> =
            AnswerTexts::of(&record).sources.into_iter().map(|source| source.pointer).collect();
        assert_eq!(pointers, ["/result/stdout_preview"]);
    }
}

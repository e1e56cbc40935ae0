//! Both texts of an answer, as sent or compacted to a budget; what the budget removed is marked line by line.

use serde::Deserialize as _;
use serde_json::Value;

use crate::console::features::receipts::links::{LineLink, links};
use crate::console::state::only_answers;
use crate::console::text::document::ValueMarks;
use crate::console::text::{StyledPiece, WrappedText, count, piece, tokens};
use crate::console::theme::{Glyphs, Role};
use crate::envelope::{Envelope, compact};
use crate::model::CallRecord;
use crate::tools::{self, ReceiptSource, RenderedReceipt};

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

    /// Lays out the receipt. What it says of the items of a batch that failed is marked, but not what they printed.
    pub(super) fn receipt_lines(&self) -> WrappedText {
        let is_failed = |source: &&ReceiptSource| {
            let Some((at, field)) = source.pointer.strip_prefix("/result/items/").map(|rest| {
                let (at, field) = rest.split_once('/').unwrap_or((rest, ""));
                (at, field.split('/').next().unwrap_or_default())
            }) else {
                return false;
            };
            self.envelope.pointer(&format!("/result/items/{at}")).is_some_and(is_troubled)
                && !matches!(field, "stdout_preview" | "stderr_preview" | "artifacts")
        };
        let failed: Vec<_> =
            self.sources.iter().filter(is_failed).map(|source| source.lines.clone()).collect();
        let role = |line: usize| match failed.iter().any(|lines| lines.contains(&line)) {
            true => Role::Failed,
            false => Role::Text,
        };
        WrappedText::with_roles(&self.receipt, role)
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
        let mut receipt = self.receipt_lines();
        receipt.head(vec![sizes(chars(&self.receipt), chars(&whole.receipt)), Vec::new()]);
        let mut shown = self.envelope.clone();
        let had_details = whole.envelope.pointer("/error/details").is_some();
        if let Some(error) = shown["error"].as_object_mut().filter(|_| had_details) {
            // Omitted from the envelope altogether: listed here to carry its mark.
            error.entry("details").or_insert(Value::Null);
        }
        let mut envelope = WrappedText::marked_json(&shown, &marks);
        let (now, before) = (chars(&self.envelope.to_string()), chars(&whole.envelope.to_string()));
        envelope.head(vec![sizes(now, before), legend(&marks), Vec::new()]);
        (receipt, envelope, links(&shown, &self.sources))
    }
}

/// Tells whether an item of a batch failed, or was refused; not if it only says *no*, as `grep` does.
fn is_troubled(item: &Value) -> bool {
    let is = |key: &str, value: Value| item.get(key) == Some(&value);
    let cmd = item.get("cmd").and_then(Value::as_str).unwrap_or_default();
    let says_no = is("exit_status", 1.into())
        && is("stderr_preview", Value::Null)
        && is("timed_out", false.into())
        && only_answers(cmd);
    is("status", "rejected".into()) || is("status", "failed".into()) && !says_no
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
    fn the_lines_about_a_failed_item_are_marked_and_its_output_is_not() {
        let item = |index: u64, status: &str, exit: u64, printed: &str| {
            json!({
                "index": index, "cmd": format!("do {index}"), "status": status, "exit_status": exit,
                "stdout_preview": printed, "stderr_preview": null, "truncated": false, "timed_out": false,
                "duration_ms": 1, "error": null,
            })
        };
        let result = json!({
            "item_count": 2, "completed_count": 1, "failed_count": 1, "rejected_count": 0, "skipped_count": 0,
            "stop_on_error": false, "items": [item(1, "completed", 0, "a\n"), item(2, "failed", 3, "b\n")],
        });
        let envelope = Envelope::success("ExecCommandBatch", "x", &result);
        let RenderedReceipt { text, sources } = tools::render_with_sources(&envelope);
        let texts = AnswerTexts { receipt: text.into(), envelope: envelope.to_value(), sources };
        let mut lines = texts.receipt_lines();
        lines.wrap(80);
        let failed = lines.rows().iter().flatten().filter(|piece| piece.role == Role::Failed);
        let failed: Vec<&str> = failed.map(|piece| piece.text.as_str()).collect();
        assert_eq!(failed, ["[2] exit=3", "[2] do 2"]);
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
            notices: Vec::new(),
            duration_ms: None,
            native: None,
        };
        let pointers: Vec<String> =
            AnswerTexts::of(&record).sources.into_iter().map(|source| source.pointer).collect();
        assert_eq!(pointers, ["/result/stdout_preview"]);
    }
}

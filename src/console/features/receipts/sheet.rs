//! The texts of a call, as sent or compacted to a budget, and which lines of receipt and envelope correspond.
//! What the budget removed is marked line by line.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize as _;
use serde_json::Value;

use crate::console::state::Column;
use crate::console::text::document::ValueMarks;
use crate::console::text::json::lines_below;
use crate::console::text::reading::ReaderText;
use crate::console::text::{StyledPiece, WrappedText, count, piece, tokens};
use crate::console::theme::{Glyphs, Role};
use crate::envelope::{Envelope, compact};
use crate::model::CallRecord;
use crate::tools;
use crate::tools::{ReceiptSource, RenderedReceipt};

/// The smallest budget that can be set.
const LEAST: u64 = 50;

/// A call's texts, wrapped for the areas they are shown in.
#[derive(Debug, Clone)]
pub struct CallSheet {
    /// The call.
    pub seq: u64,
    /// Whether the call was answered.
    pub is_answered: bool,
    /// The budget of the texts, if limited.
    pub budget: Option<u64>,
    /// The receipt.
    pub receipt: ReaderText,
    /// The envelope.
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
        let (link, other) = (self.counterparts(column, row).next()?, column.other());
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
    let shorter = budget.and_then(|budget| whole.within(budget)).filter(|shorter| shorter.is_within(&whole));
    let (receipt, envelope, links) = match &shorter {
        None => (
            WrappedText::plain(&whole.receipt),
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

/// Returns the next smaller budget, rounded to two significant digits.
pub(crate) fn less(chars: u64) -> u64 {
    let next = chars * 4 / 5;
    (next - next % grain(next)).max(LEAST)
}

/// Returns the largest budget below this many characters that makes the texts shorter, if there is one.
pub(crate) fn next_less(record: &CallRecord, chars: u64) -> Option<u64> {
    let whole = AnswerTexts::of(record);
    let shortens = |budget: &u64| whole.within(*budget).is_some_and(|shorter| shorter.is_within(&whole));
    let mut budget = chars;
    std::iter::from_fn(|| {
        let next = less(budget);
        (next < std::mem::replace(&mut budget, next)).then_some(next)
    })
    .find(shortens)
}

/// Returns the next larger budget, or none if the whole fits.
pub(crate) fn more(chars: u64, whole: u64) -> Option<u64> {
    let next = chars.saturating_mul(5).div_ceil(4);
    let next = next.next_multiple_of(grain(next));
    Some(next).filter(|next| *next < whole)
}

fn grain(chars: u64) -> u64 {
    10_u64.pow(chars.max(1).ilog10().saturating_sub(1))
}

/// Both texts of an answer, and which of their lines correspond.
struct AnswerTexts {
    receipt: String,
    envelope: Value,
    sources: Vec<ReceiptSource>,
}

impl AnswerTexts {
    /// Returns the texts on record. The sources come from rendering the same envelope again, kept only where
    /// its lines are still those that were sent.
    fn of(record: &CallRecord) -> Self {
        let receipt = record.receipt.clone().unwrap_or_default();
        let envelope = record.envelope.clone().unwrap_or(Value::Null);
        let again = Envelope::deserialize(&envelope).map(|envelope| tools::render_with_sources(&envelope));
        let RenderedReceipt { text, mut sources } = again.unwrap_or_default();
        let (sent, again): (Vec<_>, Vec<_>) = (receipt.split('\n').collect(), text.split('\n').collect());
        sources.retain(|source| sent.get(source.lines.clone()) == again.get(source.lines.clone()));
        Self { receipt, envelope, sources }
    }

    /// Returns the texts compacted to a budget, or `None` if this is not an envelope of this version.
    fn within(&self, budget: u64) -> Option<Self> {
        let envelope = Envelope::deserialize(&self.envelope).ok()?;
        let shorter = compact(&envelope, usize::try_from(budget).unwrap_or(usize::MAX));
        let RenderedReceipt { text, sources } = tools::render_with_sources(&shorter);
        Some(Self { receipt: text.into(), envelope: shorter.to_value(), sources })
    }

    /// Tells whether neither text became longer: the note that something was left out takes room too.
    fn is_within(&self, whole: &Self) -> bool {
        let sizes = |sent: &Self| (chars(&sent.receipt), chars(&sent.envelope.to_string()));
        let (now, before) = (sizes(self), sizes(whole));
        now.0 <= before.0 && now.1 <= before.1
    }

    /// Lays out both texts with their sizes, with a mark at each field of the envelope.
    fn beside(&self, whole: &Self, glyphs: Glyphs) -> (WrappedText, WrappedText, Vec<LineLink>) {
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

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Lines of an envelope and of its receipt that correspond, each counted from the first line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLink {
    /// Lines of the envelope, as laid out.
    pub envelope: Range<usize>,
    /// Lines of the receipt.
    pub receipt: Range<usize>,
    /// The number of the batch item they concern, from 1.
    pub item: Option<u64>,
}

impl LineLink {
    /// Returns the lines of the text in a column.
    pub fn lines(&self, column: Column) -> &Range<usize> {
        if column == Column::Envelope { &self.envelope } else { &self.receipt }
    }
}

/// Returns which lines of an envelope, as laid out, correspond to which lines of its receipt.
pub(in crate::console) fn links(envelope: &Value, sources: &[ReceiptSource]) -> Vec<LineLink> {
    let mut places = BTreeMap::new();
    lay_out(&mut places, envelope, String::new(), 0);
    let link = |source: &ReceiptSource| {
        let place = places.get(&source.pointer)?;
        let item = source.pointer.strip_prefix("/result/items/").and_then(|rest| rest.split('/').next());
        let number = item.and_then(|at| envelope.pointer(&format!("/result/items/{at}/index"))?.as_u64());
        // An item's fields span many lines, each with a link of its own, so the item itself is represented by
        // its first line.
        let is_item = item.is_some_and(|at| source.pointer.ends_with(&format!("/items/{at}")));
        let end = if is_item { place.start + 1 } else { place.end };
        Some(LineLink { envelope: place.start..end, receipt: source.lines.clone(), item: number })
    };
    sources.iter().filter_map(link).collect()
}

/// Records the lines of each value by its JSON pointer; returns the line after it.
fn lay_out(places: &mut BTreeMap<String, Range<usize>>, value: &Value, path: String, line: usize) -> usize {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, field)| (format!("{path}/{key}"), field)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, i)| (format!("{path}/{at}"), i)).collect(),
        _ => Vec::new(),
    };
    let brackets = usize::from(!inside.is_empty()) + value.as_str().map_or(0, lines_below);
    let after = inside.into_iter().fold(line + 1, |line, (path, value)| lay_out(places, value, path, line));
    places.insert(path, line..after + brackets);
    after + brackets
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
            notices: Vec::new(),
            duration_ms: None,
        };
        let pointers: Vec<String> =
            AnswerTexts::of(&record).sources.into_iter().map(|source| source.pointer).collect();
        assert_eq!(pointers, ["/result/stdout_preview"]);
    }

    /// Returns each link as the first line of either text.
    fn told(tool: &str, result: &Value) -> Vec<String> {
        let envelope = json!({"tool_name": tool, "status": "success", "summary_text": "x", "result": result, "error": null});
        told_of(&envelope)
    }

    fn told_of(envelope: &Value) -> Vec<String> {
        let read = Envelope::deserialize(envelope).expect("an envelope");
        let RenderedReceipt { text, sources } = tools::render_with_sources(&read);
        let laid_out = crate::console::text::json::text(envelope);
        let fields: Vec<&str> = laid_out.split('\n').map(|line| line.trim().trim_end_matches(',')).collect();
        let lines: Vec<&str> = text.split('\n').collect();
        let say = |link: &LineLink| {
            let lines = lines[link.receipt.clone()].join("|");
            format!("{} = {lines}", fields[link.envelope.start])
        };
        links(envelope, &sources).iter().map(say).collect()
    }

    #[test]
    fn a_command_that_ended_says_its_status_and_output() {
        let result = json!({
            "disposition": "completed", "exit_status": 3, "signal": null, "stdout_preview": "a\n\nstderr:\n",
            "stderr_preview": "b\n", "truncated": true, "duration_ms": 5, "artifacts": [{"path": "/x/stdout.log"}],
        });
        assert_eq!(
            told("ExecCommand", &result),
            [
                "\"exit_status\": 3 = Process exited with code 3",
                "\"stdout_preview\": | = stdout:|a||stderr:",
                "\"stderr_preview\": \"b\\n\" = stderr:|b",
                "{ = /x/stdout.log",
            ]
        );
    }

    fn item(index: u64, cmd: &str, status: &str, rest: &Value) -> Value {
        let mut item = json!({
            "index": index, "cmd": cmd, "status": status, "exit_status": null, "stdout_preview": null,
            "stderr_preview": null, "truncated": false, "timed_out": false, "duration_ms": 1, "error": null,
        });
        let rest = rest.as_object().cloned().unwrap_or_default();
        item.as_object_mut().expect("an object").extend(rest);
        item
    }

    fn batch(completed: usize, items: &[Value]) -> Value {
        json!({
            "item_count": items.len(), "completed_count": completed, "failed_count": 0, "rejected_count": 0,
            "skipped_count": 0, "stop_on_error": false, "items": items,
        })
    }

    #[test]
    fn the_items_of_a_batch_are_linked_one_by_one() {
        let printed = json!({"exit_status": 0, "stdout_preview": "[2] no\n\n[2] nor this\n"});
        let items = [
            item(1, "cat notes", "completed", &printed),
            item(
                2,
                "python -i",
                "rejected",
                &json!({"error": {"kind": "unsupported", "message": "It is not."}}),
            ),
            item(3, "true", "skipped", &json!({"reason": "stop_on_error"})),
        ];
        let expected = [
            "\"completed_count\": 1 = ExecCommandBatch completed 1/3 items",
            "\"item_count\": 3 = ExecCommandBatch completed 1/3 items",
            "\"exit_status\": 0 = [1] exit=0 cat notes",
            "\"kind\": \"unsupported\" = [2] rejected=unsupported python -i",
            "\"reason\": \"stop_on_error\" = [3] skipped=stop_on_error true",
            "{ = [3] skipped=stop_on_error true",
            "\"index\": 3 = [3] skipped=stop_on_error true",
            "\"cmd\": \"true\" = [3] skipped=stop_on_error true",
            "{ = [1] cat notes",
            "\"index\": 1 = [1] cat notes",
            "\"cmd\": \"cat notes\" = [1] cat notes",
            "\"stdout_preview\": | = stdout:|[2] no||[2] nor this",
            "{ = [2] python -i",
            "\"index\": 2 = [2] python -i",
            "\"cmd\": \"python -i\" = [2] python -i",
            "\"message\": \"It is not.\" = It is not.",
        ];
        assert_eq!(told("ExecCommandBatch", &batch(1, &items)), expected);
    }

    #[test]
    fn output_that_looks_like_the_next_item_is_still_linked_to_its_own() {
        let long = format!("long\n\n[2] b\n{}", "long\n".repeat(20_000));
        let items = [
            item(1, "a", "completed", &json!({"exit_status": 0, "stdout_preview": long})),
            item(2, "b", "completed", &json!({"exit_status": 0})),
        ];
        let links = told("ExecCommandBatch", &batch(2, &items));
        assert!(links.iter().any(|link| link.contains("= stdout:|long||[2] b|long|")), "{}", links.len());
        assert_eq!(
            links.iter().filter(|link| link.ends_with("= [2] exit=0 b")).count(),
            4,
            "the item, its number, command and end"
        );
    }

    #[test]
    fn an_error_says_its_kind_and_hint() {
        let error = json!({"kind": "task_not_found", "message": "No such.", "retryable": false, "recovery_hint": "Look."});
        let envelope = json!({
            "tool_name": "TaskStop", "status": "error", "summary_text": "No such.", "result": null, "error": error,
        });
        assert_eq!(
            told_of(&envelope),
            [
                "\"message\": \"No such.\" = TaskStop failed: No such.",
                "\"kind\": \"task_not_found\" = kind=task_not_found retryable=false",
                "\"retryable\": false = kind=task_not_found retryable=false",
                "\"recovery_hint\": \"Look.\" = hint: Look.",
            ]
        );
    }
}

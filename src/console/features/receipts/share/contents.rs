//! What is shared of a call: its command and how that ended, receipt and envelope, and what of the output the model
//! saw. Secrets are masked in all of it, and what does not print is named.

use std::sync::Arc;

use serde_json::Value;

use crate::console::features::receipts::covered_lines::CoveredLines;
use crate::console::state::{State, actor_name, call_rows};
use crate::console::text::{WrappedText, count, millis, tokens, visible};
use crate::envelope::{mask, mask_strings};
use crate::model::phrases::{exit_word, receipt_reader};
use crate::model::{CallRecord, TaskView};

/// The most commands of a batch that are named.
const MOST_COMMANDS: usize = 50;

/// A call as others may read it.
#[derive(Debug, Clone)]
pub(super) struct SharedCall {
    /// Its command, on one line.
    pub(super) title: String,
    /// Its commands, or what else it asked for.
    pub(super) commands: Vec<String>,
    /// The names and values of what is known of it.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) receipt: WrappedText,
    /// Who was given it.
    pub(super) reader: &'static str,
    /// The size of the receipt: `233 chars, ~59 tokens`.
    pub(super) receipt_size: String,
    pub(super) envelope: WrappedText,
    pub(super) envelope_size: String,
    pub(super) seen: WrappedText,
    /// How much of the output was seen.
    pub(super) seen_size: String,
}

impl SharedCall {
    /// Returns what is shared of a call; `seen` is the output and what of it was shown, or why that is not known.
    pub(super) fn of(state: &State, record: &CallRecord, seen: Result<CoveredLines, &str>) -> Self {
        let receipt = record.receipt.as_deref().unwrap_or_default();
        let mut envelope = record.envelope.clone().unwrap_or(Value::Null);
        let sizes = [receipt.to_owned(), envelope.to_string()].map(|text| size(&text));
        let [receipt_size, envelope_size] = sizes;
        mask_strings(&mut envelope);
        let (seen, seen_size) = match seen {
            Ok(lines) => (lines.folded_text(state.setup.theme.glyphs), lines.facts()),
            Err(why) => (WrappedText::default(), why.to_owned()),
        };
        let commands = commands(state, record);
        let more =
            if commands.len() > 1 { format!(" and {} more", commands.len() - 1) } else { String::new() };
        let first = commands.first().cloned().unwrap_or_else(|| record.tool.clone());
        Self {
            title: format!("{first}{more}"),
            facts: facts(state, record),
            commands,
            receipt: WrappedText::plain(&mask(receipt)),
            reader: receipt_reader(&record.tool, record.native.as_ref()),
            receipt_size,
            envelope: WrappedText::json(&envelope),
            envelope_size,
            seen,
            seen_size,
        }
    }
}

fn size(text: &str) -> String {
    let chars = text.chars().count() as u64;
    format!("{} chars, ~{} tokens", count(chars), count(tokens(chars)))
}

/// Returns the task that a call is about, if it is still listed.
fn task_of<'a>(state: &'a State, record: &CallRecord) -> Option<&'a Arc<TaskView>> {
    let call = state.view.newest_calls().find(|call| call.seq == record.seq)?;
    call_rows::task_of(&state.view, call)
}

/// Returns the commands that a call asked to run; of others, its input.
fn commands(state: &State, record: &CallRecord) -> Vec<String> {
    let cmd = |value: &Value| value.get("cmd").and_then(Value::as_str).map(visible::masked_line);
    if let Some(items) = record.input.get("items").and_then(Value::as_array) {
        let more = items.len().saturating_sub(MOST_COMMANDS);
        let more = (more > 0).then(|| format!("and {more} more"));
        return items.iter().take(MOST_COMMANDS).filter_map(cmd).chain(more).collect();
    }
    let of_task = || Some(visible::masked_line(&task_of(state, record)?.cmd));
    let mut input = record.input.clone();
    mask_strings(&mut input);
    let input = || visible::one_line(&input.to_string()).into_owned();
    vec![cmd(&record.input).or_else(of_task).unwrap_or_else(input)]
}

fn facts(state: &State, record: &CallRecord) -> Vec<(&'static str, String)> {
    let at =
        record.at.to_zoned_datetime(state.setup.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
    let took = record.duration_ms.map(|ms| ("duration", millis(ms)));
    let place = state.view.snapshot.workspace.file_name().map(|name| name.to_string_lossy().into_owned());
    let first = [("result", outcome(state, record)), ("agent", actor_name(&record.actor))];
    let last = [("date", at), ("call", format!("{} {}", state.call_name(record.seq), record.tool))];
    let all = first.into_iter().chain(took).chain(last).chain(place.map(|place| ("workspace", place)));
    all.map(|(name, value)| (name, visible::masked_line(&value))).collect()
}

/// Returns how the command of a call ended, or what became of the call.
fn outcome(state: &State, record: &CallRecord) -> String {
    let envelope = record.envelope.as_ref();
    let at = |path: &str| envelope.and_then(|envelope| envelope.pointer(path));
    let text = |path: &str| at(path).and_then(Value::as_str).map(str::to_owned);
    if let Some(kind) = text("/error/kind") {
        return format!("refused: {}", kind.replace('_', " "));
    }
    let status = at("/result/exit_status").and_then(Value::as_i64);
    if let Some(exit) = exit_word(status, text("/result/signal").as_deref()) {
        return exit;
    }
    if let (Some(done), Some(all)) = (at("/result/completed_count"), at("/result/item_count")) {
        return format!("{done} of {all} commands completed");
    }
    match task_of(state, record) {
        Some(task) => task.word().into_owned(),
        None => "answered".to_owned(),
    }
}

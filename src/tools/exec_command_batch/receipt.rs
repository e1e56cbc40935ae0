//! The receipt of a batch: the summary, how each item ended on a line of its own, then the items' output. A reader
//! who stops after the first lines knows all outcomes. Room for output is divided among the items.

use std::collections::HashMap;

use serde::Deserialize as _;
use serde_json::Value;

use super::result::{BatchResult, ItemError, ItemResult, ItemStatus, SkipReason};
use crate::envelope::preview::ReadOn;
use crate::envelope::units::{amount, exact};
use crate::envelope::{SafeText, mask};
use crate::model::UnendedProcesses;
use crate::tools::budget::Room;
use crate::tools::receipt::{LEFT_OUT, Receipt, ReceiptBlock, ReceiptLine, fit_output, safe_line};
use crate::tools::task::{self, Notes};

/// The maximum length of a command, in characters: its caller knows it. Only its first line is shown.
const CMD_CHARS: usize = 40;
/// The maximum length of the message for an item that could not be run, in characters.
const MESSAGE_CHARS: usize = 300;
/// The maximum length of the line about how to read the rest, in characters.
const READ_ON_CHARS: usize = 60;
/// The maximum length of the line about bytes that were not kept, in characters.
const DROPPED_CHARS: usize = 80;

pub(super) fn receipt(result: &BatchResult) -> Receipt {
    let blocks = result.items.iter().enumerate().map(block);
    blocks.fold(results(result), Receipt::push).block(omission_line(result))
}

/// Starts a receipt with the summary and the results of all items.
fn results(result: &BatchResult) -> Receipt {
    let outcome = ReceiptLine::new(result.summary()).from(["completed_count", "item_count"]);
    let line = |(at, item): (usize, &ItemResult)| {
        let (end, fields) = ending(item, result.batch_deadline_ms);
        // If an item has a block of its own, its command is shown there.
        let has_block = !block((at, item)).is_empty();
        let whole = ["", "index", "cmd"].into_iter().filter(|_| !has_block);
        let fields = fields.into_iter().chain(whole);
        let fields = fields.map(|field| format!("items/{at}/{field}").trim_end_matches('/').to_owned());
        let cmd = if has_block { String::new() } else { format!(" {}", echo(&item.cmd)) };
        ReceiptLine::exact(format!("[{}] {end}{cmd}", item.index)).from(fields)
    };
    Receipt::new(outcome).lines(result.items.iter().enumerate().map(line))
}

fn omission_line(result: &BatchResult) -> Option<String> {
    (result.items_omitted > 0).then(|| format!("({} more items left out)", result.items_omitted))
}

/// What a receipt shows of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentItem {
    /// Its number, from 1.
    pub index: usize,
    /// Its command as shown in the receipt.
    pub cmd: String,
    /// Whether its shell was started.
    pub has_run: bool,
    /// The part of its standard output that was sent; `None` if blank.
    pub stdout: Option<String>,
    /// The part of its standard error that was sent; `None` if blank.
    pub stderr: Option<String>,
    /// Whether something in the middle may have been left out.
    pub is_cut: bool,
}

/// Returns what the receipt shows of each item of a batch, given its result; `None` if that is not the result of a
/// batch.
pub fn sent_of_batch(result: &Value) -> Option<Vec<SentItem>> {
    let mut result = BatchResult::deserialize(result).ok()?;
    fit(&mut result);
    let sent = |preview: &Option<String>| {
        let text = preview.as_deref().filter(|text| !text.trim().is_empty())?;
        Some(SafeText::lines(text).trim_end_matches('\n').to_owned())
    };
    let item = |item: &ItemResult| SentItem {
        index: item.index,
        cmd: echo(&item.cmd),
        has_run: item.duration_ms.is_some(),
        stdout: sent(&item.stdout_preview),
        stderr: sent(&item.stderr_preview),
        is_cut: item.truncated,
    };
    Some(result.items.iter().map(item).collect())
}

/// Returns the room of each stream in a receipt limited to `room`, by JSON pointer, reserving space for how to read
/// the rest.
pub(super) fn rooms_beside(result: &BatchResult, room: Room) -> HashMap<String, Room> {
    let rest = [READ_ON_CHARS, DROPPED_CHARS].map(|chars| ReceiptLine::exact(" ".repeat(chars)));
    let with_rest = |(at, item): (usize, &ItemResult)| {
        let has_output = [&item.stdout_preview, &item.stderr_preview]
            .into_iter()
            .flatten()
            .any(|text| !text.trim().is_empty());
        let bare = ItemResult { output_id: None, artifacts: Vec::new(), dropped_bytes: 0, ..item.clone() };
        block((at, &bare)).lines(if has_output { rest.to_vec() } else { Vec::new() })
    };
    let blocks = result.items.iter().enumerate().map(with_rest);
    blocks.fold(results(result), Receipt::push).rooms(room)
}

/// Returns the JSON pointer of an item of the result.
pub(super) fn pointer(at: usize) -> String {
    format!("/result/items/{at}")
}

/// Truncates what does not fit in the receipt and sets `truncated`: an answer's flags must be true in all its forms.
pub(super) fn fit(result: &mut BatchResult) {
    let rooms = receipt(result).rooms(Room::default());
    for (at, item) in result.items.iter_mut().enumerate() {
        let pointer = pointer(at);
        for (field, preview) in
            [("stdout_preview", &mut item.stdout_preview), ("stderr_preview", &mut item.stderr_preview)]
        {
            let room = rooms.get(&format!("{pointer}/{field}")).copied().unwrap_or_default();
            let text = preview.as_deref().unwrap_or_default().trim_end_matches('\n');
            if room.excess(&SafeText::lines(text)).is_some() {
                let stream = field.trim_end_matches("_preview");
                let with = item.output_id.as_ref().map(|id| format!("{id} stream={stream}"));
                let read_on = ReadOn { with, from_line: None };
                *preview = Some(fit_output(text, room, &read_on)).filter(|cut| !cut.trim().is_empty());
                item.truncated = true;
            }
        }
    }
}

/// Builds an item's block, if there is more to show than how it ended: the reason, its output, and the files.
fn block((at, item): (usize, &ItemResult)) -> ReceiptBlock {
    let is_left_out = item.truncated && item.stdout_preview.is_none() && item.stderr_preview.is_none();
    let left_over = item.leftover_processes.as_ref();
    let read_on = item.output_id.as_ref().filter(|_| item.truncated);
    let read_on = read_on.map(|id| format!("read on: TaskOutput {id} lines|match"));
    let line = |text: &str| ReceiptLine::exact(safe_line(text, MESSAGE_CHARS));
    let message = item.error.as_ref().map(|error| match &error.recovery_hint {
        Some(hint) => {
            line(&format!("{} Hint: {hint}.", error.message)).from(["error/message", "error/recovery_hint"])
        }
        None => line(&error.message).from(["error/message"]),
    });
    ReceiptBlock::about(pointer(at))
        .lines(message)
        .lines(is_left_out.then(|| format!("output: {LEFT_OUT}")))
        .lines(left_over.map(|left| line(&left.sentence())))
        .output("stdout", "stdout_preview", item.stdout_preview.as_deref())
        .output("stderr", "stderr_preview", item.stderr_preview.as_deref())
        .artifacts("artifacts:", "", if item.output_id.is_some() { &[] } else { &item.artifacts })
        .lines(task::dropped_line(item.dropped_bytes))
        .lines(read_on.map(ReceiptLine::exact))
        .with_heading(
            ReceiptLine::exact(format!("[{}] {}", item.index, echo(&item.cmd))).from(["", "index", "cmd"]),
        )
}

/// Describes how an item ended: `exit=1`, `skipped=batch_deadline (limit 110 s)`. Also returns the names of the
/// fields this is based on.
fn ending(item: &ItemResult, deadline_ms: Option<u64>) -> (String, Vec<&'static str>) {
    let line = |text: &str| safe_line(text, MESSAGE_CHARS);
    let unended = || UnendedProcesses::phrase(&item.unended_processes);
    if let Some(ItemError { kind, .. }) = &item.error {
        let word = if item.status == ItemStatus::Rejected { "rejected" } else { "failed" };
        let unended = unended().map(|phrase| format!(" ({phrase})")).unwrap_or_default();
        return (line(&format!("{word}={kind}{unended}")), vec!["error/kind"]);
    }
    if let Some(reason) = item.reason {
        let limit = deadline_ms.filter(|_| reason == SkipReason::BatchDeadline);
        let limit = limit.map(|ms| format!("limit {}", exact(ms)));
        let why: Vec<String> = limit.into_iter().chain(item.end_reason.clone()).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        return (line(&format!("skipped={reason}{why}")), vec!["reason"]);
    }
    let (end, field) = match (item.exit_status, &item.signal) {
        (Some(status), _) => (format!("exit={status}"), Some("exit_status")),
        (None, Some(signal)) => (format!("killed={signal}"), Some("signal")),
        (None, None) => ("failed=internal_error".to_owned(), None),
    };
    let notes = Notes {
        timed_out: item.timed_out,
        stopped_by: item.stopped_by.clone(),
        end_reason: item.end_reason.clone(),
        unended_processes: item.unended_processes.clone(),
        ..Notes::default()
    };
    let why: Vec<String> = item.end_reason.clone().into_iter().chain(unended()).collect();
    let end = if why.is_empty() { end } else { format!("{end} ({})", why.join(", ")) };
    (line(&end), field.into_iter().chain(notes.cause_fields()).collect())
}

/// Shows a command on one line. Secrets are masked before it is shortened.
fn echo(cmd: &str) -> String {
    let cmd = mask(cmd.trim());
    let mut lines = cmd.lines();
    let first = lines.next().unwrap_or("(blank)").trim_end();
    let more = lines.count();
    let first = SafeText::lines(first).replace('\t', " ");
    let shown: String = first.chars().take(CMD_CHARS).collect();
    match (more, first.chars().count() > CMD_CHARS) {
        (0, false) => shown,
        (0, true) => format!("{shown} …"),
        (more, _) => format!("{shown} …(+{})", amount(more as u64, "line")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_in_safe_line() {
        let long = "x".repeat(41);
        let cases = [
            ("git status --short", "git status --short".to_owned()),
            (" ls \n", "ls".to_owned()),
            ("cat <<E\na\nE", "cat <<E …(+2 lines)".to_owned()),
            ("a\tb  c", "a b  c".to_owned()),
            (&long, format!("{} …", "x".repeat(40))),
            (&format!("{long}\ny"), format!("{} …(+1 line)", "x".repeat(40))),
            ("\n ", "(blank)".to_owned()),
        ];
        for (cmd, shown) in cases {
            assert_eq!(echo(cmd), shown);
        }
    }

    #[test]
    fn secrets_of_a_command_are_hidden_before_it_is_cut() {
        let long = format!("API_TOKEN=topsecret ./deploy {}", "--verbose ".repeat(20));
        for cmd in [&long, "login --password hunter2", "curl https://ada:hunter2@example.org/x"] {
            let shown = echo(cmd);
            assert!(!shown.contains("topsecret") && !shown.contains("hunter2"), "{shown}");
        }
        assert!(echo(&long).ends_with(" …") && echo(&long).chars().count() <= CMD_CHARS + 2);
    }
}

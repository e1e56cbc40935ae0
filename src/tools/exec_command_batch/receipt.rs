//! The receipt of a batch: the summary, then a block for each item. Room for output is divided among the items,
//! so that each shows where it begins and how it ended, whatever the others printed.

use serde::Deserialize as _;
use serde_json::Value;

use super::super::receipt::{
    LEFT_OUT, RECEIPT_CHARS, Receipt, fit_output, safe_chars, safe_line, safe_output,
};
use super::super::task::{self, Failure};
use super::result::{BatchResult, ItemResult, ItemStatus};
use crate::envelope::{SafeText, mask, preview};

/// Longest command shown; of several lines only the first is.
const CMD_CHARS: usize = 120;
/// Longest message shown of an item that could not be run.
const MESSAGE_CHARS: usize = 300;
/// A longer path is not offered: cut, it would name nothing.
const PATH_CHARS: usize = 1_000;
/// Longest line that tells of bytes kept nowhere.
const DROPPED_CHARS: usize = 80;

/// Makes the receipt.
pub(super) fn receipt(result: &BatchResult) -> Receipt {
    let blocks: Vec<Block> = result.items.iter().map(Block::of).collect();
    let summary = result.summary();
    let rooms = rooms(&summary, &blocks);
    let blocks = blocks.iter().zip(rooms).map(|(block, room)| block.text(room));
    let receipt = blocks.fold(Receipt::new(summary), Receipt::fitted);
    receipt
        .block((result.items_omitted > 0).then(|| format!("({} more items left out)", result.items_omitted)))
}

/// What a receipt shows of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentItem {
    /// Its number, from 1.
    pub index: usize,
    /// Its command as the receipt shows it.
    pub cmd: String,
    /// Its shell was started.
    pub has_run: bool,
    /// What was sent of its output; nothing when it was blank.
    pub stdout: Option<String>,
    /// What was sent of its errors.
    pub stderr: Option<String>,
    /// Something in the middle may have been left out.
    pub is_cut: bool,
}

/// Returns what the receipt of a batch shows of each item, by the batch's result. None when that is no such result.
#[must_use]
pub fn sent_of_batch(result: &Value) -> Option<Vec<SentItem>> {
    let result = BatchResult::deserialize(result).ok()?;
    let blocks: Vec<Block> = result.items.iter().map(Block::of).collect();
    let rooms = rooms(&result.summary(), &blocks);
    let items = result.items.iter().zip(&blocks).zip(rooms).map(|((item, block), room)| {
        let of = |title| block.sent(room).find(|(found, _)| *found == title).map(|(_, text)| text);
        let wanted = block.wanted();
        SentItem {
            index: item.index,
            cmd: echo(&item.cmd),
            has_run: item.duration_ms.is_some(),
            stdout: of("stdout:"),
            stderr: of("stderr:"),
            is_cut: item.truncated || wanted.0 > room.0 || wanted.1 > room.1,
        }
    });
    Some(items.collect())
}

/// Returns the room that each item's streams have in the receipt (stdout, stderr), whatever files it will name: paths
/// of at most `path_chars` characters.
pub(super) fn rooms_beside(result: &BatchResult, path_chars: usize) -> Vec<(usize, usize)> {
    let mut blocks: Vec<Block> = result.items.iter().map(Block::of).collect();
    for block in blocks.iter_mut().filter(|block| !block.outputs.is_empty()) {
        let path = "/".repeat(path_chars.min(PATH_CHARS));
        block.after = vec!["artifacts:".to_owned(), path.clone(), path, " ".repeat(DROPPED_CHARS)];
    }
    rooms(&result.summary(), &blocks)
}

/// Cuts what the receipt has no room for, and says so: the flags of an answer are true of all its forms.
pub(super) fn fit(result: &mut BatchResult) {
    let blocks: Vec<Block> = result.items.iter().map(Block::of).collect();
    let rooms = rooms(&result.summary(), &blocks);
    let wanted = blocks.iter().map(Block::wanted);
    for ((item, room), wanted) in result.items.iter_mut().zip(rooms).zip(wanted) {
        let streams =
            [(&mut item.stdout_preview, wanted.0, room.0), (&mut item.stderr_preview, wanted.1, room.1)];
        for (preview, wanted, room) in streams {
            if let Some(text) = preview.as_mut().filter(|_| wanted > room) {
                let cut = fit_output(text.trim_end_matches('\n'), room);
                *preview = Some(cut).filter(|cut| !cut.trim().is_empty());
                item.truncated = true;
            }
        }
    }
}

/// What stands in the receipt for one item.
struct Block {
    /// The command, how it ended, and why.
    before: Vec<String>,
    outputs: Vec<(&'static str, String)>,
    /// Files, and what they lack.
    after: Vec<String>,
}

impl Block {
    fn of(item: &ItemResult) -> Self {
        let output = |title, text: &Option<String>| {
            let text = text.as_deref().unwrap_or_default().trim_end_matches('\n');
            (!text.trim().is_empty()).then(|| (title, text.to_owned()))
        };
        let outputs = [output("stdout:", &item.stdout_preview), output("stderr:", &item.stderr_preview)];
        let is_left_out = item.truncated && item.stdout_preview.is_none() && item.stderr_preview.is_none();
        let paths = item.artifacts.iter().map(|artifact| artifact.path.clone());
        let paths =
            paths.filter(|path| path.chars().count() <= PATH_CHARS && !path.contains(char::is_control));
        let mut after: Vec<String> = paths.collect();
        if !after.is_empty() {
            after.insert(0, "artifacts:".to_owned());
        }
        after.extend(task::dropped_line(item.dropped_bytes));
        let mut before = vec![format!("[{}] {}", item.index, echo(&item.cmd))];
        before.extend(outcome(item));
        before.extend(is_left_out.then(|| format!("output: {LEFT_OUT}")));
        before
            .extend(item.leftover_processes.as_ref().map(|left| safe_line(&left.sentence(), MESSAGE_CHARS)));
        Self { before, outputs: outputs.into_iter().flatten().collect(), after }
    }

    /// Characters it takes beside its outputs, with the blank line before it.
    fn fixed(&self) -> usize {
        let titles = self.outputs.iter().map(|(title, _)| *title);
        let lines = self.before.iter().chain(&self.after).map(String::as_str).chain(titles);
        lines.map(|line| line.chars().count() + 1).sum::<usize>() + self.outputs.len() + 1
    }

    /// Characters of its stdout and stderr.
    fn wanted(&self) -> (usize, usize) {
        let of = |wanted| {
            let mut outputs = self.outputs.iter();
            outputs.find(|(title, _)| *title == wanted).map_or(0, |(_, text)| safe_chars(text))
        };
        (of("stdout:"), of("stderr:"))
    }

    /// Its outputs, each cut to its room.
    fn sent(
        &self,
        (stdout, stderr): (usize, usize),
    ) -> impl Iterator<Item = (&'static str, String)> + use<'_> {
        self.outputs.iter().map(move |(title, text)| {
            let text = safe_output(text, if *title == "stdout:" { stdout } else { stderr });
            (*title, text.trim_end_matches('\n').to_owned())
        })
    }

    fn text(&self, room: (usize, usize)) -> String {
        let outputs = self.sent(room).flat_map(|(title, text)| [title.to_owned(), text]);
        let lines: Vec<String> =
            self.before.iter().cloned().chain(outputs).chain(self.after.iter().cloned()).collect();
        lines.join("\n")
    }
}

/// Divides the room for output: among the items fairly, then among the streams of each.
fn rooms(summary: &str, blocks: &[Block]) -> Vec<(usize, usize)> {
    let fixed = summary.chars().count() + blocks.iter().map(Block::fixed).sum::<usize>();
    let wanted: Vec<(usize, usize)> = blocks.iter().map(Block::wanted).collect();
    let totals: Vec<usize> = wanted.iter().map(|(stdout, stderr)| stdout + stderr).collect();
    let shares = shares(&totals, RECEIPT_CHARS.saturating_sub(fixed));
    let split = |((stdout, stderr), share)| preview::split_budget(stdout, stderr, share);
    wanted.into_iter().zip(shares).map(split).collect()
}

/// Gives everyone as much as they want or an equal part; what some leave goes to the others.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut modest_first: Vec<(usize, usize)> = wanted.iter().copied().enumerate().collect();
    modest_first.sort_by_key(|(_, wanted)| *wanted);
    let (mut left, mut shares) = (room, vec![0; wanted.len()]);
    for (served, (at, wanted)) in modest_first.into_iter().enumerate() {
        let share = wanted.min(left / (shares.len() - served));
        shares[at] = share;
        left -= share;
    }
    shares
}

/// Says how an item ended, and on a second line why, where there is more to say.
fn outcome(item: &ItemResult) -> Vec<String> {
    let word = if item.status == ItemStatus::Rejected { "rejected" } else { "failed" };
    if let Some(Failure { kind, message }) = &item.error {
        return vec![format!("{word}={}", safe_line(kind, MESSAGE_CHARS)), safe_line(message, MESSAGE_CHARS)];
    }
    if let Some(reason) = item.reason {
        return vec![format!("skipped={}", reason.as_str())];
    }
    let end = match (item.exit_status, &item.signal) {
        (Some(status), _) => format!("exit={status}"),
        (None, Some(signal)) => format!("killed={}", safe_line(signal, MESSAGE_CHARS)),
        (None, None) => "failed=internal_error".to_owned(),
    };
    // Answers on record that are older say less.
    let timed_out = || item.timed_out.then(|| "timed out".to_owned());
    let stopped = || item.stopped_by.as_ref().map(|by| format!("stopped by {by}"));
    let why = item.end_reason.clone().or_else(stopped).or_else(timed_out);
    let end = why.map_or_else(|| end.clone(), |why| format!("{end} ({why})"));
    vec![safe_line(&end, MESSAGE_CHARS)]
}

/// Shows a command in one line, its secrets hidden before anything is cut.
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
        (more, _) => format!("{shown} …(+{more} lines)"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_is_shown_in_safe_line() {
        let long = "x".repeat(121);
        let cases = [
            ("git status --short", "git status --short".to_owned()),
            (" ls \n", "ls".to_owned()),
            ("cat <<E\na\nE", "cat <<E …(+2 lines)".to_owned()),
            ("a\tb  c", "a b  c".to_owned()),
            (&long, format!("{} …", "x".repeat(120))),
            (&format!("{long}\ny"), format!("{} …(+1 lines)", "x".repeat(120))),
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

    #[test]
    fn what_some_leave_goes_to_the_others() {
        for (wanted, room, given) in [
            (vec![], 10, vec![]),
            (vec![5, 5], 10, vec![5, 5]),
            (vec![100, 2, 100], 12, vec![5, 2, 5]),
            (vec![0, 0, 9], 8, vec![0, 0, 8]),
            (vec![3, 3], 0, vec![0, 0]),
        ] {
            assert_eq!(shares(&wanted, room), given, "{wanted:?} {room}");
        }
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_wanted_nor_less_than_an_equal_part(
            wanted in prop::collection::vec(0_usize..300_000, 1..24),
            room in 0_usize..40_000,
        ) {
            let given = shares(&wanted, room);
            prop_assert!(given.iter().sum::<usize>() <= room);
            for (given, wanted) in given.iter().zip(&wanted) {
                prop_assert!(given <= wanted && *given >= (*wanted).min(room / 24));
            }
        }
    }
}

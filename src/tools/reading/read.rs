//! Reads the requested lines and describes what was read.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::page::{FilledPage, OutputPage};
use super::{LineRequest, LineSelection, Streams};
use crate::clock::Clock;
use crate::envelope::preview::Preview;
use crate::envelope::units::{amount, grouped_amount};
use crate::envelope::{TaskId, ToolError};
use crate::model::phrases::unusable;
use crate::runtime::{StoredOutput, StreamPiece};
use crate::tools::budget::{OutputBudget, Room};
use crate::tools::preview::StreamPreview;
use crate::tools::receipt::{LEFT_OUT, Receipt, ReceiptLine};
use crate::tools::task;

/// The time limit of a reading. A pattern can be slow, and a log long.
const LONGEST: Duration = Duration::from_secs(10);
/// How many lines are processed between checks of the clock.
const LINES_PER_LOOK: u64 = 1_024;
/// The length from which a line gets a clock check of its own, in bytes.
const LONG_LINE: usize = 4 << 10;

/// Lines that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamLines {
    /// The stream that was read.
    stream: Streams,
    /// The first requested line shown; null if there is none.
    first_line: Option<u64>,
    /// The last requested line shown.
    last_line: Option<u64>,
    /// Number of lines in the stream; null if reading stopped before its end.
    total_lines: Option<u64>,
    /// Number of matching lines; null without `match`.
    matches: Option<u64>,
    /// Value of `lines` for the rest; null if all is shown.
    more: Option<String>,
    /// Number of long lines searched only in part by `match`; absent if none.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    lines_partly_searched: u64,
    /// Value of `lines` to continue the search in the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    search_on: Option<String>,
    /// Number of lines that were not kept, and are not searched; absent if none.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    lines_not_kept: u64,
}

/// Reads the requested lines of a task's output. Also returns the text.
pub(in crate::tools) async fn read(
    output: StoredOutput,
    id: &TaskId,
    wanted: LineRequest,
    budget: OutputBudget,
    clock: Clock,
) -> Result<(StreamLines, StreamPreview), ToolError> {
    if output.is_lost() {
        let reason = format!("the output of {id} is gone: the file that kept it was removed");
        let hint = "run the command again if you need its output";
        return Err(unusable("TaskOutput", "task_id", reason).with_hint(hint));
    }
    let stream = wanted.stream;
    let room = Room { chars: budget.room.chars.min(budget.chars.whole), ..budget.room };
    let part = wanted.part();
    let sliced = match wanted.lines {
        LineSelection::Part(line, ..) if wanted.pattern.is_none() => Some(line),
        _ => None,
    };
    let page = OutputPage::new(wanted, room);
    let end = clock.now().mono + LONGEST;
    let take = move |page: &mut OutputPage, piece: StreamPiece<'_>| {
        let line = match piece {
            StreamPiece::Gap { bytes, lines } => {
                page.gap(bytes, lines);
                return true;
            }
            StreamPiece::LaidOut => {
                page.begin_layout();
                return true;
            }
            StreamPiece::Line(line) => line,
        };
        page.line(line);
        let is_look_due = line.text.len() > LONG_LINE || page.lines_seen().is_multiple_of(LINES_PER_LOOK);
        let goes_on = !is_look_due || clock.now().mono < end;
        if !goes_on {
            page.stop();
        }
        goes_on
    };
    let filled = output.fold_lines(stream.into(), part, page, take).await?.fill();
    let FilledPage { text, shown, total, matches, more, lines_partly_searched, search_on, lines_not_kept } =
        filled;
    if let Some(line) = sliced.filter(|line| shown.is_none() && total.is_some_and(|total| total >= *line)) {
        let reason = format!("line {line} of {id} ends before these characters");
        return Err(
            unusable("TaskOutput", "lines", reason).with_hint(format!("`lines: \"{line}\"` reads it"))
        );
    }
    let (first_line, last_line) = shown.unzip();
    let preview = Some(Preview { text, truncated: more.is_some() });
    let reading = StreamLines {
        stream,
        first_line,
        last_line,
        total_lines: total,
        matches,
        more,
        lines_partly_searched,
        search_on,
        lines_not_kept,
    };
    Ok((reading, StreamPreview { preview, ..StreamPreview::default() }))
}

impl StreamLines {
    /// Returns whether any requested line is shown.
    pub(in crate::tools) fn has_lines(&self) -> bool {
        self.first_line.is_some()
    }

    /// Builds the receipt: what was read of which task, the task's state, the lines, and how to continue.
    pub(in crate::tools) fn receipt(&self, id: &TaskId, stands: &str, preview: Option<&str>) -> Receipt {
        let left_out = (self.has_lines() && preview.is_none()).then_some(LEFT_OUT);
        Receipt::new(ReceiptLine::new(self.outcome(id)).from(["task/reading"]))
            .line(format!("The task {stands}."))
            .output("Output", "task/output_preview", preview.or(left_out))
            .block(self.search_on())
            .block(self.more())
    }

    /// Describes what was read on one line: `Lines 20000-20050 of 31999 of task_4k2m9x7q, stderr`.
    fn outcome(&self, id: &TaskId) -> String {
        let stream = match self.stream {
            Streams::Output => "",
            Streams::Stdout => ", stdout",
            Streams::Stderr => ", stderr",
        };
        let all = self.total_lines;
        let is_cut_short = all.is_none() && self.more.is_some();
        let stopped = if is_cut_short { "; it took too long and was stopped" } else { "" };
        let said = match (self.matches, self.first_line, self.last_line) {
            (Some(matches), ..) => {
                let all = all.map(|all| format!(" of {all}")).unwrap_or_default();
                let kept = match self.lines_not_kept {
                    0 => String::new(),
                    count => format!("; {} were not kept and not searched", grouped_amount(count, "line")),
                };
                format!("{}{all} in {id}{stream}{kept}", amount(matches, "matching line"))
            }
            (None, Some(first), Some(last)) => {
                let all = all.map(|all| format!(" of {all}")).unwrap_or_default();
                format!("Lines {first}-{last}{all} of {id}{stream}")
            }
            _ => {
                let all = all.map(|all| format!(": it has {}", amount(all, "line"))).unwrap_or_default();
                let kept = match self.lines_not_kept {
                    0 => String::new(),
                    count => format!(", of which {} were not kept", grouped_amount(count, "line")),
                };
                format!("None of these lines is in {id}{stream}{all}{kept}")
            }
        };
        format!("{said}{stopped}")
    }

    /// Says what of long lines was not searched, and how to search on.
    fn search_on(&self) -> Option<String> {
        let lines = self.search_on.as_ref()?;
        let said = match self.lines_partly_searched {
            1 => "1 long line was not searched to its end".to_owned(),
            many => format!("{many} long lines were not searched to their ends; the first"),
        };
        Some(format!("{said}: lines \"{lines}\" with the same match searches on"))
    }

    /// Says how to continue, if anything is left.
    fn more(&self) -> Option<String> {
        let with = if self.matches.is_some() { " with the same match" } else { "" };
        self.more.as_ref().map(|lines| format!("more: lines \"{lines}\"{with}"))
    }
}

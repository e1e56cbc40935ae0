//! TaskOutput: what a task printed, all of it or since a cursor; waits for more on request. Read-only: neither a wait
//! that times out nor a dropped call affects the task.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::OutputBudget;
use super::input::TOKENS_FIELD;
use super::preview::{OutputCursor, StreamPreview};
pub use super::reading::StreamLines;
use super::reading::{self, LineRequest, Streams};
use super::receipt::{Artifact, LEFT_OUT, Receipt};
use super::task::{self, Notes, TaskKind};
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use super::wait_goal::{WaitGoal, retrieval, until};
use super::waiting_note::WaitingNote;
use crate::envelope::preview::StreamText;
use crate::envelope::{Envelope, TaskId, ToolError};
use crate::model::phrases::unusable;
use crate::model::{TaskStatus, TaskView};
use crate::runtime::OutputStream;

/// The maximum wait, in milliseconds: shorter than any client's own timeout for a call.
const LONGEST_WAIT_MS: u64 = 45_000;

pub(super) struct TaskOutputTool;

/// The output, and the wait for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskOutputInput {
    /// `task_…`.
    task_id: String,
    /// Only these lines, from 1: "20000-20050", "20000-", "-50" for the last 50, or "7:200-" for line 7 from its character 200.
    lines: Option<String>,
    /// Only lines that match this regular expression, of all or of `lines`.
    r#match: Option<String>,
    /// Lines around each match, 50 at most.
    context: Option<u64>,
    /// Only this stream.
    stream: Option<Streams>,
    /// `listening`: until it listens at a port or ends.
    until: Option<WaitGoal>,
    /// Wait. Default: true, but false with `lines` or `match` alone.
    block: Option<bool>,
    /// Maximum wait, up to 45000 ms.
    #[serde(default = "default_wait")]
    timeout_ms: u64,
    /// An earlier `next_cursor`: only later output.
    since: Option<String>,
    /// `auto`: the screen of a full-screen program, else the transcript.
    #[serde(default)]
    view: ViewChoice,
    /// Maximum output in tokens, as of ExecCommand.
    max_output_tokens: Option<u64>,
}

/// The requested view of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ViewChoice {
    #[default]
    Auto,
    Transcript,
    Screen,
}

fn default_wait() -> u64 {
    30_000
}

/// The output that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct OutputResult {
    /// `success`: the request is fulfilled; `timeout`: the wait expired; `not_ready`: not fulfilled yet, and the call
    /// did not wait, or the task waits for input. The output so far is shown in any case.
    retrieval_status: Retrieval,
    /// The task and its output.
    task: TaskReading,
}

/// Whether the request is fulfilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retrieval {
    /// The request is fulfilled.
    Success,
    /// The wait expired before that.
    Timeout,
    /// The request is not fulfilled yet, and the call did not wait.
    NotReady,
}

/// View of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// The printed output, as text.
    Transcript,
    /// The screen as it looks now.
    Screen,
}

/// A task and its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct TaskReading {
    /// Id of the pilothouse task.
    task_id: TaskId,
    /// Always `command_task`.
    kind: TaskKind,
    /// Current status.
    status: TaskStatus,
    /// Exit status once it has exited by itself; 124 after a timeout.
    exit_status: Option<i32>,
    /// The output; null if blank.
    output_preview: Option<String>,
    /// Whether the preview omits output.
    output_truncated: bool,
    /// Whether its stored output was removed; absent if not.
    #[serde(default, skip_serializing_if = "task::is_false")]
    output_lost: bool,
    /// Value of `since` to read the next output.
    next_cursor: String,
    /// View in the preview.
    view: OutputForm,
    /// The lines read; present only with `lines` or `match`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reading: Option<StreamLines>,
    /// Files with the exact output; absent if nothing was omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    /// Index of the whole output in the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_artifact: Option<usize>,
    /// Bytes that even the file lacks; absent if it is complete.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    dropped_bytes: u64,
    /// Signal that ended it, present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Evidence that it wants input; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingNote>,
    /// Whether TaskInput can type into it now; absent if not.
    #[serde(default, skip_serializing_if = "task::is_false")]
    accepts_input: bool,
    #[serde(flatten)]
    notes: Notes,
}

/// What was read of a task.
#[derive(Debug, Clone)]
pub struct OutputDetails {
    /// Whether what was asked for is available.
    pub retrieval: Retrieval,
    pub task: Arc<TaskView>,
    /// The part of its output that is shown.
    pub output: StreamPreview,
    /// Whether that is the transcript or the screen.
    pub seen: OutputForm,
    /// Which lines that is, if lines were asked for.
    pub reading: Option<StreamLines>,
    /// Where to continue reading.
    pub next: OutputCursor,
    /// The current time.
    pub now: Timestamp,
}

/// Builds the canonical envelope.
pub fn project(complete: &OutputDetails) -> Envelope {
    let OutputDetails { retrieval, task, output, seen, reading, next, now } = complete;
    let mut artifacts = Vec::new();
    let output_artifact = output.list_artifact(&mut artifacts);
    let reading = TaskReading {
        task_id: task.id.clone(),
        kind: TaskKind::CommandTask,
        status: task.status,
        exit_status: task::exit_status(task),
        output_preview: output.text(),
        output_truncated: output.is_truncated(),
        output_lost: output.is_lost,
        next_cursor: next.to_string(),
        view: *seen,
        reading: reading.clone(),
        artifacts,
        output_artifact,
        dropped_bytes: output.dropped_bytes,
        signal: task::signal(task),
        waiting: WaitingNote::of(task.waiting.as_ref(), *now),
        accepts_input: task.accepts_input && task.status == TaskStatus::Running,
        notes: Notes::of(task),
    };
    TaskOutputTool::envelope(&OutputResult { retrieval_status: *retrieval, task: reading })
}

impl Verb for TaskOutputTool {
    const NAME: &'static str = "TaskOutput";
    const TITLE: &'static str = "Read a task's output";
    const DESCRIPTION: &'static str = "\
Reads the output of a shell command (pilothouse task) and waits for it: for its end, with `since`, the `next_cursor` of an \
earlier answer, for the next new output, or with `until: listening` for a server's port and URL. Never sleep or \
poll. `block: false` looks without waiting. `lines` or `match` reads what any answer left out, by the id \
in its cut line.

`retrieval_status` other than `success` means: wait timed out, task still running. `task_id` is ExecCommand's, not your client's.";
    const HINTS: Hints = Hints::READS;
    const CLI: &'static [&'static str] = &["task", "output"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("Wait for the end and read all", r#"{"task_id":"task_4k2m9x7q"}"#),
        ("Wait until a server listens", r#"{"task_id":"task_4k2m9x7q","until":"listening"}"#),
        ("Read the output so far", r#"{"task_id":"task_4k2m9x7q","block":false}"#),
        ("Read lines that an answer left out", r#"{"task_id":"task_4k2m9x7q","lines":"20000-20050"}"#),
        ("Search the output", r#"{"task_id":"task_4k2m9x7q","match":"(?i)error","context":2}"#),
    ];
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("timeout", "timeout_ms"), ("id", "task_id"), ("session_id", "task_id")];
    const CLAMPED: &'static [(&'static str, u64, u64)] =
        &[("timeout_ms", 0, LONGEST_WAIT_MS), ("context", 0, reading::MOST_CONTEXT), TOKENS_FIELD];

    type Input = TaskOutputInput;
    type Result = OutputResult;

    async fn run(cx: ToolContext<'_>, input: TaskOutputInput) -> Result<ToolOutcome, ToolError> {
        let wanted = line_request(&input)?;
        let id = cx.task(&input.task_id).await?.id.clone();
        let since = since(cx, &id, input.since.as_deref())?;
        let waits = input.block.unwrap_or(wanted.is_none() || input.until.is_some());
        let mut is_over = false;
        if waits {
            let wait = Duration::from_millis(input.timeout_ms.min(LONGEST_WAIT_MS));
            is_over = cx.runtime.wait_or_ask(&id, until(input.until, since), wait, true).await?;
        }
        // Read the task before its output: if it has ended, all its output is available.
        let task = cx.task(id.as_str()).await?;
        let asked =
            OutputRequest { since, view: input.view, budget: cx.caller.room.budget(input.max_output_tokens) };
        let OutputRead { output, seen, next, reading } = match wanted {
            Some(wanted) if task.status != TaskStatus::Queued => {
                let stored = cx.runtime.output(&id)?;
                let next = OutputCursor::at(stored.position());
                let clock = cx.runtime.clock().clone();
                let (reading, output) = reading::read(stored, &id, wanted, asked.budget, clock).await?;
                OutputRead { output, seen: OutputForm::Transcript, next, reading: Some(reading) }
            }
            _ => read(cx, &id, asked).await?,
        };
        let has_lines = reading.as_ref().is_some_and(StreamLines::has_lines);
        let is_there = match input.until {
            Some(goal) => goal.is_reached(&task),
            None => has_lines || since.is_some_and(|since| next > since),
        };
        let retrieval = retrieval(task.status.is_terminal() || is_there, waits && !is_over);
        let complete = OutputDetails { retrieval, task, output, seen, reading, next, now: cx.now() };
        Ok(ToolOutcome { envelope: project(&complete), task: Some(id) })
    }

    fn summary(retrieved: &OutputResult) -> String {
        let standing = retrieved.task.state_phrase();
        match retrieved.retrieval_status {
            Retrieval::Success => format!("task {standing}"),
            Retrieval::Timeout => format!("task {standing}; wait timed out"),
            Retrieval::NotReady => format!("task {standing}; not ready"),
        }
    }

    fn receipt(retrieved: &OutputResult) -> Receipt {
        let task = &retrieved.task;
        let id = &task.task_id;
        if let Some(reading) = &task.reading {
            let stands = task::predicate(task.status, &task.state_phrase());
            return reading.receipt(id, &stands, task.output_preview.as_deref());
        }
        let standing = task.state_phrase();
        let outcome = match retrieved.retrieval_status {
            Retrieval::Success if task.status.is_terminal() => {
                format!("Task {id} {}", task::predicate(task.status, &standing))
            }
            Retrieval::Success if task.notes.listening.iter().any(|note| note.port().is_some()) => {
                format!("Output of {id}, which is {standing} and listening")
            }
            Retrieval::Success => format!("New output of {id}, which is {standing}"),
            Retrieval::Timeout => {
                format!("Task {id} is still {standing}: wait timed out")
            }
            Retrieval::NotReady => format!("Task {id} is still {standing}"),
        };
        let waiting = task.waiting.as_ref().map(WaitingNote::statement);
        let title = match task.view {
            OutputForm::Transcript => "Output",
            OutputForm::Screen => "Screen",
        };
        let nothing = match (task.output_lost, task.output_truncated) {
            (true, _) => "(lost: its file was removed)",
            (false, true) => LEFT_OUT,
            (false, false) => "(nothing to be seen)",
        };
        let preview = task.output_preview.as_deref().unwrap_or(nothing);
        let receipt = Receipt::new(outcome).lines(task.notes.lines()).lines(waiting).output(
            title,
            "task/output_preview",
            Some(preview),
        );
        let receipt = receipt.lines(task::dropped_line(task.dropped_bytes));
        let is_cut = task.output_truncated && !task.output_lost && task.view == OutputForm::Transcript;
        match task.status.is_terminal() {
            false => receipt.next(&task.next_step()),
            true if is_cut => receipt.next_to_read_on("TaskOutput with `lines` or `match` to read the rest."),
            true => receipt,
        }
    }
}

impl TaskReading {
    fn state_phrase(&self) -> String {
        task::state_phrase(self.status, self.exit_status, self.signal.as_deref(), &self.notes)
    }

    fn next_step(&self) -> String {
        let is_offered = self.accepts_input && WaitingNote::may_be_answered(self.waiting.as_ref());
        let type_into = if is_offered { " TaskInput to type," } else { "" };
        format!("TaskOutput with since={} to read on,{type_into} TaskStop to end it.", self.next_cursor)
    }
}

fn line_request(input: &TaskOutputInput) -> Result<Option<LineRequest>, ToolError> {
    let TaskOutputInput { lines, r#match, context, stream, .. } = input;
    let wanted =
        LineRequest::read(TaskOutputTool::NAME, lines.as_deref(), r#match.as_deref(), *context, *stream)?;
    let misplaced = [("since", input.since.is_some()), ("view", input.view == ViewChoice::Screen)];
    match misplaced.into_iter().find(|(_, is_given)| *is_given && wanted.is_some()) {
        Some((field, _)) => {
            let reason = format!("`{field}` does not go with `lines`, `match` or `stream`");
            let hint = format!("leave `{field}` out: lines are counted from the beginning of the output");
            Err(unusable(TaskOutputTool::NAME, field, reason).with_hint(hint))
        }
        None => Ok(wanted),
    }
}

fn since(cx: ToolContext<'_>, id: &TaskId, given: Option<&str>) -> Result<Option<OutputCursor>, ToolError> {
    let Some(given) = given else { return Ok(None) };
    let end = OutputCursor::at(cx.runtime.output(id)?.position());
    match given.parse::<OutputCursor>() {
        Ok(cursor) if cursor <= end => Ok(Some(cursor)),
        _ => Err(unusable(
            TaskOutputTool::NAME,
            "since",
            "`since` must be the `next_cursor` of an earlier answer about this task",
        )),
    }
}

/// Which part of the output to read, and how much.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputRequest {
    pub(super) since: Option<OutputCursor>,
    pub(super) view: ViewChoice,
    pub(super) budget: OutputBudget,
}

/// What was read of a task's output.
pub(super) struct OutputRead {
    pub(super) output: StreamPreview,
    pub(super) seen: OutputForm,
    pub(super) next: OutputCursor,
    pub(super) reading: Option<StreamLines>,
}

/// Reads a task's current output.
pub(super) async fn read(
    cx: ToolContext<'_>,
    id: &TaskId,
    asked: OutputRequest,
) -> Result<OutputRead, ToolError> {
    let output = cx.runtime.output(id)?;
    let next = OutputCursor::at(output.position());
    let screen = match asked.view {
        ViewChoice::Transcript => None,
        ViewChoice::Screen => cx.runtime.screen_text(id).map(|(text, _)| text),
        ViewChoice::Auto => {
            cx.runtime.screen_text(id).filter(|(_, full_screen)| *full_screen).map(|(text, _)| text)
        }
    };
    let (seen, output) = match screen {
        Some(screen) => {
            let shown =
                StreamPreview::of(&StreamText::Whole(screen), asked.budget.chars).within(asked.budget.room);
            (OutputForm::Screen, shown.keep(&output, OutputStream::Merged).await)
        }
        None => {
            let from = asked.since.map_or(0, OutputCursor::position);
            (OutputForm::Transcript, StreamPreview::read_merged(&output, id, from, asked.budget).await?)
        }
    };
    Ok(OutputRead { output, seen, next, reading: None })
}

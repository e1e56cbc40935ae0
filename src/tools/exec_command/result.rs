//! The outcome of a command: its result, the envelope, and the receipt that a model reads.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ExecCommandTool;
use crate::envelope::{Envelope, TaskId};
use crate::model::TaskView;
use crate::model::phrases::{AWAITS_OPERATOR, AWAITS_TURN, exit_clause};
use crate::tools::preview::StreamPreview;
use crate::tools::receipt::{Artifact, LEFT_OUT, Receipt, ReceiptLine};
use crate::tools::task::{self, Notes, TaskHandle, WaitReason};
use crate::tools::verb::Verb;
use crate::tools::waiting_note::WaitingNote;

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "disposition", rename_all = "snake_case")]
pub(in crate::tools) enum ExecResult {
    /// The command ended during the call.
    Completed(Box<CompletedCommand>),
    /// The command continues as a task.
    PromotedToTask(PromotedCommand),
    /// The command has not started: the operator has not released it.
    AwaitingOperator(AwaitingCommand),
    /// The command has not started: it waits in a lane.
    Queued(QueuedCommand),
}

/// A command that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(in crate::tools) struct CompletedCommand {
    /// Exit status; null if a signal ended it.
    exit_status: Option<i32>,
    /// The signal that ended it.
    signal: Option<String>,
    /// Standard output; null if blank.
    stdout_preview: Option<String>,
    /// Standard error; null if blank.
    stderr_preview: Option<String>,
    /// Whether a preview omits output.
    truncated: bool,
    /// Duration in milliseconds.
    duration_ms: u64,
    /// The `task_id` with which TaskOutput reads the omitted output; absent if there is none or it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_id: Option<TaskId>,
    /// Files with the exact streams; absent if nothing was omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    /// Index of stdout in the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdout_artifact: Option<usize>,
    /// Index of stderr in the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stderr_artifact: Option<usize>,
    /// Bytes that even the files lack; absent if they are complete.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    dropped_bytes: u64,
    #[serde(flatten)]
    notes: Notes,
}

/// A command that continues as a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(in crate::tools) struct PromotedCommand {
    /// Reference to the task.
    task_handle: TaskHandle,
    /// Output so far; null if blank.
    initial_output_preview: Option<String>,
    /// Whether the preview omits output.
    initial_output_truncated: bool,
    /// Evidence that it wants input; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingNote>,
    /// Files with the exact streams; absent if nothing was omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    /// Index of its output in the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_artifact: Option<usize>,
}

/// A command that waits for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(in crate::tools) struct AwaitingCommand {
    /// Reference to the task.
    task_handle: TaskHandle,
    /// Reason for the wait.
    reason: WaitReason,
}

/// A command that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(in crate::tools) struct QueuedCommand {
    /// Reference to the task.
    task_handle: TaskHandle,
    /// Its position in the queue of its lane, in words.
    queued: String,
}

/// What is known about a command that was run.
#[derive(Debug, Clone)]
pub enum CommandDetails {
    /// It ended in the foreground of the call.
    Ended {
        /// The command.
        task: Arc<TaskView>,
        /// Its standard output; with a terminal, all its output.
        stdout: StreamPreview,
        /// Its standard error.
        stderr: StreamPreview,
    },
    /// It continues as a task.
    Promoted {
        task: Arc<TaskView>,
        /// Its output so far.
        output: StreamPreview,
        /// The current time.
        now: Timestamp,
    },
    /// The operator has not approved it yet, or its turn in its lane has not come.
    Held { task: Arc<TaskView> },
}

/// Builds the canonical envelope.
pub fn project(complete: &CommandDetails) -> Envelope {
    let result = match complete {
        CommandDetails::Ended { task, stdout, stderr } => {
            ExecResult::Completed(Box::new(completed_command(task, stdout, stderr)))
        }
        CommandDetails::Promoted { task, output, now } => {
            ExecResult::PromotedToTask(promoted_command(task, output, *now))
        }
        CommandDetails::Held { task } => match task::queue_place(task) {
            Some(queued) => ExecResult::Queued(QueuedCommand { task_handle: TaskHandle::of(task), queued }),
            None => ExecResult::AwaitingOperator(AwaitingCommand {
                task_handle: TaskHandle::of(task),
                reason: WaitReason::of(task).unwrap_or_default(),
            }),
        },
    };
    ExecCommandTool::envelope(&result)
}

fn completed_command(task: &TaskView, stdout: &StreamPreview, stderr: &StreamPreview) -> CompletedCommand {
    let mut artifacts = Vec::new();
    let stdout_artifact = stdout.list_artifact(&mut artifacts);
    let stderr_artifact = stderr.list_artifact(&mut artifacts);
    CompletedCommand {
        exit_status: task::exit_status(task),
        signal: task::signal(task),
        stdout_preview: stdout.text(),
        stderr_preview: stderr.text(),
        truncated: stdout.is_truncated() || stderr.is_truncated(),
        duration_ms: task.lived_ms(),
        output_id: [stdout, stderr].into_iter().any(StreamPreview::can_be_read_on).then(|| task.id.clone()),
        artifacts,
        stdout_artifact,
        stderr_artifact,
        dropped_bytes: stdout.dropped_bytes + stderr.dropped_bytes,
        notes: Notes::of(task),
    }
}

fn promoted_command(task: &TaskView, output: &StreamPreview, now: Timestamp) -> PromotedCommand {
    let mut artifacts = Vec::new();
    let output_artifact = output.list_artifact(&mut artifacts);
    PromotedCommand {
        task_handle: TaskHandle::of(task),
        initial_output_preview: output.text(),
        initial_output_truncated: output.is_truncated(),
        waiting: WaitingNote::of(task.waiting.as_ref(), now),
        artifacts,
        output_artifact,
    }
}

impl CompletedCommand {
    /// Describes how it ended: `exited with code 3`, `terminated by SIGKILL (stopped by operator)`, `timed out after 2 s
    /// (code 124)`. Also returns the
    /// name of the field this is based on.
    pub(super) fn end(&self) -> (String, Option<&'static str>) {
        let signal = self.signal.as_deref();
        let end = exit_clause(self.exit_status, signal);
        let field = self.exit_status.map(|_| "exit_status").or(signal.map(|_| "signal"));
        let error = self.notes.error.as_ref().map(|error| error.kind.clone());
        let why: Vec<String> = self
            .notes
            .end_reason
            .clone()
            .into_iter()
            .chain(error)
            .chain(self.notes.unended_phrase())
            .collect();
        let why = why.join(", ");
        let end = match self.exit_status {
            _ if why.is_empty() => end,
            // No shell exits so: the status stands for the time limit.
            Some(status) if self.notes.timed_out => format!("{why} (code {status})"),
            _ => format!("{end} ({why})"),
        };
        (end, field)
    }

    pub(super) fn receipt(&self) -> Receipt {
        let is_left_out = self.truncated && self.stdout_preview.is_none() && self.stderr_preview.is_none();
        let (end, field) = self.end();
        let outcome = ReceiptLine::new(format!("Process {end}")).from(field).from(self.notes.cause_fields());
        let receipt = Receipt::new(outcome)
            .lines(self.notes.error.as_ref().map(|error| error.message.clone()))
            .lines(self.notes.lines())
            .output("stdout", "stdout_preview", self.stdout_preview.as_deref())
            .output("stderr", "stderr_preview", self.stderr_preview.as_deref())
            .output("Output", "truncated", is_left_out.then_some(LEFT_OUT));
        task::with_rest(receipt, self.output_id.as_ref(), &self.artifacts, self.dropped_bytes)
    }
}

impl PromotedCommand {
    pub(super) fn receipt(&self) -> Receipt {
        let nothing =
            if self.initial_output_truncated { LEFT_OUT } else { "(none captured before promotion)" };
        let output = self.initial_output_preview.as_deref().unwrap_or(nothing);
        let task =
            ReceiptLine::new(format!("Task: {}", self.task_handle.task_id)).from(["task_handle/task_id"]);
        let receipt =
            Receipt::new(ReceiptLine::new("Command promoted to background task").from(["disposition"]))
                .line(task)
                .lines(self.waiting.as_ref().map(WaitingNote::statement))
                .output("Initial output", "initial_output_preview", Some(output));
        let is_offered = WaitingNote::may_be_answered(self.waiting.as_ref());
        receipt.next(task::next_steps(self.task_handle.accepts_input && is_offered))
    }
}

impl QueuedCommand {
    pub(super) fn receipt(&self) -> Receipt {
        Receipt::new(AWAITS_TURN)
            .line(format!("Task: {}", self.task_handle.task_id))
            .line(format!("Place: {}. It starts by itself; do not send it again.", self.queued))
            .next(task::QUEUED_STEPS)
    }
}

impl AwaitingCommand {
    pub(super) fn receipt(&self) -> Receipt {
        Receipt::new(AWAITS_OPERATOR)
            .line(format!("Task: {}", self.task_handle.task_id))
            .line(self.reason.sentence())
            .next(task::QUEUED_STEPS)
    }
}

//! The outcome of a batch: what is known about each item, and the typed result built from it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExecCommandBatchTool, receipt};
use crate::envelope::{Actor, Envelope, ErrorKind, TaskId, ToolError, mask};
use crate::model::phrases::deadline_clause;
use crate::model::{TaskStatus, TaskView, UnendedProcesses};
use crate::tools::leftovers::LeftoverProcesses;
use crate::tools::preview::StreamPreview;
use crate::tools::receipt::Artifact;
use crate::tools::task::{self, Notes, TaskFailure};
use crate::tools::verb::Verb;

/// What is known about a batch.
#[derive(Debug, Clone)]
pub struct BatchDetails {
    /// Whether the remaining items were to be skipped after a failure.
    pub stop_on_error: bool,
    /// The time after which no further item starts, in milliseconds.
    pub deadline_ms: u64,
    /// The commands as given, each with its outcome.
    pub items: Vec<(String, ItemOutcome)>,
}

/// The outcome of one item.
#[derive(Debug, Clone)]
pub enum ItemOutcome {
    /// It ran and ended, in whatever way.
    Ended {
        /// The command.
        task: Arc<TaskView>,
        /// Its standard output.
        stdout: StreamPreview,
        /// Its standard error.
        stderr: StreamPreview,
        /// Whether the end of the batch's time ended it, and not its own limit.
        is_late: bool,
    },
    /// It could not be run, or could not be completed.
    Failed(ItemError),
    /// It was rejected at its turn.
    Rejected(ItemError),
    /// It was skipped.
    Skipped(SkipReason),
    /// It waited for its turn in a lane until the batch's time was over: its place in the queue.
    Unadmitted(String),
}

/// The reason why an item was rejected or could not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemError {
    /// One of the error kinds.
    pub kind: String,
    /// Description of the error.
    pub message: String,
    /// The recommended next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
    /// Whether the command had no effect and may succeed later; absent in old recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
}

impl ItemError {
    /// Creates an error that is the item's own, without a hint, and stays what it is.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), recovery_hint: None, retryable: Some(false) }
    }

    /// Tells whether the item was stopped before it began.
    pub(super) fn is_stop(&self) -> bool {
        [ErrorKind::OperatorDenied, ErrorKind::Withdrawn].iter().any(|kind| self.kind == kind.as_str())
    }
}

impl From<ToolError> for ItemError {
    fn from(error: ToolError) -> Self {
        let ToolError { kind, message, recovery_hint, retryable, .. } = error;
        Self { kind: kind.to_string(), message, recovery_hint, retryable: Some(retryable) }
    }
}

impl From<TaskFailure> for ItemError {
    fn from(TaskFailure { kind, message }: TaskFailure) -> Self {
        Self::new(kind, message)
    }
}

/// Reason for skipping an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SkipReason {
    /// One before it was rejected or failed, and `stop_on_error` was set.
    StopOnError,
    /// The time of the whole batch was over.
    BatchDeadline,
    /// The batch was cancelled: its call was withdrawn, an item was stopped, or the runtime ended.
    Cancelled,
}

/// The result of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(in crate::tools) struct BatchResult {
    /// Number of items.
    pub(super) item_count: usize,
    /// Number of items that exited with 0.
    pub(super) completed_count: usize,
    /// Number of items that ended otherwise or could not start.
    pub(super) failed_count: usize,
    /// Number of refused items.
    pub(super) rejected_count: usize,
    /// Number of skipped items.
    pub(super) skipped_count: usize,
    /// Whether a failure skips the rest.
    pub(super) stop_on_error: bool,
    /// Milliseconds after which no further item started; present only if it skipped an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) batch_deadline_ms: Option<u64>,
    /// The items, in order.
    pub(super) items: Vec<ItemResult>,
    /// Number of items that a shorter form of the answer omits; absent if none.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    pub(super) items_omitted: u64,
}

/// Status of an item at the end of its batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ItemStatus {
    /// It exited with 0.
    Completed,
    /// It ended otherwise, or could not be started.
    #[default]
    Failed,
    /// It was refused.
    Rejected,
    /// It never had its turn.
    Skipped,
}

/// The result of one item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ItemResult {
    /// Number of the item, from 1.
    pub(super) index: usize,
    /// The command line, secrets masked.
    pub(super) cmd: String,
    /// Status of the item.
    pub(super) status: ItemStatus,
    /// Exit status, 124 after a timeout; null if a signal ended it or it did not run.
    pub(super) exit_status: Option<i32>,
    /// Standard output; null if blank.
    pub(super) stdout_preview: Option<String>,
    /// Standard error; null if blank.
    pub(super) stderr_preview: Option<String>,
    /// Whether a preview omits output.
    pub(super) truncated: bool,
    /// Whether it was ended at its time limit.
    pub(super) timed_out: bool,
    /// Duration in milliseconds; null if it did not run.
    pub(super) duration_ms: Option<u64>,
    /// The `task_id` with which TaskOutput reads the omitted output; absent if there is none or it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output_id: Option<TaskId>,
    /// The reason why it was rejected or could not run; null if it ran or was skipped.
    pub(super) error: Option<ItemError>,
    /// Reason for skipping it; present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<SkipReason>,
    /// The signal that ended it; present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<String>,
    /// The actor that stopped it; present only then: `operator`, `cli`, `agent:<label>` or `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped_by: Option<Actor>,
    /// The cause of its end, in words; absent if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end_reason: Option<String>,
    /// Processes alive after its shell exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) leftover_processes: Option<LeftoverProcesses>,
    /// Its processes that survived an attempt to end them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unended_processes: Vec<UnendedProcesses>,
    /// Files with the exact streams; absent if nothing was omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) artifacts: Vec<Artifact>,
    /// Index of stdout in the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stdout_artifact: Option<usize>,
    /// Index of stderr in the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stderr_artifact: Option<usize>,
    /// Bytes that even the files lack; absent if they are complete.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    pub(super) dropped_bytes: u64,
}

/// Builds the canonical envelope.
pub fn project(complete: &BatchDetails) -> Envelope {
    ExecCommandBatchTool::envelope(&BatchResult::fit(complete))
}

impl BatchResult {
    /// Builds the result, with output limited to what its receipt has room for.
    pub(super) fn fit(complete: &BatchDetails) -> Self {
        let mut result = Self::of(complete);
        receipt::fit(&mut result);
        result.items.iter_mut().filter(|item| !item.truncated).for_each(|item| item.output_id = None);
        result
    }

    pub(super) fn of(complete: &BatchDetails) -> Self {
        let items = complete.items.iter().zip(1..);
        let items: Vec<_> = items
            .map(|((cmd, outcome), index)| ItemResult::of(index, cmd, outcome, complete.deadline_ms))
            .collect();
        let is_late = items.iter().any(|item| item.reason == Some(SkipReason::BatchDeadline));
        let count = |status| items.iter().filter(|item| item.status == status).count();
        Self {
            item_count: items.len(),
            completed_count: count(ItemStatus::Completed),
            failed_count: count(ItemStatus::Failed),
            rejected_count: count(ItemStatus::Rejected),
            skipped_count: count(ItemStatus::Skipped),
            stop_on_error: complete.stop_on_error,
            batch_deadline_ms: is_late.then_some(complete.deadline_ms),
            items,
            items_omitted: 0,
        }
    }

    /// Summarises it in one line.
    pub(super) fn summary(&self) -> String {
        format!("ExecCommandBatch completed {}/{} items", self.completed_count, self.item_count)
    }
}

impl ItemOutcome {
    /// Returns whether this outcome counts as an error for `stop_on_error`.
    pub(super) fn is_error(&self) -> bool {
        match self {
            Self::Ended { task, .. } => !is_completed(task),
            Self::Failed(_) | Self::Rejected(_) => true,
            Self::Skipped(_) | Self::Unadmitted(_) => false,
        }
    }
}

fn is_completed(task: &TaskView) -> bool {
    task.status == TaskStatus::Completed && task::exit_status(task) == Some(0)
}

impl ItemResult {
    fn of(index: usize, cmd: &str, outcome: &ItemOutcome, deadline_ms: u64) -> Self {
        let item = Self { index, cmd: mask(cmd).into_owned(), ..Self::default() };
        match outcome {
            ItemOutcome::Ended { task, stdout, stderr, is_late } => {
                let item = item.with_run(task, stdout, stderr);
                let late = is_late.then(|| deadline_clause(deadline_ms));
                Self { end_reason: late.or(item.end_reason), ..item }
            }
            ItemOutcome::Failed(error) => Self { error: Some(error.clone()), ..item },
            ItemOutcome::Rejected(error) => {
                Self { status: ItemStatus::Rejected, error: Some(error.clone()), ..item }
            }
            ItemOutcome::Skipped(reason) => {
                Self { status: ItemStatus::Skipped, reason: Some(*reason), ..item }
            }
            ItemOutcome::Unadmitted(place) => Self {
                status: ItemStatus::Skipped,
                reason: Some(SkipReason::BatchDeadline),
                end_reason: Some(format!("it waited: {place}")),
                ..item
            },
        }
    }

    fn with_run(self, task: &TaskView, stdout: &StreamPreview, stderr: &StreamPreview) -> Self {
        let notes = Notes::of(task);
        let mut artifacts = Vec::new();
        let stdout_artifact = stdout.list_artifact(&mut artifacts);
        let stderr_artifact = stderr.list_artifact(&mut artifacts);
        let interrupted = (task.status == TaskStatus::Interrupted).then(|| TaskFailure {
            kind: "runtime_shutting_down".to_owned(),
            message: match &notes.end_reason {
                Some(reason) => format!("The item {reason}."),
                None => "The runtime was shut down while this item ran.".to_owned(),
            },
        });
        Self {
            status: if is_completed(task) { ItemStatus::Completed } else { ItemStatus::Failed },
            exit_status: task::exit_status(task),
            stdout_preview: stdout.text(),
            stderr_preview: stderr.text(),
            truncated: stdout.is_truncated() || stderr.is_truncated(),
            timed_out: notes.timed_out,
            duration_ms: Some(task.lived_ms()),
            output_id: (!stdout.is_lost).then(|| task.id.clone()),
            error: interrupted.or(notes.error).map(ItemError::from),
            signal: task::signal(task),
            stopped_by: notes.stopped_by,
            end_reason: notes.end_reason,
            leftover_processes: notes.leftover_processes,
            unended_processes: notes.unended_processes,
            artifacts,
            stdout_artifact,
            stderr_artifact,
            dropped_bytes: stdout.dropped_bytes + stderr.dropped_bytes,
            ..self
        }
    }
}

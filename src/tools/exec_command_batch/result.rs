//! The outcome of a batch: what is known about each item, and the typed result built from it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExecCommandBatchTool, receipt};
use crate::envelope::{Actor, Envelope, TaskId, ToolError, mask};
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
    },
    /// It could not be run, or could not be completed.
    Failed(ItemError),
    /// It was rejected at its turn.
    Rejected(ItemError),
    /// It was skipped.
    Skipped(SkipReason),
}

/// Why an item was rejected or could not be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemError {
    /// One of the error kinds.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
    /// The same command has had no effect and may succeed later; absent in old recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
}

impl ItemError {
    /// Creates an error that is the item's own, without a hint, and stays what it is.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), recovery_hint: None, retryable: Some(false) }
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

/// Why an item's turn never came.
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
    /// How many items there are.
    pub(super) item_count: usize,
    /// How many exited with 0.
    pub(super) completed_count: usize,
    /// How many ended otherwise, or could not be started.
    pub(super) failed_count: usize,
    /// How many were refused.
    pub(super) rejected_count: usize,
    /// How many never had their turn.
    pub(super) skipped_count: usize,
    /// The rest was to be skipped after a failure.
    pub(super) stop_on_error: bool,
    /// After how long no further item started, in milliseconds; present only when an item was skipped for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) batch_deadline_ms: Option<u64>,
    /// The items, in order.
    pub(super) items: Vec<ItemResult>,
    /// How many items a shorter form of the answer has no room for; absent when none.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    pub(super) items_omitted: u64,
}

/// How an item stands at the end of its batch.
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
    /// Its number, from 1.
    pub(super) index: usize,
    /// The command line, secrets masked.
    pub(super) cmd: String,
    /// What became of it.
    pub(super) status: ItemStatus,
    /// Its exit status, 124 after a timeout; null when a signal ended it or it did not run.
    pub(super) exit_status: Option<i32>,
    /// What it printed; null when that is blank.
    pub(super) stdout_preview: Option<String>,
    /// What it printed as errors; null when that is blank.
    pub(super) stderr_preview: Option<String>,
    /// Something was left out of a preview.
    pub(super) truncated: bool,
    /// It ran longer than it might, and was ended.
    pub(super) timed_out: bool,
    /// How long it ran, in milliseconds; null when it did not.
    pub(super) duration_ms: Option<u64>,
    /// What TaskOutput reads on with in what was left out; absent when nothing was, or when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output_id: Option<TaskId>,
    /// Why it was rejected or could not be run; null for one that ran, and for one that was skipped.
    pub(super) error: Option<ItemError>,
    /// Why it was skipped, present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<SkipReason>,
    /// The signal that ended it, present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<String>,
    /// Who stopped it, present only then: `operator`, `cli`, `agent:<label>` or `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped_by: Option<Actor>,
    /// Who or what ended it, in words; absent if that is the command itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end_reason: Option<String>,
    /// Processes still alive after its shell had exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) leftover_processes: Option<LeftoverProcesses>,
    /// Its processes that are still alive although they were to be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unended_processes: Vec<UnendedProcesses>,
    /// Files with exact streams; absent when nothing was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) artifacts: Vec<Artifact>,
    /// Place of stdout among the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stdout_artifact: Option<usize>,
    /// Place of stderr among the artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stderr_artifact: Option<usize>,
    /// Bytes that even the files do not have; absent when they are whole.
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
        let items: Vec<_> =
            items.map(|((cmd, outcome), index)| ItemResult::of(index, cmd, outcome)).collect();
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
            Self::Skipped(_) => false,
        }
    }
}

fn is_completed(task: &TaskView) -> bool {
    task.status == TaskStatus::Completed && task::exit_status(task) == Some(0)
}

impl ItemResult {
    fn of(index: usize, cmd: &str, outcome: &ItemOutcome) -> Self {
        let item = Self { index, cmd: mask(cmd).into_owned(), ..Self::default() };
        match outcome {
            ItemOutcome::Ended { task, stdout, stderr } => item.with_run(task, stdout, stderr),
            ItemOutcome::Failed(error) => Self { error: Some(error.clone()), ..item },
            ItemOutcome::Rejected(error) => {
                Self { status: ItemStatus::Rejected, error: Some(error.clone()), ..item }
            }
            ItemOutcome::Skipped(reason) => {
                Self { status: ItemStatus::Skipped, reason: Some(*reason), ..item }
            }
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

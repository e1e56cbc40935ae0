//! Runs the items of a batch, one after another. The call waits for each of them: none ever becomes a task, and
//! dropping the call ends the running command.

use std::sync::Arc;
use std::time::Duration;

use super::ExecCommandBatchTool;
use super::input::{BatchInput, ItemInput};
use super::receipt::{pointer, receipt, rooms_beside};
use super::result::{BatchDetails, BatchResult, ItemError, ItemOutcome, SkipReason};
use crate::clock::millis;
use crate::envelope::{ErrorKind, ToolError};
use crate::model::phrases::unusable_field;
use crate::model::{
    BatchItem, BatchRequest, Error, ExecOutcome, ExecRequest, HeldCommand, TaskStatus, TaskView,
};
use crate::runtime::{Leftovers, OutputStream, StoredOutput};
use crate::tools::budget::Room;
use crate::tools::cancel_guard::{CancelGuard, withdrawn};
use crate::tools::plan::PlannedCommand;
use crate::tools::preview::StreamPreview;
use crate::tools::verb::{ToolContext, Verb};

/// The error kind of an item with an interactive field.
const UNSUPPORTED_FIELD: &str = "unsupported_batch_command_field";
/// The error kind of the item that was running when the call was withdrawn.
const CANCELLED: &str = "cancelled";

/// Waits until the batch may begin: the operator may have paused agent calls, or may have to approve it.
pub(super) async fn admit(cx: &ToolContext<'_>, input: &BatchInput) -> Result<(), ToolError> {
    let base = &cx.caller.cwd;
    let command = |item: &ItemInput| HeldCommand {
        cmd: item.cmd.clone(),
        workdir: item.workdir.as_ref().map_or_else(|| base.clone(), |workdir| base.join(workdir)),
        shell: item.shell.clone(),
        login: item.login,
        tty: false,
    };
    let batch = BatchRequest {
        actor: cx.caller.actor.clone(),
        call: cx.call,
        commands: input.items.iter().map(command).collect(),
        stop_on_error: input.stop_on_error,
        cost: Vec::new(),
    };
    Ok(CancelGuard::new(cx).ends(cx.cut, cx.runtime.admit(batch)).await?)
}

/// Runs a batch to its end.
pub(super) async fn run(cx: ToolContext<'_>, input: BatchInput) -> BatchDetails {
    let mut batch = RunningBatch {
        cx,
        deadline: cx.runtime.clock().now().mono + cx.runtime.limits().batch_deadline,
        stop_on_error: input.stop_on_error,
        items: input.items,
        outcomes: Vec::new(),
        is_over: false,
    };
    let mut halted = None;
    while let Some(item) = batch.items.get(batch.outcomes.len()).cloned() {
        let cut = cx.cut.reason().map(|_| SkipReason::Cancelled);
        let late = batch.is_late().then_some(SkipReason::BatchDeadline);
        let outcome = match halted.or(cut).or(late) {
            Some(reason) => ItemOutcome::Skipped(reason),
            None => batch.turn(&item).await,
        };
        halted = halted.or_else(|| batch.halts(&outcome));
        batch.outcomes.push(outcome);
    }
    if halted == Some(SkipReason::Cancelled) {
        cx.cut.took();
    }
    batch.file().await;
    cx.runtime.catch_up().await;
    batch.is_over = true;
    batch.complete()
}

struct RunningBatch<'a> {
    cx: ToolContext<'a>,
    /// The time after which no further item starts, on the runtime's clock.
    deadline: Duration,
    stop_on_error: bool,
    items: Vec<ItemInput>,
    /// The outcomes of the items that have had their turn.
    outcomes: Vec<ItemOutcome>,
    is_over: bool,
}

impl RunningBatch<'_> {
    fn time_left(&self) -> Duration {
        self.deadline.saturating_sub(self.cx.runtime.clock().now().mono)
    }

    fn is_late(&self) -> bool {
        self.time_left().is_zero()
    }

    /// Returns why no further item runs after this outcome, or `None` to continue.
    fn halts(&self, outcome: &ItemOutcome) -> Option<SkipReason> {
        let ended = match outcome {
            ItemOutcome::Ended { task, .. } => Some(task.status),
            _ => None,
        };
        match (outcome, ended) {
            // Someone stopped the agent's work as a whole, not only this command.
            (_, Some(TaskStatus::Cancelled | TaskStatus::Interrupted)) => Some(SkipReason::Cancelled),
            (ItemOutcome::Failed(error), _) if error.is_stop() => Some(SkipReason::Cancelled),
            (ItemOutcome::Skipped(reason), _) => Some(*reason),
            (ItemOutcome::Unadmitted(_), _) => Some(SkipReason::BatchDeadline),
            (outcome, _) => (self.stop_on_error && outcome.is_error()).then_some(SkipReason::StopOnError),
        }
    }

    /// Checks an item and runs it.
    async fn turn(&self, item: &ItemInput) -> ItemOutcome {
        if let Some((kind, message)) = refusal(item) {
            return ItemOutcome::Rejected(ItemError::new(kind, message));
        }
        let task = match self.run(item).await {
            // An item is never promoted; if it were, its output so far would be reported.
            Ok(ExecOutcome::Completed(task) | ExecOutcome::Promoted(task) | ExecOutcome::Held(task))
            | Err(Error::StartUnknown(task)) => task,
            Err(error) => return not_run(error.into()),
        };
        if task.never_ran() && task.status == TaskStatus::Failed && self.is_late() {
            return late_item(&task);
        }
        let is_late = task.ended.as_ref().is_some_and(|ended| ended.timed_out)
            && task.timeout_ms.is_some_and(|limit| limit < millis(item.time()));
        let read = async {
            let output = self.cx.runtime.output_of(&task)?;
            let budget = self.cx.caller.room.budget(item.max_output_tokens);
            StreamPreview::streams(&output, &task.id, budget).await
        };
        match read.await {
            Ok((stdout, stderr)) => ItemOutcome::Ended { task, stdout, stderr, is_late },
            Err(error) => not_run(error.into()),
        }
    }

    /// Runs a command; ends it if the caller asks for the call to end.
    async fn run(&self, item: &ItemInput) -> Result<ExecOutcome, Error> {
        let ToolContext { runtime, cut, call, caller } = self.cx;
        let running = runtime.exec(self.request(item));
        tokio::pin!(running);
        tokio::select! {
            biased;
            outcome = &mut running => outcome,
            reason = cut.wait_for_cut() => {
                runtime.cancel_foreground(call, &caller.actor, &reason.why());
                running.await
            }
        }
    }

    fn request(&self, item: &ItemInput) -> ExecRequest {
        let ToolContext { caller, call, .. } = self.cx;
        ExecRequest {
            actor: caller.actor.clone(),
            call,
            cmd: item.cmd.clone(),
            shell: item.shell.clone(),
            login: item.login,
            workdir: item.workdir.clone(),
            base: caller.cwd.clone(),
            tty: false,
            size: None,
            accepts_input: false,
            // So long may it wait for its turn in a lane.
            yield_after: Some(self.time_left()),
            timeout: Some(item.time().min(self.time_left())),
            leftovers: Leftovers::End,
            description: None,
            item: Some(BatchItem { index: self.outcomes.len() + 1, count: self.items.len() }),
            step: None,
            native: None,
        }
    }

    /// Truncates each stream to fit the receipt, and writes files for those that were truncated.
    async fn file(&mut self) {
        let result = BatchResult::of(&self.complete());
        let rooms = rooms_beside(&result, self.cx.caller.room);
        let room = |at: usize, field: &str| rooms.get(&format!("{}/{field}", pointer(at))).copied();
        for (at, outcome) in self.outcomes.iter_mut().enumerate() {
            if let ItemOutcome::Ended { task, stdout, stderr, .. } = outcome
                && let Some(output) = output(&self.cx, task)
            {
                *stdout = stdout
                    .clone()
                    .within(room(at, "stdout_preview").unwrap_or(Room::NONE))
                    .keep(&output, OutputStream::Stdout)
                    .await;
                *stderr = stderr
                    .clone()
                    .within(room(at, "stderr_preview").unwrap_or(Room::NONE))
                    .keep(&output, OutputStream::Stderr)
                    .await;
            }
        }
    }

    fn complete(&self) -> BatchDetails {
        let cmds = self.items.iter().map(|item| item.cmd.clone());
        let items = cmds.zip(self.outcomes.iter().cloned()).collect();
        let deadline_ms = millis(self.cx.runtime.limits().batch_deadline);
        BatchDetails { stop_on_error: self.stop_on_error, deadline_ms, items }
    }
}

impl Drop for RunningBatch<'_> {
    /// Handles a call that was withdrawn: ends the running command and records the outcome of the batch.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let ToolContext { runtime, caller, call, .. } = self.cx;
        runtime.cancel_foreground(call, &caller.actor, &withdrawn(&caller.actor));
        if self.outcomes.len() < self.items.len() {
            let message = "The call was withdrawn while this item ran; the item is being ended.";
            self.outcomes.push(ItemOutcome::Failed(ItemError::new(CANCELLED, message)));
        }
        self.outcomes.resize(self.items.len(), ItemOutcome::Skipped(SkipReason::Cancelled));
        let result = BatchResult::fit(&self.complete());
        let (envelope, receipt) = (ExecCommandBatchTool::envelope(&result), receipt(&result).render());
        self.cx.runtime.leave_behind(self.cx.call, &envelope, &receipt.text);
    }
}

/// Returns the outcome of an item whose turn in a lane did not come in time.
fn late_item(task: &TaskView) -> ItemOutcome {
    match task.first_wait() {
        Some(wait) => ItemOutcome::Unadmitted(wait.describe_for_agent()),
        None => ItemOutcome::Skipped(SkipReason::BatchDeadline),
    }
}

fn output(cx: &ToolContext<'_>, task: &Arc<TaskView>) -> Option<StoredOutput> {
    let output = cx.runtime.output_of(task);
    output.map_err(|error| tracing::warn!(%error, "a batch is answered without the files of an item")).ok()
}

/// Returns what an item would run, or why it would be rejected.
pub(super) fn plan_item(item: ItemInput) -> PlannedCommand {
    let rejection = refusal(&item);
    let ItemInput { cmd, workdir, shell, login, .. } = item;
    PlannedCommand { cmd, workdir, shell, login, tty: false, rejection }
}

/// Returns why an item cannot be run, if so: kind and message.
fn refusal(item: &ItemInput) -> Option<(String, String)> {
    if !item.interactive.is_empty() {
        let fields: Vec<String> = item.interactive.iter().map(|field| format!("`{field}`")).collect();
        let message = format!(
            "ExecCommandBatch items do not support {}; use ExecCommand for this one.",
            fields.join(" and ")
        );
        return Some((UNSUPPORTED_FIELD.to_owned(), message));
    }
    let (field, why) = unusable_field(&item.cmd, item.workdir.as_deref(), item.shell.as_deref())?;
    Some((ErrorKind::InvalidToolInput.to_string(), format!("`{field}` {why}.")))
}

/// Returns the outcome of an item that the runtime did not run.
fn not_run(error: ToolError) -> ItemOutcome {
    match error.kind {
        ErrorKind::ExecutionRootViolation | ErrorKind::WorkdirNotFound => ItemOutcome::Rejected(error.into()),
        ErrorKind::RuntimeShuttingDown => ItemOutcome::Skipped(SkipReason::Cancelled),
        _ => ItemOutcome::Failed(error.into()),
    }
}

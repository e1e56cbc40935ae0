//! TaskStop: ends a task and everything it started, or sends it a single signal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::Receipt;
use super::task::{QUEUED_STEPS, TaskBrief};
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::envelope::{Envelope, ToolError};
use crate::journal::Durability;
use crate::model::phrases::unusable;
use crate::model::{self, StopEffect, StopOutcome, StopSignal};

pub(super) struct TaskStopTool;

/// The task to stop, and the method.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StopInput {
    /// `task_…` from ExecCommand.
    task_id: String,
    /// Kill it at once.
    #[serde(default)]
    force: bool,
    /// Only send this signal.
    signal: Option<StopSignal>,
}

/// The result of a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct StopResult {
    /// The task after the call.
    task: TaskBrief,
    /// `cancelling`: it is being ended; `cancelled`: it has ended; `signalled`: the signal was sent;
    /// `noop`: it had ended before.
    effect: StopEffect,
    /// Whether an immediate kill was requested.
    force_stop_requested: bool,
}

/// What is known about a stop.
#[derive(Debug, Clone)]
pub struct StopDetails {
    /// What the runtime did.
    pub outcome: StopOutcome,
    /// Whether it was to be killed immediately.
    pub force: bool,
}

/// Builds the canonical envelope.
pub fn project(complete: &StopDetails) -> Envelope {
    let StopDetails { outcome: StopOutcome { effect, task }, force } = complete;
    let is_ending = matches!(effect, StopEffect::Cancelling | StopEffect::Cancelled);
    TaskStopTool::envelope(&StopResult {
        task: TaskBrief::of(task),
        effect: *effect,
        // A second stop also kills.
        force_stop_requested: *force || task.stop.as_ref().is_some_and(|stop| stop.force) && is_ending,
    })
}

impl Verb for TaskStopTool {
    const NAME: &'static str = "TaskStop";
    const TITLE: &'static str = "Stop a task";
    const DESCRIPTION: &'static str = "\
Ends a running command (pilothouse task) and every process it started: asked first, killed after {stop_grace}; `force` or a second \
stop kills at once. The answer comes at once, TaskOutput shows the end. `signal` only sends that signal (INT interrupts). Stop \
servers before you finish.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "task_id"), ("session_id", "task_id")];
    const HINTS: Hints = Hints { read_only: false, destructive: true, idempotent: true, open_world: false };
    const DURABILITY: Durability = Durability::Synced;
    const CLI: &'static [&'static str] = &["task", "stop"];
    const EXAMPLES: &'static [(&'static str, &'static str)] =
        &[("End a task and all it started", r#"{"task_id":"task_4k2m9x7q"}"#)];

    type Input = StopInput;
    type Result = StopResult;

    fn check(input: StopInput) -> Result<(), ToolError> {
        validate(&input)
    }

    async fn run(cx: ToolContext<'_>, input: StopInput) -> Result<ToolOutcome, ToolError> {
        validate(&input)?;
        let id = cx.own_task(&input.task_id).await?.id.clone();
        let stop = model::Stop { force: input.force, signal: input.signal };
        let outcome = cx.runtime.stop(&cx.caller.actor, &id, stop).await?;
        Ok(ToolOutcome { envelope: project(&StopDetails { outcome, force: input.force }), task: Some(id) })
    }

    fn summary(stopped: &StopResult) -> String {
        let id = &stopped.task.task_id;
        match stopped.effect {
            StopEffect::Cancelling if stopped.force_stop_requested => format!("{id} is being killed"),
            StopEffect::Cancelling => format!("stop requested for {id}"),
            StopEffect::Cancelled => format!("{id} stopped"),
            StopEffect::Signalled => format!("signal sent to {id}"),
            StopEffect::Noop => format!("nothing to stop: {id} {}", stopped.task.predicate()),
        }
    }

    fn receipt(stopped: &StopResult) -> Receipt {
        let id = &stopped.task.task_id;
        let forced = if stopped.force_stop_requested { ", without grace" } else { "" };
        let outcome = match stopped.effect {
            StopEffect::Cancelling => format!("Stop requested for {id}{forced}"),
            StopEffect::Cancelled => format!("Stopped {id}"),
            StopEffect::Signalled => format!("Signal sent to {id}"),
            StopEffect::Noop if stopped.task.status.is_terminal() => {
                format!("Nothing to stop: {id} had ended before")
            }
            StopEffect::Noop => format!("Nothing to signal: {id} has not started"),
        };
        // What a signal does shows later.
        let stands =
            (stopped.effect != StopEffect::Signalled).then(|| format!("It {}.", stopped.task.predicate()));
        let receipt = Receipt::new(outcome).lines(stands).lines(stopped.task.notes.lines());
        match stopped.effect {
            StopEffect::Cancelling if stopped.force_stop_requested => {
                receipt.next("TaskOutput to see how it ends.")
            }
            StopEffect::Cancelling => {
                receipt.next("TaskOutput to see how it ends; TaskStop again to kill it at once.")
            }
            _ if stopped.task.never_ran => receipt,
            StopEffect::Signalled => receipt.next("TaskOutput to see how it reacts."),
            StopEffect::Noop if !stopped.task.status.is_terminal() => receipt.next(QUEUED_STEPS),
            StopEffect::Cancelled | StopEffect::Noop => receipt.next("TaskOutput to read what it printed."),
        }
    }
}

fn validate(input: &StopInput) -> Result<(), ToolError> {
    if input.force && input.signal.is_some() {
        return Err(unusable(TaskStopTool::NAME, "signal", "`signal` and `force` exclude each other"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::input;

    #[test]
    fn signals_are_named_without_sig() {
        let parsed = input::parse::<TaskStopTool>(json!({"task_id": "t", "signal": "USR1"})).unwrap();
        assert_eq!(parsed.signal, Some(StopSignal::Usr1));
        assert!(input::parse::<TaskStopTool>(json!({"task_id": "t", "signal": "SIGUSR1"})).is_err());
    }
}

//! A command that waits for the operator, as answers show it: that nothing has run, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::Receipt;
use super::task::TaskHandle;
use crate::runtime::{HoldReason, TaskView};

/// A command that waits for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Awaiting {
    /// How to refer to it.
    task_handle: TaskHandle,
    /// Why it waits.
    reason: WaitsFor,
}

impl Awaiting {
    pub(super) fn of(task: &TaskView) -> Self {
        Self { task_handle: TaskHandle::of(task), reason: WaitsFor::of(task).unwrap_or_default() }
    }

    pub(super) fn receipt(&self) -> Receipt {
        Receipt::new("Command awaits the operator; nothing has been run")
            .line(format!("Task: {}", self.task_handle.task_id))
            .line(self.reason.sentence())
            .next("TaskOutput to wait for it, TaskStop to withdraw it. Do not send it again.")
    }
}

/// Why a command waits for the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitsFor {
    /// The operator has paused new commands of agents.
    #[default]
    Paused,
    /// The operator wants to approve commands like this one.
    Approval,
}

impl WaitsFor {
    pub(super) fn of(task: &TaskView) -> Option<Self> {
        task.held.as_ref().map(|reason| match reason {
            HoldReason::Paused => Self::Paused,
            HoldReason::Rule(_) => Self::Approval,
        })
    }

    /// Returns what a receipt says of it.
    pub(super) fn sentence(self) -> String {
        let why = match self {
            Self::Paused => "has paused new commands of agents",
            Self::Approval => "wants to approve commands like this one",
        };
        format!("The operator {why}.")
    }
}

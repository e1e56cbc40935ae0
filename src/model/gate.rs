//! What happened at the approval gate.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::envelope::{Actor, TaskId};
use crate::model::ConsoleProcess;

/// An event of the approval gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GateEvent {
    pub(crate) at: Timestamp,
    pub(crate) actor: Actor,
    pub(crate) what: GateEventKind,
    pub(crate) call: Option<u64>,
    pub(crate) task: Option<TaskId>,
    /// The hash of the request that the answer is bound to.
    pub(crate) hash: Option<String>,
    pub(crate) note: String,
    /// The console that the operator used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) console: Option<ConsoleProcess>,
}

/// The kind of an event of the approval gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum GateEventKind {
    Paused,
    Resumed,
    Rules,
    Held,
    Approved,
    Denied,
    Pending,
}

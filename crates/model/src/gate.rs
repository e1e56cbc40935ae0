//! What happened at the approval gate.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ConsoleProcess;
use pilothouse_envelope::{Actor, TaskId};

/// An event of the approval gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateEvent {
    pub at: Timestamp,
    pub actor: Actor,
    pub what: GateEventKind,
    pub call: Option<u64>,
    pub task: Option<TaskId>,
    /// The hash of the request that the answer is bound to.
    pub hash: Option<String>,
    pub note: String,
    /// The console that the operator used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console: Option<ConsoleProcess>,
}

/// The kind of an event of the approval gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum GateEventKind {
    Paused,
    Resumed,
    Rules,
    Held,
    Approved,
    Denied,
    Pending,
}

//! Calls that wait for the operator's approval: what a console is shown of them and what it may answer. Plain values;
//! `supervisor/approval.rs` decides what becomes of them.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Prefix;
use crate::envelope::{Actor, TaskId};
use crate::facts::HoldReason;

/// What waits for the operator, and whether everything new does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GateView {
    /// Since when new calls of agents are held, while they are.
    pub paused: Option<Timestamp>,
    /// The calls held, oldest first.
    pub held: Vec<HeldCall>,
    /// Requests, and beginnings of commands, that the operator has allowed for the rest of this recording.
    pub allowed: usize,
}

/// A call that is held: nothing of it has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    /// Names it among those that were ever held.
    pub ticket: u64,
    /// The call.
    pub call: u64,
    /// Who called.
    pub actor: Actor,
    /// The agent whose task the call came out of, when a script called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<Actor>,
    /// The tool called.
    pub tool: String,
    /// The task that waits in state `queued`; a batch has none.
    pub task: Option<TaskId>,
    /// What would run, in order.
    pub commands: Vec<HeldCommand>,
    /// Why, in the words of whoever called.
    pub description: Option<String>,
    /// Why it is held.
    pub reason: HoldReason,
    /// Since when.
    pub since: Timestamp,
    /// SHA-256 of the exact request, in hexadecimal: an answer is bound to it.
    pub hash: String,
}

/// One command of a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCommand {
    /// The command line, whole.
    pub cmd: String,
    /// Where it would start: as resolved, or as asked where that happens later.
    pub workdir: PathBuf,
    /// The shell, when it is not the usual one.
    pub shell: Option<String>,
    /// It would run in a login shell.
    pub login: bool,
    /// It would get a terminal.
    pub tty: bool,
}

/// What the operator says to a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Once,
    /// Run it, and ask no more about the very same request.
    Exact,
    /// Run it, and ask no more about commands that begin so, from the same caller in the same place and shell.
    Prefix(Prefix),
    /// Do not run it; the note goes to whoever called.
    Deny {
        /// In the operator's words; may be empty.
        note: String,
    },
}

/// A batch about to run, as far as the gate is concerned.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// Who asks.
    pub actor: Actor,
    /// Number of the call.
    pub call: u64,
    /// The commands, in order.
    pub commands: Vec<HeldCommand>,
    /// The rest would be skipped after a failure.
    pub stop_on_error: bool,
}

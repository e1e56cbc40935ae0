//! Calls held for the operator's approval: what a console shows of them, and how it can respond. Plain values; the
//! decisions are made in `supervisor/approval.rs`.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{CallCost, HoldReason};
use pilothouse_consequence::Consequence;
use pilothouse_consequence::rule_words::Prefix;
use pilothouse_envelope::{Actor, TaskId};

/// The calls held for the operator, and whether all new calls are held.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GateView {
    /// Since when new calls from agents are held, while they are.
    pub paused: Option<Timestamp>,
    /// How many times agents were paused or resumed.
    #[serde(default)]
    pub turns: u64,
    /// The held calls, oldest first. Not part of its JSON, like the lists of a snapshot.
    #[serde(skip)]
    pub held: Vec<HeldCall>,
    /// Number of requests and command prefixes that the operator has allowed for the rest of this recording.
    pub allowed: usize,
    /// Number of approval rules that apply to new calls.
    #[serde(default)]
    pub rules: usize,
}

/// A held call: no part of it has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    /// Identifies the call among all calls that were ever held.
    pub ticket: u64,
    /// The call's number.
    pub call: u64,
    /// Who made the call.
    pub actor: Actor,
    /// The agent whose task the call came from, if a script made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<Actor>,
    /// The tool called.
    pub tool: String,
    /// The task waiting in state `queued`; `None` for a batch.
    pub task: Option<TaskId>,
    /// The commands that would run, in order.
    pub commands: Vec<HeldCommand>,
    /// The reason given by the caller.
    pub description: Option<String>,
    /// Why it is held.
    pub reason: HoldReason,
    /// When it was first held.
    pub since: Timestamp,
    /// SHA-256 of the exact request, in hexadecimal; the operator's answer is bound to it.
    pub hash: String,
    /// What its commands would cost, as computed last.
    #[serde(default)]
    pub cost: CallCost,
}

/// What the operator was shown of a held call on which they decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCall {
    /// The call.
    pub ticket: u64,
    /// The hash of the request.
    pub hash: String,
    /// The revision of what it would cost, if they were told anything.
    pub cost: Option<u32>,
}

impl HeldCall {
    /// Returns what somebody was shown of it, with this revision of what it would cost.
    #[must_use]
    pub fn shown_call(&self, cost: Option<u32>) -> ShownCall {
        ShownCall { ticket: self.ticket, hash: self.hash.clone(), cost }
    }
}

/// One command of a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCommand {
    /// The full command line.
    pub cmd: String,
    /// The folder it would start in: resolved, or as requested if it is resolved later.
    pub workdir: PathBuf,
    /// The shell, if not the default.
    pub shell: Option<String>,
    /// Whether it would run in a login shell.
    pub login: bool,
    /// Whether it would get a terminal.
    pub tty: bool,
}

/// The operator's decision on a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Once,
    /// Run it, and do not ask again about the identical request.
    Exact,
    /// Run it, and do not ask again about commands with this prefix from the same caller, in the same folder and
    /// shell.
    Prefix(Prefix),
    /// Do not run it; the note goes to the caller.
    Deny {
        /// In the operator's words; may be empty.
        note: String,
    },
}

/// A batch about to run, as far as the approval gate is concerned.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// Who asks.
    pub actor: Actor,
    /// Number of the call.
    pub call: u64,
    /// The commands, in order.
    pub commands: Vec<HeldCommand>,
    /// Whether the remaining commands are skipped after a failure.
    pub stop_on_error: bool,
    /// What each command would cost, if it was computed because a rule asks by that.
    pub cost: Vec<Consequence>,
}

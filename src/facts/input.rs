//! What a task wants typed, and why input is refused.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a waiting task needs (docs/contract.md#waiting-for-input).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Need {
    /// A line of text.
    Line,
    /// A single key.
    Key,
    /// A line that the terminal does not echo.
    Secret,
}

/// How it is known that a task waits (docs/contract.md#waiting-for-input).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum InputEvidence {
    /// The kernel shows it reading its terminal.
    TtyRead,
    /// Its terminal does not echo.
    EchoOff,
    /// It sleeps until its terminal becomes readable, perhaps for something else too, behind a line it has not ended: weak.
    TtyPoll,
    /// It has written nothing for a while: weak.
    Quiet,
}

/// InputEvidence that a task wants input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What it wants.
    pub kind: Need,
    /// How that is known.
    pub evidence: InputEvidence,
    /// Since when.
    pub since: Timestamp,
    /// The name of the program that asks, where it asks at a terminal beside the command's streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

impl Waiting {
    /// Tells whether it is known. At a terminal beside a command's streams nothing else reads. Elsewhere a program that reads single keys, or waits for its terminal among other things, may as
    /// well be an editor, a pager or a shell at its prompt.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        let is_weak = matches!(self.evidence, InputEvidence::TtyPoll | InputEvidence::Quiet);
        !is_weak && (self.kind != Need::Key || self.program.is_some())
    }
}

/// The reasons for refusing an input (docs/contract.md#refused-input).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RejectionReason {
    /// The task is not running.
    TaskNotRunning,
    /// Its stdin is not open.
    InputNotEnabled,
    /// The operator drives it now.
    HeldByOperator,
    /// It has not read what was sent before.
    InputBacklogged,
    /// Keys and sizes need a terminal.
    TtyRequired,
}

impl RejectionReason {
    /// Returns the word used on every surface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

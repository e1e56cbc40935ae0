//! The input a task wants, the reasons input is refused, and input that is not read.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a waiting task needs (docs/contract.md#waiting-for-input).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum InputNeed {
    /// A line of text.
    Line,
    /// A single key.
    Key,
    /// What nobody else may read: the terminal does not echo it, or the question says so.
    Secret,
    /// No input: a process of it is stopped.
    Stopped,
}

/// The evidence that a task waits for input (docs/contract.md#waiting-for-input).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum InputEvidence {
    /// The kernel shows the task reading its terminal.
    TtyRead,
    /// The task's terminal does not echo.
    EchoOff,
    /// Weak: the task sleeps until its terminal becomes readable, perhaps polling other files as well, and its screen looks
    /// like a question.
    TtyPoll,
    /// Weak: the task has written nothing for a while.
    Quiet,
    /// The kernel shows a process of it as stopped. It goes on when it gets SIGCONT.
    Halted,
    /// The kernel stopped a process group at the terminal beside the task's streams, which another group has.
    OutOfTurn,
}

impl InputEvidence {
    /// Tells whether an editor, a pager or a shell at its prompt would look the same.
    pub fn is_weak(self) -> bool {
        matches!(self, Self::TtyPoll | Self::Quiet)
    }
}

/// A task's wait for input, with the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputWait {
    /// What the task wants.
    pub kind: InputNeed,
    /// The evidence for it.
    pub evidence: InputEvidence,
    /// Since when.
    pub since: Timestamp,
    /// The name of the program that asks, if it asks on a terminal other than the command's streams, or that is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What it asks, if its screen shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

impl InputNeed {
    /// Tells whether input would satisfy it.
    pub fn is_input(self) -> bool {
        self != Self::Stopped
    }
}

impl InputWait {
    /// Tells whether only the operator may answer: a secret, or what is asked beside the command's streams.
    pub fn is_for_operator(&self) -> bool {
        self.kind.is_input() && (self.kind == InputNeed::Secret || self.program.is_some())
    }

    /// Tells whether the task certainly waits for input. On a terminal beside a command's streams nothing else would
    /// read. Elsewhere, a program that reads single keys, or polls its terminal among other files, may just as well
    /// be an editor, a pager or a shell at its prompt.
    pub fn is_certain(&self) -> bool {
        let is_strong = !self.evidence.is_weak() && self.kind != InputNeed::Key;
        self.kind.is_input() && (is_strong || self.program.is_some())
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
    /// It is more than may be sent at once.
    InputTooLong,
    /// Keys and sizes need a terminal.
    TtyRequired,
    /// It was ended with `eof`, or no process has it open any more.
    InputClosed,
    /// A program of it asks where only the operator answers.
    OperatorAnswers,
}

impl RejectionReason {
    /// Returns the reason's name, the same on every surface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Input that a task has taken and that no program will read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LostInput {
    /// Number of bytes.
    pub bytes: u64,
    /// Whether the program may have read some or all of them; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// How they were lost.
    pub cause: InputLoss,
}

/// How input is lost.
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
pub enum InputLoss {
    /// The program made its terminal discard what it had not read.
    ThrownAway,
    /// The task ended, or closed its input, before it was read.
    NeverRead,
}

/// Input that a task has taken and no program has read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnreadInput {
    /// Number of bytes.
    pub bytes: u64,
    /// Whether its end is a line without an end in a terminal that hands over whole lines.
    pub has_open_line: bool,
}

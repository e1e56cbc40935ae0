//! The errors that a tool returns, and their kinds. A command's own failure is never one of them: a command that ran
//! and exited with 1 is a success of the tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a tool could not do what was asked (docs/contract.md#error-kinds).
///
/// To add one: a variant here, its exit code below, and a row in docs/contract.md.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ErrorKind {
    /// The input does not match the tool's schema.
    InvalidToolInput,
    /// No tool has that name.
    UnknownTool,
    /// The working directory lies outside the workspace.
    ExecutionRootViolation,
    /// The working directory does not exist.
    WorkdirNotFound,
    /// The shell could not be started.
    CommandSpawnFailed,
    /// The login profile ended the shell before the command.
    ExecutionFailed,
    /// Nobody can know whether the command had begun.
    StartUnknown,
    /// No task has that id.
    TaskNotFound,
    /// The task belongs to someone else.
    NotTaskOwner,
    /// As many tasks run as may.
    TaskLimitReached,
    /// The operator said no.
    OperatorDenied,
    /// The agent itself did not let its own call be made.
    AgentDenied,
    /// The command wrote more than it may.
    OutputLimitExceeded,
    /// The system has no more descriptors, terminals or processes.
    ResourceExhausted,
    /// The kernel cannot hold the ceilings of a command, which must not run without.
    CeilingUnavailable,
    /// Too little room on the disk to start a task.
    LowDiskSpace,
    /// The operator has not decided yet.
    OperatorPending,
    /// The command's turn in its lane has not come.
    Queued,
    /// It was stopped before it began, not by the operator.
    Withdrawn,
    /// The runtime is going away.
    RuntimeShuttingDown,
    /// As many connections are open as may be.
    TooManyConnections,
    /// The environment of the agent is larger than can be handed to a runtime.
    EnvironmentTooLarge,
    /// A line of input longer than a terminal can take.
    InputLineTooLong,
    /// An idempotency key stands for another request already.
    IdempotencyConflict,
    /// No question has that id.
    QuestionNotFound,
    /// The question was settled before.
    QuestionSettled,
    /// It is for the operator to say.
    OperatorOnly,
    /// A fault of Pilothouse itself.
    InternalError,
}

impl ErrorKind {
    /// Every kind, in the order of the table.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the name used everywhere.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns whether the caller can fix it with a different input, so that retrying the same one is out of the
    /// question.
    pub fn is_about_input(self) -> bool {
        matches!(
            self,
            Self::InvalidToolInput
                | Self::UnknownTool
                | Self::ExecutionRootViolation
                | Self::WorkdirNotFound
                | Self::InputLineTooLong
        )
    }

    /// Returns the exit code of a command line that ends with this error.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::OutputLimitExceeded | Self::InternalError => 1,
            Self::InvalidToolInput | Self::InputLineTooLong | Self::EnvironmentTooLarge => 2,
            Self::CommandSpawnFailed | Self::ExecutionFailed => 4,
            Self::UnknownTool | Self::WorkdirNotFound | Self::TaskNotFound | Self::QuestionNotFound => 5,
            Self::IdempotencyConflict | Self::QuestionSettled => 6,
            Self::ExecutionRootViolation
            | Self::Withdrawn
            | Self::NotTaskOwner
            | Self::OperatorDenied
            | Self::AgentDenied
            | Self::OperatorOnly => 7,
            Self::StartUnknown => 75,
            Self::TaskLimitReached => 11,
            Self::ResourceExhausted
            | Self::CeilingUnavailable
            | Self::LowDiskSpace
            | Self::OperatorPending
            | Self::Queued
            | Self::RuntimeShuttingDown
            | Self::TooManyConnections => 12,
        }
    }
}

/// The `error` of an envelope: the failure and the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolError {
    /// The error kind, for programs.
    pub kind: ErrorKind,
    /// The failure, in one complete sentence.
    pub message: String,
    /// Facts about this failure, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Value>>,
    /// The recommended next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
    /// Whether the call had no effect and may succeed later without any change.
    pub retryable: bool,
}

/// The maximum length of a message and of a hint, in characters. Either may quote input of any length.
const SENTENCE_CHARS: usize = 500;

fn shorten(sentence: String) -> String {
    match sentence.char_indices().nth(SENTENCE_CHARS - 1) {
        // Only if more than one character follows.
        Some((at, last)) if at + last.len_utf8() < sentence.len() => {
            format!("{}…", sentence.get(..at).unwrap_or(""))
        }
        _ => sentence,
    }
}

impl ToolError {
    /// Creates an error of a call that is not to be sent again as it is.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: shorten(message.into()), details: None, recovery_hint: None, retryable: false }
    }

    /// Says whether the same call has had no effect and may succeed later. That depends on what happened, not on the
    /// kind: a link that broke may have carried the call, a host whose key has changed refuses every call.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Adds facts about this case.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.recovery_hint = Some(shorten(hint.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_is_the_same_word_in_rust_and_in_json() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), json!(kind.as_str()));
        }
    }

    #[test]
    fn a_sentence_is_bounded_whatever_stands_in_it() {
        for length in [499, 500, 501, 100_000] {
            let error =
                ToolError::new(ErrorKind::InternalError, "é".repeat(length)).with_hint("x".repeat(length));
            let hint = error.recovery_hint.expect("a hint");
            assert_eq!(
                (error.message.chars().count(), hint.len() <= 502),
                (length.min(500), true),
                "{length}"
            );
            assert_eq!(error.message.ends_with('…'), length > 500);
        }
    }

    #[test]
    fn absent_details_and_hint_are_left_out() {
        let error = ToolError::new(ErrorKind::TaskLimitReached, "64 tasks run already.").retryable(true);
        let shown = serde_json::to_string(&error).unwrap();
        assert_eq!(
            shown,
            r#"{"kind":"task_limit_reached","message":"64 tasks run already.","retryable":true}"#
        );
        assert_eq!(serde_json::from_str::<ToolError>(&shown).unwrap(), error);
    }
}

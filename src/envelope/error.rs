//! The errors a tool answers with, and the one table of their kinds. Never a command's own failure:
//! a command that ran and exited with 1 is a success of the tool.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Declares the kinds and everything derived from them, so that each fact stands in one row.
macro_rules! error_kinds {
    ($($(#[$doc:meta])* $kind:ident { name: $name:literal, retryable: $retryable:literal, exit: $exit:literal })+) => {
        /// Why a tool could not do what was asked (docs/contract.md#error-kinds).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorKind {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)+
        }

        impl ErrorKind {
            /// Every kind, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Returns the word used on every surface.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// Tells whether the same call may succeed later, unless the error itself says otherwise.
            #[must_use]
            pub fn is_retryable(self) -> bool {
                match self { $(Self::$kind => $retryable,)+ }
            }

            /// Returns the exit code of a command line that ends with this error.
            #[must_use]
            pub fn exit_code(self) -> u8 {
                match self { $(Self::$kind => $exit,)+ }
            }
        }
    };
}

error_kinds! {
    /// The input does not match the tool's schema.
    InvalidToolInput { name: "invalid_tool_input", retryable: false, exit: 2 }
    /// No tool has that name.
    UnknownTool { name: "unknown_tool", retryable: false, exit: 5 }
    /// The working directory lies outside the workspace.
    ExecutionRootViolation { name: "execution_root_violation", retryable: false, exit: 7 }
    /// The working directory does not exist.
    WorkdirNotFound { name: "workdir_not_found", retryable: false, exit: 5 }
    /// The shell could not be started.
    CommandSpawnFailed { name: "command_spawn_failed", retryable: false, exit: 4 }
    /// No task has that id.
    TaskNotFound { name: "task_not_found", retryable: false, exit: 5 }
    /// The task belongs to someone else.
    NotTaskOwner { name: "not_task_owner", retryable: false, exit: 7 }
    /// As many tasks run as may.
    TaskLimitReached { name: "task_limit_reached", retryable: true, exit: 11 }
    /// The operator said no.
    OperatorDenied { name: "operator_denied", retryable: false, exit: 7 }
    /// The command wrote more than it may.
    OutputLimitExceeded { name: "output_limit_exceeded", retryable: false, exit: 1 }
    /// The system has no more descriptors, terminals or processes.
    ResourceExhausted { name: "resource_exhausted", retryable: true, exit: 12 }
    /// Too little room on the disk to start a task.
    LowDiskSpace { name: "low_disk_space", retryable: false, exit: 12 }
    /// The operator has not decided yet.
    OperatorPending { name: "operator_pending", retryable: true, exit: 12 }
    /// The runtime is going away.
    RuntimeShuttingDown { name: "runtime_shutting_down", retryable: true, exit: 12 }
    /// As many connections are open as may be.
    TooManyConnections { name: "too_many_connections", retryable: true, exit: 12 }
    /// A line of input longer than a terminal can take.
    InputLineTooLong { name: "input_line_too_long", retryable: false, exit: 2 }
    /// An idempotency key stands for another request already.
    IdempotencyConflict { name: "idempotency_conflict", retryable: false, exit: 6 }
    /// No question has that id.
    QuestionNotFound { name: "question_not_found", retryable: false, exit: 5 }
    /// The question was settled before.
    QuestionSettled { name: "question_settled", retryable: false, exit: 6 }
    /// It is for the operator to say.
    OperatorOnly { name: "operator_only", retryable: false, exit: 7 }
    /// A fault of Pilothouse itself.
    InternalError { name: "internal_error", retryable: false, exit: 1 }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The `error` of an envelope: what went wrong and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolError {
    /// The kind, for programs.
    pub kind: ErrorKind,
    /// What went wrong, one whole sentence.
    pub message: String,
    /// Facts of this very case, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Value>>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
    /// The same call may succeed later.
    pub retryable: bool,
}

/// Longest message and longest hint, in characters. What a caller gave may stand in them, whatever its length.
const SENTENCE_CHARS: usize = 500;

fn bounded(sentence: String) -> String {
    match sentence.char_indices().nth(SENTENCE_CHARS - 1) {
        // One more character is all there is.
        Some((at, last)) if at + last.len_utf8() < sentence.len() => {
            format!("{}…", sentence.get(..at).unwrap_or(""))
        }
        _ => sentence,
    }
}

impl ToolError {
    /// Makes an error of a kind, retryable as the kind is.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let retryable = kind.is_retryable();
        let message = bounded(message.into());
        Self { kind, message, details: None, recovery_hint: None, retryable }
    }

    /// Adds the facts of this case.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.recovery_hint = Some(bounded(hint.into()));
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
        let error = ToolError::new(ErrorKind::TaskLimitReached, "64 tasks run already.");
        let shown = serde_json::to_string(&error).unwrap();
        assert_eq!(
            shown,
            r#"{"kind":"task_limit_reached","message":"64 tasks run already.","retryable":true}"#
        );
        assert_eq!(serde_json::from_str::<ToolError>(&shown).unwrap(), error);
    }
}

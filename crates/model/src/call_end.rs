//! What an answer says of the commands of its call, read where its envelope is known.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use pilothouse_envelope::ErrorKind;

/// The most of an operator's words, in characters.
const WORDS: usize = 200;

/// What an answer says of the commands of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// The operator denied them, in these words on one line; empty if there were none.
    Denied(String),
    /// They were refused for another reason.
    Refused(ErrorKind),
    /// The only one ended with this exit code.
    Exit(i32),
    /// What was to be typed was refused.
    InputRefused,
    /// Of a batch, so many were completed; of a stream, so many lines succeeded.
    Items {
        /// How many.
        completed: u64,
        /// Of how many.
        all: u64,
    },
}

impl CallEnd {
    /// Returns what a canonical envelope says.
    pub fn of(envelope: &Value) -> Option<Self> {
        let refusal = envelope.pointer("/error/kind").and_then(|kind| ErrorKind::deserialize(kind).ok());
        match refusal {
            Some(ErrorKind::OperatorDenied) => {
                let words =
                    envelope.pointer("/error/details/note").and_then(Value::as_str).unwrap_or_default();
                let line = words.trim().lines().next().unwrap_or_default();
                return Some(Self::Denied(line.chars().take(WORDS).collect()));
            }
            Some(kind) => return Some(Self::Refused(kind)),
            None => {}
        }
        if envelope.pointer("/result/accepted_input") == Some(&Value::Bool(false)) {
            return Some(Self::InputRefused);
        }
        let number = |key: &str| envelope.get("result")?.get(key)?.as_u64();
        if let (Some(failed), Some(all)) = (number("failed"), number("done")) {
            return Some(Self::Items { completed: all.saturating_sub(failed), all });
        }
        if let (Some(completed), Some(all)) = (number("completed_count"), number("item_count")) {
            return Some(Self::Items { completed, all });
        }
        // A tool calls it the status, an agent's own shell the code.
        let exit = number("exit_status").or_else(|| number("exit_code"))?;
        i32::try_from(exit).ok().map(Self::Exit)
    }
}

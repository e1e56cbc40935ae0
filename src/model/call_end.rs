//! What an answer says of the commands of its call, read where its envelope is known.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an answer says of the commands of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// The operator denied them.
    Denied,
    /// The only one ended with this exit code.
    Exit(i32),
    /// Of a batch, so many were completed.
    Items {
        /// How many.
        completed: u64,
        /// Of how many.
        all: u64,
    },
}

impl CallEnd {
    /// Returns what a canonical envelope says.
    pub(crate) fn of(envelope: &Value) -> Option<Self> {
        if envelope.pointer("/error/kind").is_some_and(|kind| kind == "operator_denied") {
            return Some(Self::Denied);
        }
        let number = |key: &str| envelope.get("result")?.get(key)?.as_u64();
        if let (Some(completed), Some(all)) = (number("completed_count"), number("item_count")) {
            return Some(Self::Items { completed, all });
        }
        // A tool calls it the status, an agent's own shell the code.
        let exit = number("exit_status").or_else(|| number("exit_code"))?;
        i32::try_from(exit).ok().map(Self::Exit)
    }
}

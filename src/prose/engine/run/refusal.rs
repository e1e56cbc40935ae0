//! Refusals of runs, as they are sent and shown.

use serde::{Deserialize, Serialize};

use crate::prose::engine::record::error::RunError;

/// A refusal as it is sent and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRefusal {
    /// Why.
    pub message: String,
    /// The exit code that `run` ends with.
    pub exit_code: u8,
}

impl From<RunError> for RunRefusal {
    fn from(error: RunError) -> Self {
        let exit_code = match error {
            RunError::Io { .. } | RunError::Journal { .. } => 1,
            RunError::NobodyAnswers { .. } => 3,
            _ => 2,
        };
        Self { message: error.to_string(), exit_code }
    }
}

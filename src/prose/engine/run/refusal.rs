//! Refusals of runs, as they are sent and shown.

use serde::{Deserialize, Serialize};

use crate::prose::engine::record::error::Error;

/// A refusal as it is sent and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub message: String,
    /// The exit code that `run` ends with.
    pub exit_code: u8,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let exit_code = match error {
            Error::Io { .. } | Error::Journal { .. } => 1,
            Error::NobodyAnswers { .. } => 3,
            _ => 2,
        };
        Self { message: error.to_string(), exit_code }
    }
}

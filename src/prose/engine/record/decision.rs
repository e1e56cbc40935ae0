//! How a question was decided, as it is recorded.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::RecordedAnswer;

/// How a question was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedDecision {
    /// Somebody answered.
    Answered(RecordedAnswer),
    /// Nobody did in time.
    TimedOut(Timestamp),
    /// The answers file says that it fails, with this message.
    Failed(String),
}

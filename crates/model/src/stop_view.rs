//! A stop of a task, as shown.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use pilothouse_envelope::Actor;

/// A stop in progress or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopView {
    /// Who requested it.
    pub by: Actor,
    /// When it was requested.
    pub at: Timestamp,
    /// When the grace period ends and KILL follows.
    pub kill_at: Option<Timestamp>,
    /// Whether KILL was requested immediately.
    pub force: bool,
    /// The reason, if it adds something to `by`: the runtime ended, the caller hung up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

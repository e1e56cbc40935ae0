//! Requests that end without an answer, and what their client is told: whether the call may have had an effect, and
//! whether the same call may succeed later. Pure.

use serde_json::json;

use super::join::ShimError;
use crate::envelope::{ErrorKind, ToolError};
use crate::link;

/// Why requests end without an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum RequestLoss<'a> {
    /// The runtime ended while they were in flight.
    Gone,
    /// The connection to the runtime's machine broke while they were in flight.
    Link(&'a link::Error),
    /// No runtime could be joined.
    Unreachable(&'a ShimError),
}

impl RequestLoss<'_> {
    /// Returns what to tell the client of a request, which has no effect anywhere if it `only_reads`. One that was handed
    /// over may have had its effect.
    pub(super) fn error(self, only_reads: bool) -> ToolError {
        let again = "The next call joins or starts a runtime: call again.";
        match self {
            Self::Gone => {
                let text = "The Pilothouse runtime went away during the call.";
                let check = "Its tasks were ended. The next call joins or starts a runtime; check what the command \
                     had done before you repeat it.";
                let hint = if only_reads { again } else { check };
                ToolError::new(ErrorKind::RuntimeShuttingDown, text).with_hint(hint).retryable(only_reads)
            }
            Self::Link(why) => {
                let text = format!("The link to the Pilothouse runtime broke during the call. {why}.");
                let look = "Whether the command was run there is not known, and it may still run. The next call \
                     connects again: look with TaskList before you repeat it.";
                let hint = if only_reads { again } else { look };
                ToolError::new(ErrorKind::RuntimeShuttingDown, text).with_hint(hint).retryable(only_reads)
            }
            Self::Unreachable(reason) => unreachable_error(reason),
        }
    }
}

/// Returns what to tell the client of a request that was handed to no runtime.
fn unreachable_error(reason: &ShimError) -> ToolError {
    let may_pass = matches!(reason, ShimError::Link(error) if error.may_pass());
    let error = match reason {
        ShimError::Link(error @ link::Error::TooManyConnections { limit, .. }) => {
            let text = format!("Nothing was run: {error}.");
            ToolError::new(ErrorKind::TooManyConnections, text)
                .with_details(json!({ "limit": limit }))
                .with_hint("call again in a moment; until then close agents or scripts that are not needed")
        }
        ShimError::Link(error @ link::Error::LargeEnvironment { bytes }) => {
            let text = format!("The agent cannot be connected: {error}; nothing was run.");
            ToolError::new(ErrorKind::EnvironmentTooLarge, text)
                .with_details(json!({ "bytes": bytes }))
                .with_hint(
                    "tell the operator: the agent has to be started again with fewer or shorter variables",
                )
        }
        ShimError::Link(link::Error::NoRoom { path }) => {
            let text = "There is not enough space for the record of a Pilothouse runtime; nothing was run.";
            ToolError::new(ErrorKind::LowDiskSpace, text)
                .with_details(json!({ "path": path.display().to_string() }))
                .with_hint("tell the operator to free up some space")
        }
        reason => {
            let text = format!("No Pilothouse runtime can be reached, and nothing was run: {reason}.");
            let hint = match may_pass {
                true => "Try again in a moment, or tell the operator.",
                false => "Tell the operator: the same call fails until that has been changed.",
            };
            ToolError::new(ErrorKind::RuntimeShuttingDown, text).with_hint(hint)
        }
    };
    error.retryable(may_pass)
}

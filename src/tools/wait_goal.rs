//! What TaskOutput waits for, and whether it is there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview::OutputCursor;
use super::task_output::Retrieval;
use crate::model::{TaskView, Until};

/// The condition to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitGoal {
    /// The task accepts connections at a port.
    Listening,
}

impl WaitGoal {
    /// Tells whether a task is there.
    pub(super) fn is_reached(self, task: &TaskView) -> bool {
        match self {
            Self::Listening => task.has_port(),
        }
    }
}

/// Returns what to wait for: the goal, if there is one, else the end or, with a cursor, new output. The end always counts
/// as new.
pub(super) fn until(goal: Option<WaitGoal>, since: Option<OutputCursor>) -> Until {
    match (goal, since) {
        (Some(WaitGoal::Listening), _) => Until::Listening,
        (None, Some(since)) => Until::Output { beyond: since.position() },
        (None, None) => Until::Terminal,
    }
}

/// Returns what came of a wait, or of a look without one.
pub(super) fn retrieval(there: bool, waited: bool) -> Retrieval {
    match (there, waited) {
        (true, _) => Retrieval::Success,
        (false, true) => Retrieval::Timeout,
        (false, false) => Retrieval::NotReady,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_there_is_a_success_with_or_without_a_wait() {
        assert_eq!(retrieval(true, true), Retrieval::Success);
        assert_eq!(retrieval(true, false), Retrieval::Success);
        assert_eq!(retrieval(false, true), Retrieval::Timeout);
        assert_eq!(retrieval(false, false), Retrieval::NotReady);
    }
}

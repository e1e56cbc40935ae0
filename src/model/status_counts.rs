//! Counts of what is running and what waits for the operator, as a status line shows them. Pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{InputWait, Snapshot};

/// How much runs and how much waits for the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusCounts {
    /// Live tasks that wait for nothing.
    pub running: usize,
    /// Tasks that wait for input.
    pub waiting: usize,
    /// Calls that await approval.
    pub held: usize,
    /// Questions that programs ask.
    pub questions: usize,
    /// Connected agents.
    pub agents: usize,
}

impl StatusCounts {
    /// Computes the counts from a snapshot. A task that is only presumed to wait counts as running.
    pub fn of(snapshot: &Snapshot) -> Self {
        let live = snapshot.tasks.iter().filter(|task| !task.status.is_terminal());
        let (waiting, running): (Vec<_>, Vec<_>) =
            live.partition(|task| task.waiting.as_ref().is_some_and(InputWait::is_certain));
        Self {
            running: running.len(),
            waiting: waiting.len(),
            held: snapshot.gate.held.len(),
            questions: snapshot.questions.iter().filter(|question| question.needs_somebody()).count(),
            agents: snapshot.agents.iter().filter(|agent| agent.connected).count(),
        }
    }

    /// Formats the counts briefly, e.g. `●3 ◐2 ⚑1`: running tasks, tasks waiting for input, calls and questions
    /// waiting for an answer. Zero counts are left out; if all are zero, the result is `●0`.
    pub fn short(&self) -> String {
        let groups = [('●', self.running), ('◐', self.waiting), ('⚑', self.held + self.questions)];
        let shown: Vec<String> = groups
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(mark, count)| format!("{mark}{count}"))
            .collect();
        if shown.is_empty() { "●0".to_owned() } else { shown.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::status_counts::*;

    #[test]
    fn the_short_form_leaves_out_what_there_is_none_of() {
        let standing = StatusCounts { running: 3, waiting: 2, held: 1, questions: 1, agents: 5 };
        assert_eq!(standing.short(), "●3 ◐2 ⚑2");
        assert_eq!(StatusCounts { waiting: 2, held: 1, ..StatusCounts::default() }.short(), "◐2 ⚑1");
        assert_eq!(StatusCounts::default().short(), "●0");
    }
}

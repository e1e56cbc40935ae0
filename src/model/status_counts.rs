//! Counts of what is running and what waits for the operator, as a status line shows them. Pure.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{AgentActivity, AgentView, InputWait, Question, Snapshot};

/// How much runs and how much waits for the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Those of them that ask their user something.
    #[serde(default)]
    pub needs_you: Vec<String>,
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
            needs_you: snapshot.needing().map(|agent| agent.label.clone()).collect(),
        }
    }

    /// Formats the counts briefly, e.g. `●3 ◐2 ⚑1 claude-code needs you`: running tasks, tasks waiting for input, calls
    /// and questions waiting for an answer, agents that ask their user something. Zero counts are left out; if all are
    /// zero, the result is `●0`.
    pub fn short(&self) -> String {
        let groups = [('●', self.running), ('◐', self.waiting), ('⚑', self.held + self.questions)];
        let shown: Vec<String> = groups
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(mark, count)| format!("{mark}{count}"))
            .chain(needs_you(&self.needs_you))
            .collect();
        if shown.is_empty() { "●0".to_owned() } else { shown.join(" ") }
    }
}

impl Snapshot {
    /// Returns the agents that ask their user something, here or in their own screens.
    pub fn needing(&self) -> impl Iterator<Item = &AgentView> {
        self.agents.iter().filter(|agent| {
            let is_its = |question: &&Arc<Question>| {
                !question.is_of_program() && question.asked_by.is_agent(&agent.label)
            };
            let asks = agent.work.is_some_and(|work| work.activity == AgentActivity::NeedsYou);
            agent.connected && (asks || self.questions.iter().any(|question| is_its(&question)))
        })
    }
}

/// Says that agents ask their user something; `None` if none does.
#[must_use]
pub fn needs_you(labels: &[String]) -> Option<String> {
    match labels {
        [] => None,
        [one] => Some(format!("{one} needs you")),
        many => Some(format!("{} agents need you", many.len())),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::status_counts::*;

    #[test]
    fn the_short_form_leaves_out_what_there_is_none_of() {
        let standing =
            StatusCounts { running: 3, waiting: 2, held: 1, questions: 1, agents: 5, needs_you: vec![] };
        assert_eq!(standing.short(), "●3 ◐2 ⚑2");
        let needs_you = vec!["claude-code".to_owned()];
        assert_eq!(StatusCounts { needs_you, ..standing }.short(), "●3 ◐2 ⚑2 claude-code needs you");
        assert_eq!(StatusCounts { waiting: 2, held: 1, ..StatusCounts::default() }.short(), "◐2 ⚑1");
        assert_eq!(StatusCounts::default().short(), "●0");
    }
}

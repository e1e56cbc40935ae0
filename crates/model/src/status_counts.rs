//! Counts of what is running and what waits for the operator, as a status line shows them. Pure.

use std::sync::Arc;

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentActivity::{Idle, NeedsYou, Working};
use crate::{AgentView, AgentWork, InputWait, Question, Snapshot};
use pilothouse_envelope::Actor;

/// Numbers of running tasks and of items that wait for the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusCounts {
    /// Live tasks that do not wait.
    pub running: usize,
    /// Tasks that wait for input.
    pub waiting: usize,
    /// Calls that await approval.
    pub held: usize,
    /// Questions that programs ask.
    pub questions: usize,
    /// Connected agents.
    pub agents: usize,
    /// Connected agents with an item that waits for the operator.
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
    /// and questions waiting for an answer, agents of which something does. Zero counts are left out; if all are
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
    /// Returns the agents of which something waits for the person, here or in their own screens.
    pub fn needing(&self) -> impl Iterator<Item = &AgentView> {
        let needs_you = |work: AgentWork| work.activity == NeedsYou;
        self.agents.iter().filter(move |agent| agent.connected && self.work_of(agent).is_some_and(needs_you))
    }

    /// Tells whether an agent asks its user about a call of its own.
    pub fn is_asking(&self, label: &str) -> bool {
        let agent = self.agents.iter().find(|agent| agent.label == label);
        let says_so = agent.and_then(|agent| agent.work).is_some_and(|work| work.activity == NeedsYou);
        says_so || self.asked_by(label).next().is_some()
    }

    /// Returns the prompts of an agent that are open here.
    fn asked_by(&self, label: &str) -> impl Iterator<Item = &Arc<Question>> {
        self.questions.iter().filter(move |asked| !asked.is_of_program() && asked.asked_by.is_agent(label))
    }

    /// Returns what an agent does, and since when: as its hooks report it, or else as its calls show. `None` if neither is
    /// known.
    pub fn work_of(&self, agent: &AgentView) -> Option<AgentWork> {
        let is_known = agent.work.is_some() || agent.routes.is_any();
        if !agent.connected || !is_known {
            return agent.work;
        }
        let is_its = |actor: &Actor| actor.is_agent(&agent.label);
        let asked = self.asked_by(&agent.label).map(|asked| asked.asked_at);
        let held = self.gate.held.iter().filter(|held| is_its(&held.actor)).map(|held| held.since);
        let tasks = self.tasks.iter().filter(|task| is_its(&task.started_by) && !task.status.is_terminal());
        let waiting = tasks.filter_map(|task| Some(task.certain_wait()?.since));
        if let Some(since) = asked.chain(held).chain(waiting).min() {
            return Some(AgentWork { activity: NeedsYou, since });
        }
        let of_calls = || {
            let mut calls = self.calls.iter().filter(|call| is_its(&call.actor));
            if let Some(open) = calls.clone().find(|call| call.status.is_none()) {
                return Some(AgentWork { activity: Working, since: open.at });
            }
            let ended = calls.next_back().and_then(|call| {
                let took = i64::try_from(call.duration_ms.unwrap_or_default()).ok()?;
                call.at.checked_add(SignedDuration::from_millis(took)).ok()
            });
            Some(AgentWork { activity: Idle, since: ended.or(agent.last_call)? })
        };
        agent.work.or_else(of_calls)
    }
}

/// Says that agents need the person; `None` if none does.
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
    use crate::status_counts::*;

    #[test]
    fn the_short_status_leaves_out_every_zero_count_except_running_tasks() {
        let standing =
            StatusCounts { running: 3, waiting: 2, held: 1, questions: 1, agents: 5, needs_you: vec![] };
        assert_eq!(standing.short(), "●3 ◐2 ⚑2");
        let needs_you = vec!["claude-code".to_owned()];
        assert_eq!(StatusCounts { needs_you, ..standing }.short(), "●3 ◐2 ⚑2 claude-code needs you");
        assert_eq!(StatusCounts { waiting: 2, held: 1, ..StatusCounts::default() }.short(), "◐2 ⚑1");
        assert_eq!(StatusCounts::default().short(), "●0");
    }
}

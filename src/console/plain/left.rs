//! What agents that have gone left running: the list, and its end.

use crate::console::plain::session::{PlainEffect, PlainSession};
use crate::console::plain::steps::reply;
use crate::console::plain::tasks;
use crate::console::state::waiting::left_by;
use crate::console::state::{alias, stop_of};
use crate::model::AgentView;

impl PlainSession {
    pub(super) fn handle_left(&self, rest: &str) -> Vec<PlainEffect> {
        let agents = self.snapshot.agents.iter();
        let gone: Vec<&AgentView> =
            agents.filter(|agent| left_by(&self.snapshot, agent).next().is_some()).collect();
        if rest.is_empty() {
            return match gone.is_empty() {
                true => vec![reply("no agent that has gone left anything running")],
                false => gone.into_iter().flat_map(|agent| self.left_list(agent)).collect(),
            };
        }
        let label = rest.strip_prefix("end").map(str::trim);
        let Some(agent) = gone.iter().find(|agent| Some(&*agent.label) == label) else {
            let labels: Vec<&str> = gone.iter().map(|agent| &*agent.label).collect();
            return vec![reply(format!("write left end AGENT; what is left is of: {}", labels.join(", ")))];
        };
        let stops = left_by(&self.snapshot, agent).map(|task| PlainEffect::Do(stop_of(&task.id, false)));
        let names: Vec<String> = left_by(&self.snapshot, agent).map(|task| alias(task)).collect();
        std::iter::once(reply(format!("stopping {}", names.join(", ")))).chain(stops).collect()
    }

    fn left_list(&self, agent: &AgentView) -> Vec<PlainEffect> {
        let tasks = left_by(&self.snapshot, agent).map(|task| reply(tasks::state_line(task, self.now)));
        let head = format!("{} has gone; left end {} ends what it left:", agent.label, agent.label);
        std::iter::once(reply(head)).chain(tasks).collect()
    }
}

//! Checks of agents and their sessions.

use super::Checker;
use super::scope::suggestion;
use crate::ast::{AgentDefinition, Name, Resume};
use crate::codes::RuleCode;

impl<'a> Checker<'a> {
    /// Checks the properties of agents. Their prompts are interpolated when they are used, so they see every
    /// top-level variable.
    pub(super) fn check_agents(&mut self) {
        for agent in &self.program.agents {
            for skill in &agent.skills {
                let Some(name) = skill.as_literal() else { continue };
                if !self.definitions.skills.contains(name) {
                    let message = format!("the skill \"{name}\" is not imported");
                    self.reports.add(RuleCode::W007, skill.span, message);
                }
            }
        }
    }

    /// Checks a new session with an agent.
    pub(super) fn check_start(&mut self, name: &'a Name) {
        let Some(agent) = self.known_agent(name) else { return };
        let before = self.started.insert(agent.name.as_str(), name.span);
        if let Some(before) = before
            && agent.persist.is_some()
        {
            let message = format!("`{}` remembers its last session, and this one ignores that", name.text);
            self.reports
                .add(RuleCode::W011, name.span, message)
                .hint(format!("write `resume: {}` to go on from it", name.text))
                .relate(before, "the session before");
        }
    }

    pub(super) fn resume(&mut self, resume: &'a Resume) {
        if let Some(agent) = self.known_agent(&resume.agent) {
            if agent.persist.is_none() {
                let message = format!("the agent `{}` remembers nothing to go on from", resume.agent.text);
                self.reports
                    .add(RuleCode::E017, resume.agent.span, message)
                    .relate(agent.name.span, "it has no `persist`");
            }
            self.started.insert(agent.name.as_str(), resume.agent.span);
        }
    }

    fn known_agent(&mut self, name: &Name) -> Option<&'a AgentDefinition> {
        let known = self.agent(name.as_str());
        if known.is_none() {
            let hint = suggestion(name, self.definitions.agents.keys().copied());
            let message = format!("the agent `{}` is not defined", name.text);
            self.reports.add(RuleCode::E007, name.span, message).hint_if(hint);
        }
        known
    }
}

//! Agents and the sessions with them.

use super::Checker;
use super::scope::candidates;
use crate::prose::ast::{Name, Resume, Session, SessionProperties, Subject};
use crate::prose::codes::Code;
use crate::prose::nearest;

impl<'a> Checker<'a> {
    /// Checks what agents say of themselves. Their prompts are filled in when they are used, so they see every
    /// variable of the top level.
    pub(super) fn check_agents(&mut self) {
        for agent in &self.program.agents {
            for skill in &agent.skills {
                let Some(name) = skill.as_literal() else { continue };
                if !self.definitions.skills.contains(name) {
                    let message = format!("the skill \"{name}\" is not imported");
                    self.reports.add(Code::W007, skill.span, message);
                }
            }
        }
    }

    pub(super) fn session(&mut self, session: &'a Session) {
        match &session.subject {
            Subject::Prompt(prompt) => self.text(prompt),
            Subject::Agent(agent) | Subject::Named { agent, .. } => self.started(agent),
        }
        self.session_properties(&session.properties);
    }

    pub(super) fn session_properties(&mut self, properties: &'a SessionProperties) {
        if let Some(prompt) = &properties.prompt {
            self.text(prompt);
        }
        if let Some(context) = &properties.context {
            self.value(context);
        }
    }

    /// A session with an agent begins afresh.
    fn started(&mut self, name: &'a Name) {
        let Some(agent) = self.known_agent(name) else { return };
        let before = self.started.insert(agent.name.as_str(), name.span);
        if let Some(before) = before
            && agent.persist.is_some()
        {
            let message = format!("`{}` remembers its last session, and this one ignores that", name.text);
            self.reports
                .add(Code::W011, name.span, message)
                .hint(format!("write `resume: {}` to go on from it", name.text))
                .related(before, "the session before");
        }
    }

    pub(super) fn resume(&mut self, resume: &'a Resume) {
        if let Some(agent) = self.known_agent(&resume.agent) {
            if agent.persist.is_none() {
                let message = format!("the agent `{}` remembers nothing to go on from", resume.agent.text);
                self.reports
                    .add(Code::E017, resume.agent.span, message)
                    .related(agent.name.span, "it has no `persist`");
            }
            self.started.insert(agent.name.as_str(), resume.agent.span);
        }
        self.session_properties(&resume.properties);
    }

    fn known_agent(&mut self, name: &Name) -> Option<&'a crate::prose::ast::Agent> {
        let known = self.agent(name.as_str());
        if known.is_none() {
            let names = candidates(self.definitions.agents.keys().copied());
            let near = nearest(name.as_str(), names);
            let message = format!("the agent `{}` is not defined", name.text);
            let diagnostic = self.reports.add(Code::E007, name.span, message);
            if let Some(near) = near {
                diagnostic.hint(format!("did you mean `{near}`?"));
            }
        }
        known
    }
}

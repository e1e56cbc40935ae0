//! Determines who answers a question according to the settings: a command, a connected agent, or a person.

use std::fmt::Write as _;
use std::time::Duration;

use super::Vm;
use super::effects::Effects;
use super::query::{ProgramQuestion, SessionWork};
use super::scope::BoundValue;
use crate::agents::{PermissionLine, PermissionRule};
use crate::config::Answerer;
use crate::envelope::mask;
use crate::model::ExpectedAnswerer;
use crate::prose::engine::record::command_result::CAPTURED_CHARS;
use crate::prose::engine::session::{self, Brief, ContextValue, full_command};
use crate::prose::syntax::ast::{AgentDefinition, Permission, Rule, SessionModel, Text};

impl<E: Effects> Vm<E> {
    /// Assigns the condition, choice or value in a question to the answerer that the settings name for it.
    pub(super) fn judged_by(&self, query: &mut ProgramQuestion, context: Vec<ContextValue>) {
        let brief = Brief {
            agent: session::BriefAgent::default(),
            task: query.asking.text.clone(),
            wants: query.asking.kind.clone(),
            memory: None,
            context,
        };
        self.answered_by(query, self.policy.sessions.judge(), brief, None);
    }

    /// Assigns a question to an answerer, with its brief; `timeout` is the question's own limit.
    pub(super) fn answered_by(
        &self,
        query: &mut ProgramQuestion,
        by: &Answerer,
        brief: Brief,
        timeout: Option<Duration>,
    ) {
        let settings = &self.policy.sessions;
        let agent = &brief.agent;
        query.asking.within = timeout.or(settings.answer_within);
        query.is_for_agents = matches!(by, Answerer::Mcp(_));
        query.work = None;
        query.asking.expected = Some(ExpectedAnswerer {
            by: if query.is_for_agents { by.display_name() } else { self.somebody() },
            task: None,
            agent: agent.name.clone(),
            model: agent.model.clone(),
            permissions: agent.permissions.iter().map(ToString::to_string).collect(),
            skills: agent.skills.clone(),
        });
        if let Answerer::Command(words) = by {
            query.work = Some(Box::new(SessionWork {
                words: full_command(words),
                brief,
                timeout: timeout.unwrap_or(settings.timeout),
                memory: None,
                resumes: false,
            }));
        }
    }

    /// Describes who may answer if nobody is named.
    pub(super) fn somebody(&self) -> String {
        if self.policy.agents { "an agent or a person" } else { "a person" }.to_owned()
    }
}

/// Returns the description of an agent for its answerer; `prompt` is already interpolated.
pub(super) fn brief_agent(
    agent: Option<&AgentDefinition>,
    model: Option<SessionModel>,
    prompt: Option<String>,
) -> session::BriefAgent {
    session::BriefAgent {
        name: agent.map(|agent| agent.name.as_str().to_owned()),
        model: model.map(|model| <&str>::from(model).to_owned()),
        prompt,
        permissions: agent.map(|agent| permissions(&agent.permissions)).unwrap_or_default(),
        skills: agent.map(|agent| texts(&agent.skills)).unwrap_or_default(),
    }
}

/// Returns the permissions of an agent. A word that is not a known rule grants nothing.
pub fn permissions(of: &[Permission]) -> Vec<PermissionLine> {
    let rule = |rule: &Rule| match rule {
        Rule::Word(word) => match word.as_str() {
            "allow" => PermissionRule::Allow,
            "deny" => PermissionRule::Deny,
            _ => PermissionRule::Prompt,
        },
        Rule::Patterns(patterns) => PermissionRule::Patterns(texts(patterns)),
    };
    of.iter()
        .map(|one| PermissionLine { kind: one.kind.as_str().to_owned(), rule: rule(&one.rule) })
        .collect()
}

fn texts(all: &[Text]) -> Vec<String> {
    all.iter().map(|text| text.display_text().into_owned()).collect()
}

/// Returns a value in the form in which a session's command gets it: in full.
pub(super) fn context_value(name: &str, bound: &BoundValue) -> ContextValue {
    let made = bound.made.as_ref();
    let exit = made.and_then(|made| made.exit_code).map(|code| format!("exit code {code}"));
    let out = made.filter(|made| made.timed_out).map(|_| "timed out".to_owned());
    let is_cut = made.is_some_and(|made| made.stdout_truncated);
    let cut = is_cut.then(|| format!("cut after {CAPTURED_CHARS} characters"));
    let mut value = bound.value.body().to_owned();
    if is_cut {
        let _ = write!(value, "\n[the output is cut here, after {CAPTURED_CHARS} characters]\n");
    }
    if let Some(stderr) = made.map(|made| made.stderr.trim_end()).filter(|stderr| !stderr.is_empty()) {
        value = format!("{}\n\nstderr:\n{stderr}\n", value.trim_end());
    }
    let command = made.map(|made| mask(&made.command).into_owned()).filter(|command| !command.is_empty());
    let made = [exit, out, cut].into_iter().flatten().collect::<Vec<_>>().join(", ");
    ContextValue { name: name.to_owned(), made, command, value }
}

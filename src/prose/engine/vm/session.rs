//! `session` and `resume`: work that needs judgement. The answerer does the work and reports the result; agents with
//! a memory store in files what was asked and answered.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::answerer::{brief_agent, context_value};
use super::control_flow::{Evaluation, Flow, Halt, ThrownError};
use super::effects::Effects;
use super::file::binding_view;
use super::frame::Site;
use super::query::ProgramQuestion;
use super::scope::{BoundValue, MissingValue};
use super::{Vm, VmFrame};
use crate::config::SessionSubject;
use crate::model::QuestionKind;
use crate::prose::engine::record::journal::CommandRecord;
use crate::prose::engine::record::{folder, state};
use crate::prose::engine::session::Brief;
use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::{
    AgentDefinition, Backoff, Expr, Persist, RecordEntry, Resume, SessionExpr, SessionHead, SessionProperties,
};
use crate::prose::syntax::{Profile, Span};

impl<E: Effects> Vm<E> {
    pub(super) async fn session(&self, frame: &VmFrame, session: &SessionExpr) -> Flow {
        self.session_after(frame, session, None).await
    }

    /// Runs a session that receives the result of the previous one.
    pub(super) async fn session_after(
        &self,
        frame: &VmFrame,
        session: &SessionExpr,
        before: Option<&Evaluation>,
    ) -> Flow {
        let agent = session
            .subject
            .agent()
            .and_then(|agent| frame.module.library.program.agent(agent.as_str()))
            .cloned();
        let mut task = Vec::new();
        if let SessionHead::Prompt(prompt) = &session.subject {
            task.push(self.fill(frame, prompt)?);
        }
        if let Some(prompt) = &session.properties.prompt {
            task.push(self.fill(frame, prompt)?);
        }
        let label = match &session.subject {
            SessionHead::Named { name, .. } => Some(name.as_str()),
            _ => None,
        };
        let task = task.join("\n\n");
        let of = &session.properties;
        let task = SessionTask {
            span: session.span,
            agent: agent.as_deref(),
            label,
            task,
            of,
            before,
            resumes: false,
        };
        self.work(frame, task).await
    }

    /// Runs a session that continues from an agent's memory.
    pub(super) async fn resume(&self, frame: &VmFrame, resume: &Resume) -> Flow {
        let line = frame.line(resume.span);
        let agent = frame.module.library.program.agent(resume.agent.as_str()).cloned();
        let memory = agent.as_deref().and_then(|agent| self.memory(frame, agent));
        let known = memory.as_ref().and_then(|memory| frame.module.folder.read(&memory.join("memory.md")));
        let has_worked = self.journal.is_begun(&frame.at("try1").key);
        if known.is_none() && !has_worked {
            let name = resume.agent.as_str();
            let persist = agent.as_deref().and_then(|agent| agent.persist.as_ref());
            let outlives = persist.is_some_and(|persist| persist.value != Persist::Run);
            if !outlives || frame.module.library.profile == Profile::Strict {
                return Err(
                    ThrownError::new(line, format!("E018: {name} has no memory to go on from")).into()
                );
            }
            let text = format!("HPW026: the agent `{name}` has no memory yet and starts with an empty one");
            self.tell(frame, "warn", line, text).await;
        }
        let task = match &resume.properties.prompt {
            Some(prompt) => self.fill(frame, prompt)?,
            None => "Go on.".to_owned(),
        };
        let of = &resume.properties;
        let (label, before) = (None, None);
        let task = SessionTask {
            span: resume.span,
            agent: agent.as_deref(),
            label,
            task,
            of,
            before,
            resumes: true,
        };
        self.work(frame, task).await
    }

    async fn work(&self, frame: &VmFrame, work: SessionTask<'_>) -> Flow {
        let site = frame.site(work.span);
        let own = work.agent.map(|agent| &agent.properties);
        let retry = work.of.retry.or(own.and_then(|own| own.retry)).map_or(0, |retry| retry.value);
        let backoff =
            work.of.backoff.or(own.and_then(|own| own.backoff)).map_or(Backoff::None, |it| it.value);
        let mut attempt = 1;
        loop {
            let try_it = frame.at(format!("try{attempt}"));
            match Box::pin(self.attempt(&try_it, &work, site)).await {
                Err(Halt::Thrown(thrown)) if attempt <= retry && !thrown.is_final => {
                    self.mark(&try_it, site.line, state::retry(&frame.number, attempt, retry)).await?;
                    let next = frame.at(format!("try{}", attempt + 1));
                    if !self.journal.is_begun(&next.key) {
                        self.pause(frame, backoff, attempt).await?;
                    }
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt(&self, frame: &VmFrame, work: &SessionTask<'_>, site: Site) -> Flow {
        let prompt = work.agent.and_then(|agent| agent.properties.prompt.as_ref());
        let prompt = prompt.map(|prompt| self.fill(frame, prompt)).transpose()?;
        let mut text = String::new();
        if let Some(prompt) = &prompt {
            let _ = writeln!(text, "{}\n", prompt.trim());
        }
        text.push_str(&work.task);
        let mut context = Vec::new();
        if let Some(before) = work.before {
            context.push(loose("before", &before.value));
        }
        if let Some(named) = &work.of.context {
            self.context(frame, named, true, &mut context).await?;
        }
        let mut query = self.query(frame, site, QuestionKind::Text { masked: false }, text);
        if work.of.context.is_some() || work.before.is_some() {
            let view = |(name, bound): &(String, Arc<BoundValue>)| binding_view(frame, name, bound);
            query.asking.evidence.bindings = context.iter().map(view).collect();
        }
        query.asking.origin.name = work.agent.map(|agent| agent.name.as_str().to_owned());
        self.direct(frame, work, prompt, &context, &mut query);
        let is_new = self.journal.decision(&frame.key).is_none()
            && !matches!(self.journal.command(&frame.key), CommandRecord::Ran(_));
        if query.work.is_none() && is_new {
            self.afford(site.line)?;
        }
        let command = query.work.clone();
        let answer = self.text_of(frame, query).await?;
        if let (true, Some(agent)) = (is_new, work.agent) {
            self.remember(frame, agent, &work.task, &answer)?;
            if let Some(command) = &command {
                self.keep_session(frame, command)?;
            }
        }
        Ok(Value::text(answer).into())
    }

    /// Determines who answers a session, and with which brief.
    fn direct(
        &self,
        frame: &VmFrame,
        work: &SessionTask<'_>,
        prompt: Option<String>,
        context: &[(String, Arc<BoundValue>)],
        query: &mut ProgramQuestion,
    ) {
        let own = work.agent.and_then(|agent| agent.properties.model);
        let agent = brief_agent(work.agent, work.of.model.or(own).map(|model| model.value), prompt);
        let memory = work.agent.and_then(|agent| self.memory(frame, agent));
        let known = memory.as_ref().filter(|_| work.resumes);
        let brief = Brief {
            task: work.task.clone(),
            wants: query.asking.kind.clone(),
            memory: known.and_then(|memory| frame.module.folder.read(&memory.join("memory.md"))),
            context: context.iter().map(|(name, bound)| context_value(name, bound)).collect(),
            agent,
        };
        let (name, model) = (brief.agent.name.clone(), brief.agent.model.clone());
        let subject = SessionSubject { agent: name.as_deref(), model: model.as_deref(), label: work.label };
        let by = self.policy.sessions.answerer(subject);
        self.answered_by(query, by, brief, work.of.timeout.map(|timeout| timeout.value));
        if let Some(command) = &mut query.work {
            (command.memory, command.resumes) = (memory, work.resumes);
        }
    }

    /// Collects the context of a session: the bindings it names, with how they were created, and other values. A
    /// branch that a parallel block completed without is omitted (docs/prose-rules.md#rule-11), unless nothing else
    /// is named.
    async fn context(
        &self,
        frame: &VmFrame,
        context: &Expr,
        is_alone: bool,
        into: &mut Vec<(String, Arc<BoundValue>)>,
    ) -> Flow<()> {
        let before = into.len();
        match context {
            Expr::Name(name) => match frame.scope.find(name.as_str()) {
                Ok(bound) => into.push((name.as_str().to_owned(), bound)),
                Err(MissingValue::Lost(_)) if !is_alone => {}
                Err(missing) => {
                    return Err(super::exec::absent(name.as_str(), missing, frame.line(name.span)).into());
                }
            },
            Expr::List(list) => {
                for part in &list.value {
                    Box::pin(self.context(frame, part, false, into)).await?;
                }
                if let (true, Some(first)) = (into.len() == before, list.value.first()) {
                    Box::pin(self.context(frame, first, true, into)).await?;
                }
            }
            Expr::Record(record) => {
                let name = |entry: &RecordEntry| Expr::Name(entry.key.clone());
                for entry in &record.value {
                    match &entry.value {
                        None => Box::pin(self.context(frame, &name(entry), false, into)).await?,
                        Some(value) => {
                            let value = self.value(&frame.at("context"), value).await?;
                            into.push(loose(entry.key.as_str(), &value.value));
                        }
                    }
                }
                if let (true, Some(first)) = (into.len() == before, record.value.first()) {
                    Box::pin(self.context(frame, &name(first), true, into)).await?;
                }
            }
            other => {
                let value = self.value(&frame.at("context"), other).await?;
                into.push(loose("context", &value.value));
            }
        }
        Ok(())
    }

    async fn pause(&self, frame: &VmFrame, backoff: Backoff, attempt: u32) -> Flow<()> {
        let pause = match backoff {
            Backoff::None => return Ok(()),
            Backoff::Linear => Duration::from_secs(1),
            Backoff::Exponential => Duration::from_secs(1 << (attempt - 1).min(6)),
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(()),
            () = frame.cancel.cancelled() => Err(Halt::Cancelled),
        }
    }

    /// Returns the folder of an agent's memory; `None` if it has no memory.
    fn memory(&self, frame: &VmFrame, agent: &AgentDefinition) -> Option<PathBuf> {
        let name = agent.name.as_str();
        let project = || {
            let run = frame.module.folder.path();
            run.ancestors().find(|above| above.ends_with(folder::PROJECT)).unwrap_or(run).to_owned()
        };
        let place = match &agent.persist.as_ref()?.value {
            Persist::Run => frame.module.folder.path().join("agents"),
            Persist::Project => project().join("agents"),
            Persist::User => self.home.as_ref()?.join(folder::PROJECT).join("agents"),
            Persist::Path(path) => return Some(frame.cwd.get().join(path)),
        };
        Some(place.join(name))
    }

    /// Stores what an agent with a memory was asked and answered: a file for each time, and an entry in its memory.
    fn remember(&self, frame: &VmFrame, agent: &AgentDefinition, task: &str, answer: &str) -> Flow<()> {
        let Some(memory) = self.memory(frame, agent) else { return Ok(()) };
        let name = agent.name.as_str();
        let folder = &frame.module.folder;
        let taken = |number: &u32| folder.has(&memory.join(format!("{name}-{number:03}.md")));
        let number = (1..).find(|number| !taken(number)).unwrap_or(1);
        let at = self.effects.now();
        let segment = format!(
            "# Segment {number:03}\n\ntimestamp: {at:.0}\nprompt: {task:?}\n\n## Summary\n\n{answer}\n"
        );
        folder.write(&memory.join(format!("{name}-{number:03}.md")), &segment)?;
        let path = memory.join("memory.md");
        let known = folder.read(&path).unwrap_or_else(|| format!("# Agent History: {name}\n"));
        let all = format!("{known}\n## {at:.0}\n\nAsked: {}\n\n{answer}\n", first_line(task));
        folder.write(&path, &all)?;
        Ok(())
    }
}

struct SessionTask<'a> {
    span: Span,
    agent: Option<&'a AgentDefinition>,
    /// The session's name.
    label: Option<&'a str>,
    task: String,
    of: &'a SessionProperties,
    before: Option<&'a Evaluation>,
    /// Whether it continues from the agent's memory.
    resumes: bool,
}

/// Returns a value that accompanies a task without being bound to a name.
fn loose(name: &str, value: &Value) -> (String, Arc<BoundValue>) {
    (name.to_owned(), Arc::new(BoundValue::local(value.clone(), 0)))
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

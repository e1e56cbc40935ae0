//! Sessions answered by a command: started as a task, shown, and recorded like any command of a program. While it
//! runs, a person may answer instead, and it is then stopped.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::control_flow::{Flow, Halt, ThrownError};
use super::effects::{CommandSpec, Effects, NoEffect};
use super::query::{ProgramQuestion, QuestionEnd, SessionWork};
use super::{Vm, VmFrame};
use crate::agents::SessionReply;
use crate::envelope::units::millis;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    AnswerValue, ExpectedAnswerer, NewQuestion, Principal, QuestionKind, RecordedAnswer, dollars,
};
use crate::prose::engine::record::binding::CommandEnd;
use crate::prose::engine::record::command_result::{CommandResult, SessionEnd, last_lines};
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::journal::{CommandRecord, RunRow};
use crate::prose::engine::session::{SessionCommand, SessionParameters, preset, reply};

/// The maximum length of a session command's output, in characters: events of its work precede the answer.
const PRINTED_CHARS: usize = 8 << 20;
/// The number of characters kept of output that is not an answer.
const FAILED_CHARS: usize = 4_000;

/// How the run of a session's command finished.
enum SessionCommandEnd {
    Ended(CommandResult),
    /// Someone answered first.
    Answered(RecordedDecision),
}

impl<E: Effects> Vm<E> {
    /// Gets an answer from a command, unless an earlier execution has; `None` if a person has to answer after all.
    pub(super) async fn by_command(
        &self,
        frame: &VmFrame,
        query: &ProgramQuestion,
        work: &SessionWork,
    ) -> Flow<Option<QuestionEnd>> {
        let came = match self.journal.command(&frame.key) {
            CommandRecord::Ran(ran) => SessionCommandEnd::Ended(*ran),
            CommandRecord::New => self.run_session(frame, query, work).await?,
            CommandRecord::InDoubt(Some(ran)) if self.policy.rerun && ran.unknown.is_none() => {
                self.run_session(frame, query, work).await?
            }
            CommandRecord::InDoubt(failed) => {
                match self.session_in_doubt(frame, query, work, failed).await? {
                    Some(came) => came,
                    None => return Ok(None),
                }
            }
        };
        let ran = match came {
            SessionCommandEnd::Ended(ran) => ran,
            SessionCommandEnd::Answered(decided) => {
                return Ok(Some(QuestionEnd { decided, is_on_record: false }));
            }
        };
        let end = ran.session.as_deref().cloned().unwrap_or_default();
        self.spend(&end);
        self.know_session(work, &end);
        let value = if end.failed.is_none() { work.brief.read(&ran.stdout) } else { None };
        match value {
            Some(value) => {
                let principal = Principal::Command(end.by);
                let answer = RecordedAnswer { value, principal, at: self.effects.now(), note: None };
                Ok(Some(QuestionEnd { decided: RecordedDecision::Answered(answer), is_on_record: true }))
            }
            None if work.is_judgement() => {
                let why = end.failed.unwrap_or_else(|| {
                    let said = crate::envelope::one_line(&ran.stdout, 80);
                    format!("{} is asked for, not {said:?}", query.asking.kind.answer_form())
                });
                let text = format!("{}: {why}; a person decides", end.by);
                self.tell(frame, "warn", query.site.line, text).await;
                Ok(None)
            }
            None => Err(failure(query.site.line, ran, end).at(&frame.key).into()),
        }
    }

    /// Asks what to do about a command that was begun in an earlier execution, or whose failure ended the run. If it
    /// is skipped, a person answers instead.
    async fn session_in_doubt(
        &self,
        frame: &VmFrame,
        query: &ProgramQuestion,
        work: &SessionWork,
        failed: Option<Box<CommandResult>>,
    ) -> Flow<Option<SessionCommandEnd>> {
        let by = work.display_name();
        let what = match failed.and_then(|ran| ran.session).and_then(|end| end.failed) {
            Some(why) => format!("This session ended the run: {by}: {why}"),
            None => format!(
                "This session had begun when the run was cut off, and nobody knows how far {by} came with it."
            ),
        };
        let doubt = frame.at("doubt");
        let text = format!("{what}\nWhoever skips it answers it in its place: {}", query.asking.text);
        let mut asked = self.operators_query(&doubt, query.site, QuestionKind::InFlight, text);
        let words: Vec<String> =
            work.words.iter().map(|word| crate::consequence::rule_words::quote(word)).collect();
        asked.asking.evidence.command = Some(words.join(" "));
        match self.answer_now(&doubt, &asked).await? {
            AnswerValue::Rerun => self.run_session(frame, query, work).await.map(Some),
            AnswerValue::Skip => Ok(None),
            _ => Err(Halt::Aborted { line: query.site.line }),
        }
    }

    /// Runs the command of a session to its end, or until someone has answered.
    async fn run_session(
        &self,
        frame: &VmFrame,
        query: &ProgramQuestion,
        work: &SessionWork,
    ) -> Flow<SessionCommandEnd> {
        let line = query.site.line;
        self.afford(line)?;
        let permit = tokio::select! {
            permit = self.permits.acquire() => permit,
            () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
        };
        let (started, variables) = self.session_files(frame, query, work)?;
        // On disk before anyone is asked, too: an answer must not precede its question.
        let begun = self.journal.begin(&frame.key, line, &started.line, self.effects.now())?;
        self.journal.wait_for_sync(&begun).await?;
        let order = CommandSpec {
            id: TaskId::random(),
            command: started.line,
            cwd: frame.cwd.get(),
            timeout: work.timeout,
            place: format!("{}:{line}", frame.module.library.source.name()),
            variables,
            kept: PRINTED_CHARS,
            begun,
        };
        let lines = frame.module.lines(query.site.span);
        if frame.module.is_main {
            self.progress.task(lines, &order.id);
        }
        self.tell(frame, "exec", line, order.command.clone()).await;
        let came = self.first_of(frame, order, self.meanwhile(query, work)).await;
        drop(permit);
        let ran = match came {
            Ok(SessionCommandEnd::Ended(ran)) => extract_answer(work, &self.policy.sessions.value, ran),
            Ok(answered) => return Ok(answered),
            Err(NoEffect::Cancelled) => return Err(Halt::Cancelled),
            Err(NoEffect::Refused(note)) => {
                let thrown = ThrownError::denial(line, &Principal::Actor(Actor::Operator), Some(&note));
                return Err(ThrownError { is_final: true, ..thrown.at(&frame.key) }.into());
            }
        };
        self.journal.write(&RunRow::Ran { key: frame.key.clone(), ran: Box::new(ran.clone()) })?;
        let failed = ran.session.as_ref().and_then(|end| end.failed.clone());
        if frame.module.is_main {
            self.progress.record_exit(lines, if failed.is_none() { 0 } else { ran.exit_code.max(1) });
        }
        self.tell_end(frame, "ran", line, summary(&ran), Some(failed.is_none()), failed).await;
        Ok(SessionCommandEnd::Ended(ran))
    }

    /// Runs the command and asks at the same time; returns what finishes first. On return, nothing is left running.
    async fn first_of(
        &self,
        frame: &VmFrame,
        order: CommandSpec,
        mut asking: NewQuestion,
    ) -> Result<SessionCommandEnd, NoEffect> {
        if let Some(expected) = &mut asking.expected {
            expected.task = Some(order.id.clone());
        }
        let stop = frame.cancel.child_token();
        let running = self.effects.exec(order, &stop);
        let asked = self.effects.ask(asking);
        tokio::pin!(running, asked);
        tokio::select! {
            biased;
            ran = &mut running => ran.map(SessionCommandEnd::Ended),
            settled = &mut asked => match settled {
                Ok(decided @ RecordedDecision::Answered(_)) => {
                    stop.cancel();
                    match running.await {
                        // The whole run is being ended: the question is asked again on resume.
                        Err(_) if frame.cancel.is_cancelled() => Err(NoEffect::Cancelled),
                        _ => Ok(SessionCommandEnd::Answered(decided)),
                    }
                }
                _ => running.await.map(SessionCommandEnd::Ended),
            },
        }
    }

    /// Returns the question that a person may answer while the command is running.
    fn meanwhile(&self, query: &ProgramQuestion, work: &SessionWork) -> NewQuestion {
        let expected =
            ExpectedAnswerer { by: work.display_name(), ..query.asking.expected.clone().unwrap_or_default() };
        NewQuestion { agents: false, within: None, expected: Some(expected), ..query.asking.clone() }
    }

    /// Writes the files of a session, and returns how to start its command, and its variables.
    fn session_files(
        &self,
        frame: &VmFrame,
        query: &ProgramQuestion,
        work: &SessionWork,
    ) -> Flow<(SessionCommand, Vec<(String, String)>)> {
        let own = if work.resumes { self.own_session(frame, work) } else { None };
        let mut brief = work.brief.clone();
        if own.is_some() {
            // The program has its own memory.
            brief.memory = None;
        }
        let started = preset::start_command(
            &work.words,
            SessionParameters {
                model: brief.agent.model.as_deref(),
                resume: own.as_deref(),
                permissions: &brief.agent.permissions,
                task_as_argument: self.policy.sessions.task_as_argument,
            },
        );
        let number = self.journal.number("session", &frame.at("session").key)?;
        let folder = &frame.module.folder;
        let place = folder.path().join("sessions").join(format!("{number:03}"));
        let task = place.join("task.md");
        folder.write(&task, &brief.text(&place))?;
        for (name, text) in brief.files() {
            folder.write(&place.join(name), &text)?;
        }
        let mut variables = brief.variables(&place);
        let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
        set(preset::TASK, task.display().to_string());
        set("PILOTHOUSE_SESSION_RUN", self.run.clone());
        set("PILOTHOUSE_SESSION_LINE", query.site.line.to_string());
        if let Some(memory) = &work.memory {
            set("PILOTHOUSE_SESSION_MEMORY", memory.join("memory.md").display().to_string());
        }
        if let Some(own) = own {
            set("PILOTHOUSE_SESSION_RESUME", own);
        }
        if let Some(policy) = &started.policy {
            let file = place.join("policy.toml");
            folder.write(&file, policy)?;
            set(preset::POLICY, file.display().to_string());
        }
        started.variables.iter().for_each(|(name, value)| set(name, value.clone()));
        Ok((started, variables))
    }

    /// Returns the answering program's own id of the agent's last session, if known.
    fn own_session(&self, frame: &VmFrame, work: &SessionWork) -> Option<String> {
        let memory = work.memory.as_ref()?;
        let here = self.own_sessions().get(&(memory.clone(), work.display_name())).cloned();
        here.or_else(|| {
            let text = frame.module.folder.read(&own_file(memory, &work.display_name()))?;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            let own = text.trim().to_owned();
            (!own.is_empty() && !own.starts_with('-') && own.chars().all(plain)).then_some(own)
        })
    }

    fn know_session(&self, work: &SessionWork, end: &SessionEnd) {
        if let (Some(memory), Some(own)) = (&work.memory, &end.own) {
            self.own_sessions().insert((memory.clone(), work.display_name()), own.clone());
        }
    }

    /// Stores the answering program's own session id with the agent's memory.
    pub(super) fn keep_session(&self, frame: &VmFrame, work: &SessionWork) -> Flow<()> {
        let Some(memory) = &work.memory else { return Ok(()) };
        let known = self.own_sessions().get(&(memory.clone(), work.display_name())).cloned();
        if let Some(own) = known {
            frame.module.folder.write(&own_file(memory, &work.display_name()), &format!("{own}\n"))?;
        }
        Ok(())
    }

    fn spend(&self, end: &SessionEnd) {
        self.spent.sessions.fetch_add(1, Ordering::Relaxed);
        self.spent.cost.fetch_add(end.cost.unwrap_or(0), Ordering::Relaxed);
        self.progress
            .spent(self.spent.sessions.load(Ordering::Relaxed), self.spent.cost.load(Ordering::Relaxed));
    }
}

fn own_file(memory: &Path, program: &str) -> PathBuf {
    memory.join(format!("session-{program}.txt"))
}

/// Parses a session command's output; of a valid answer, only the answer itself is kept.
fn extract_answer(work: &SessionWork, member: &str, ran: CommandResult) -> CommandResult {
    let by = work.display_name();
    let read = match (ran.exit_code, ran.stdout_truncated) {
        (0, true) => Err(("it printed more than is read".to_owned(), SessionReply::default())),
        _ => reply(&work.words, member, &ran.stdout),
    };
    let (failed, reply) = match (ran.exit_code, read) {
        (0, Ok(reply)) => (None, reply),
        (0, Err((why, reply))) => (Some(format!("{by}: {why}")), reply),
        (code, read) => {
            let (why, reply) = match read {
                // The program's own error is better than nothing.
                Err((why, reply)) if ran.stderr.trim().is_empty() => (why, reply),
                Err((_, reply)) | Ok(reply) => (last_lines(&ran.stderr), reply),
            };
            let how = match ran.timed_out {
                _ if ran.stopped => format!("{by} was stopped"),
                _ if ran.unknown.is_some() => format!("{by}: {}", ran.unknown.as_deref().unwrap_or_default()),
                true => format!("{by} took longer than allowed (exit code {code})"),
                false => format!("{by} ended with exit code {code}"),
            };
            (Some(if why.is_empty() { how } else { format!("{how}: {why}") }), reply)
        }
    };
    let stdout = match &failed {
        None => reply.text,
        Some(_) => ran.stdout.chars().take(FAILED_CHARS).collect(),
    };
    let session = SessionEnd { by, failed, own: reply.session, cost: reply.cost };
    CommandResult { stdout, stdout_truncated: false, ended_in: None, session: Some(Box::new(session)), ..ran }
}

/// Returns the error of a session whose command gave no answer.
fn failure(line: u32, ran: CommandResult, end: SessionEnd) -> ThrownError {
    let made = CommandEnd::of("", &ran);
    let message = end.failed.unwrap_or_else(|| "the session has no answer".to_owned());
    // A command stopped by a person, or that may have run, is not restarted.
    let is_final = ran.stopped || ran.unknown.is_some();
    ThrownError { stdout: ran.stdout, made: Some(made), is_final, ..ThrownError::new(line, message) }
}

/// Describes in a few words how a session command ended.
fn summary(ran: &CommandResult) -> String {
    let end = ran.session.as_deref().cloned().unwrap_or_default();
    let how = match (&end.failed, ran.timed_out) {
        (None, _) => "answered".to_owned(),
        (Some(_), true) => "timed out".to_owned(),
        (Some(_), false) if ran.stopped => "stopped".to_owned(),
        (Some(_), false) => "failed".to_owned(),
    };
    let cost = end.cost.filter(|cost| *cost > 0);
    let cost = cost.map(|cost| format!("  {}", dollars(cost))).unwrap_or_default();
    format!("{} {how}  {}{cost}", end.by, millis(ran.duration_ms))
}

//! Commands: their text, where they run, and how their end is handled.

use std::path::{Path, PathBuf};

use super::control_flow::{Evaluation, Flow, Halt, ThrownError};
use super::effects::{CommandSpec, Effects, NoEffect};
use super::frame::Site;
use super::scope::MissingValue;
use super::{Vm, VmFrame};
use crate::envelope::Actor;
use crate::envelope::units::millis;
use crate::model::{AnswerValue, Principal, QuestionKind};
use crate::prose::engine::record::binding::CommandEnd;
use crate::prose::engine::record::command_result::{CAPTURED_CHARS, CommandResult, last_lines};
use crate::prose::engine::record::journal::{CommandRecord, ProgramKey, RunRow};
use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::{ExecExpr, OnFail, Text};

/// A command about to run: its interpolated text, and where.
pub(super) struct FilledCommand<'a> {
    pub(super) exec: &'a ExecExpr,
    pub(super) site: Site,
    pub(super) text: String,
    pub(super) cwd: PathBuf,
}

impl<E: Effects> Vm<E> {
    /// Runs a command, unless an earlier execution did.
    pub(super) async fn exec(&self, frame: &VmFrame, exec: &ExecExpr) -> Flow {
        let site = frame.site(exec.span);
        let text = self.command_text(frame, &exec.command, site.line)?;
        let cwd = match &exec.cwd {
            Some(text) => self.directory(frame, text, site.line)?,
            None => frame.cwd.get(),
        };
        let command = FilledCommand { exec, site, text, cwd };
        let ran = match self.journal.command(&frame.key) {
            CommandRecord::Ran(ran) => *ran,
            CommandRecord::New => self.run_command(frame, &command).await?,
            CommandRecord::InDoubt(Some(ran)) if self.policy.rerun && ran.unknown.is_none() => {
                self.run_command(frame, &command).await?
            }
            CommandRecord::InDoubt(failed) => self.run_in_doubt(frame, &command, failed.as_deref()).await?,
        };
        // `cwd:` applies to that command alone (docs/prose-rules.md#rule-1).
        if let (None, Some(ended_in)) = (&exec.cwd, &ran.ended_in) {
            frame.cwd.set(ended_in.clone());
        }
        outcome(&command, ran, &frame.key)
    }

    /// Asks what to do about a command that was begun in an earlier execution, or that ended the run.
    async fn run_in_doubt(
        &self,
        frame: &VmFrame,
        command: &FilledCommand<'_>,
        failed: Option<&CommandResult>,
    ) -> Flow<CommandResult> {
        let text = match failed {
            Some(ran) => format!("This command ended the run: {}", ran.failure()),
            None => {
                "This command had started when the run was cut off, and nobody knows how it ended.".to_owned()
            }
        };
        let doubt = frame.at("doubt");
        let mut query = self.operators_query(&doubt, command.site, QuestionKind::InFlight, text);
        query.asking.evidence.command = Some(command.text.clone());
        // An earlier decision about this command in doubt does not apply to this time.
        match self.answer_now(&doubt, &query).await? {
            AnswerValue::Skip => {
                let ran = CommandResult { skipped: true, ..CommandResult::default() };
                self.journal.write(&RunRow::Ran { key: frame.key.clone(), ran: Box::new(ran.clone()) })?;
                Ok(ran)
            }
            AnswerValue::Rerun => self.run_command(frame, command).await,
            _ => Err(Halt::Aborted { line: command.site.line }),
        }
    }

    async fn run_command(&self, frame: &VmFrame, command: &FilledCommand<'_>) -> Flow<CommandResult> {
        let FilledCommand { exec, site: Site { span, line }, text, cwd } = command;
        let (lines, line) = (frame.module.lines(*span), *line);
        self.require_approval(frame, command).await?;
        let permit = tokio::select! {
            permit = self.permits.acquire() => permit,
            () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
        };
        let begun = self.journal.begin(&frame.key, line, text, self.effects.now())?;
        let order = CommandSpec {
            id: self.effects.next_id(),
            command: text.clone(),
            cwd: cwd.clone(),
            timeout: exec.timeout(),
            place: format!("{}:{line}", frame.module.library.source.name()),
            variables: Vec::new(),
            kept: CAPTURED_CHARS,
            begun: begun.clone(),
        };
        if frame.module.is_main {
            self.progress.task(lines, &order.id);
        }
        self.tell(frame, "exec", line, text.clone()).await;
        let ran = self.effects.exec(order, &frame.cancel).await;
        drop(permit);
        self.journal.wait_for_sync(&begun).await?;
        match ran {
            Ok(ran) => {
                self.journal.write(&RunRow::Ran { key: frame.key.clone(), ran: Box::new(ran.clone()) })?;
                if frame.module.is_main {
                    self.progress.record_exit(lines, ran.exit_code);
                }
                let detail = (ran.exit_code != 0).then(|| last_lines(&ran.stderr));
                self.tell_end(frame, "ran", line, summary(&ran), Some(ran.exit_code == 0), detail).await;
                Ok(ran)
            }
            // Not in the journal: how far it got is unknown.
            Err(NoEffect::Cancelled) => Err(Halt::Cancelled),
            // A denial by a person is not a failure of the command: no on-fail ignores it
            // (docs/prose-rules.md#rule-35).
            Err(NoEffect::Refused(note)) => {
                let thrown = ThrownError::denial(line, &Principal::Actor(Actor::Operator), Some(&note));
                Err(thrown.at(&frame.key).into())
            }
        }
    }

    /// Returns the text of a command with its variables interpolated literally, in a single pass
    /// (docs/prose-rules.md#rule-13, #rule-14).
    fn command_text(&self, frame: &VmFrame, text: &Text, line: u32) -> Flow<String> {
        let command = self.filled_at(frame, text, line)?;
        if command.contains('\0') {
            return Err(ThrownError::new(line, "the command has a NUL character in it").into());
        }
        if command.trim().is_empty() {
            return Err(ThrownError::new(line, "the command is empty once its variables are inserted").into());
        }
        Ok(command)
    }

    /// Returns the directory given by `cwd:`, relative to the current one (docs/prose-rules.md#rule-1).
    fn directory(&self, frame: &VmFrame, text: &Text, line: u32) -> Flow<PathBuf> {
        let asked = self.filled_at(frame, text, line)?;
        let beneath_home = asked.strip_prefix("~/").or((asked == "~").then_some(""));
        match (beneath_home, &self.home) {
            (Some(rest), Some(home)) => Ok(home.join(rest)),
            (Some(_), None) => {
                Err(ThrownError::new(line, format!("{asked}: there is no home directory")).into())
            }
            (None, _) => Ok(frame.cwd.get().join(Path::new(&asked))),
        }
    }

    /// Returns a text with its variables interpolated.
    pub(super) fn fill(&self, frame: &VmFrame, text: &Text) -> Flow<String> {
        self.filled_at(frame, text, frame.line(text.span))
    }

    fn filled_at(&self, frame: &VmFrame, text: &Text, line: u32) -> Flow<String> {
        text.fill(|name| match frame.scope.find(name.as_str()) {
            Ok(bound) => Ok(bound.value.inline_text()),
            Err(missing) if is_literal(frame, text, missing) => Ok(format!("{{{}}}", name.as_str())),
            Err(missing) => Err(absent(name.as_str(), missing, line).into()),
        })
    }
}

/// Returns whether an undeclared name is left as written (docs/prose-rules.md#rule-38): only in a text in which every
/// other name has a value or is undeclared too.
fn is_literal(frame: &VmFrame, text: &Text, missing: MissingValue) -> bool {
    let stays = |name: &str| frame.scope.find(name).is_ok() || !frame.module.declares(name);
    missing == MissingValue::NotReached && text.holes().all(|name| stays(name.as_str()))
}

/// Returns the error that says why a name has no value (docs/prose-rules.md#rule-8, #rule-17).
pub(super) fn absent(name: &str, missing: MissingValue, line: u32) -> ThrownError {
    let why = match missing {
        MissingValue::Failed(failed) => format!("the statement on line {failed} that binds it has failed"),
        MissingValue::NotReached => "no statement that binds it was reached".to_owned(),
        MissingValue::Lost(block) => format!("the parallel block on line {block} was over without it"),
    };
    ThrownError::new(line, format!("{name} has no value here: {why}"))
}

/// Applies the failure policy to the end of a command (docs/prose-rules.md#rule-5).
fn outcome(command: &FilledCommand<'_>, ran: CommandResult, key: &ProgramKey) -> Flow {
    let FilledCommand { exec, site: Site { line, .. }, text, .. } = command;
    let made = CommandEnd::of(text, &ran);
    let on_fail = exec.on_fail();
    // No on-fail ignores that a command may or may not have run.
    if ran.unknown.is_some() || ran.exit_code != 0 && on_fail == OnFail::Throw {
        let thrown =
            ThrownError { is_final: ran.unknown.is_some(), ..ThrownError::new(*line, ran.failure()).at(key) };
        return Err(ThrownError { stdout: ran.stdout, made: Some(made), ..thrown }.into());
    }
    // "ignore" never reveals how it ended, even if it succeeded (docs/prose-rules.md#rule-7).
    let made = (on_fail != OnFail::Ignore).then_some(made);
    Ok(Evaluation { value: Value::text(ran.stdout), made })
}

/// Describes in a few words how a command ended.
fn summary(ran: &CommandResult) -> String {
    let how = match ran {
        CommandResult { unknown: Some(_), .. } => "not known".to_owned(),
        CommandResult { timed_out: true, .. } => "timed out".to_owned(),
        CommandResult { exit_code: 0, .. } => "ok".to_owned(),
        CommandResult { exit_code, .. } => format!("exit {exit_code}"),
    };
    format!("{how}  {}", millis(ran.duration_ms))
}

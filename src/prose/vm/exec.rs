//! `exec`: a command of the program, from its text to what its failure does. A command that an earlier walk
//! has begun is never begun again without a word from a person.

use std::path::{Path, PathBuf};

use super::control_flow::{Evaluated, Halt, Thrown};
use super::effects::{Effects, NotRun, Order, Ran};
use super::file::Site;
use super::policy::denied;
use super::scope::{Made, Missing};
use super::value::Value;
use super::{Frame, Vm};
use crate::envelope::{Actor, TaskId};
use crate::prose::ast::{Exec, OnFail, Text};
use crate::prose::run::journal::{CommandRecord, Key, Row};
use crate::runtime::{AnswerValue, Evidence, Principal, QuestionKind};

/// Lines of a failed command's errors that its message carries.
const ERROR_LINES: usize = 5;
/// Characters of them.
const ERROR_CHARS: usize = 600;

impl<E: Effects> Vm<E> {
    /// Runs a command, or takes from the journal what came of it.
    pub(super) async fn exec(&self, frame: &Frame, exec: &Exec) -> Result<Evaluated, Halt> {
        let site = Site { span: exec.span, line: frame.line(exec.span) };
        let command = self.command_text(frame, &exec.command, site.line)?;
        let cwd = match &exec.cwd {
            Some(text) => self.directory(frame, text, site.line)?,
            None => frame.cwd.get(),
        };
        let ran = match self.journal.command(&frame.key) {
            CommandRecord::Ran(ran) => *ran,
            CommandRecord::New => self.run_command(frame, exec, &command, cwd).await?,
            CommandRecord::Begun => self.run_in_doubt(frame, exec, &command, cwd, None).await?,
            CommandRecord::Failed(ran) => self.run_in_doubt(frame, exec, &command, cwd, Some(*ran)).await?,
        };
        // A directory of its own holds for that command alone (docs/prose-rules.md#rule-1).
        if let (None, Some(ended_in)) = (&exec.cwd, &ran.ended_in) {
            frame.cwd.set(ended_in.clone());
        }
        outcome(exec, ran, site.line, &frame.key)
    }

    /// Asks about a command that was begun when the run was cut off, or that `failed` and ended the run.
    async fn run_in_doubt(
        &self,
        frame: &Frame,
        exec: &Exec,
        command: &str,
        cwd: PathBuf,
        failed: Option<Ran>,
    ) -> Result<Ran, Halt> {
        let site = Site { span: exec.span, line: frame.line(exec.span) };
        let text = match failed {
            Some(ran) => format!("This command ended the run: {}", failure(&ran)),
            None => {
                "This command had started when the run was cut off, and nobody knows how it ended.".to_owned()
            }
        };
        let evidence = Evidence { command: Some(command.to_owned()), ..Evidence::default() };
        let doubt = frame.at("doubt");
        // An answer to an earlier doubt about this command does not hold for this one.
        let answer = self.ask_now(&doubt, site, None, QuestionKind::InFlight, text, evidence).await?;
        match answer {
            AnswerValue::Skip => {
                let ran = Ran { skipped: true, ..Ran::default() };
                self.journal.write(&Row::Ran { key: frame.key.clone(), ran: Box::new(ran.clone()) })?;
                Ok(ran)
            }
            AnswerValue::Rerun => self.run_command(frame, exec, command, cwd).await,
            _ => Err(Halt::Aborted { line: site.line }),
        }
    }

    async fn run_command(
        &self,
        frame: &Frame,
        exec: &Exec,
        command: &str,
        cwd: PathBuf,
    ) -> Result<Ran, Halt> {
        let line = frame.line(exec.span);
        self.allowed(frame, command, &cwd, Site { span: exec.span, line }).await?;
        let place = tokio::select! {
            place = self.places.acquire() => place,
            () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
        };
        let order = Order {
            id: TaskId::random(),
            command: command.to_owned(),
            cwd,
            timeout: exec.timeout(),
            place: format!("{}:{line}", frame.module.source.name()),
        };
        self.journal.begin(&frame.key, line, command, self.effects.now()).await?;
        if frame.module.is_main {
            self.progress.task(frame.module.lines(exec.span), &order.id);
        }
        self.tell(frame, "exec", line, command.to_owned(), None, None).await;
        let ran = self.effects.exec(order, &frame.cancel).await;
        drop(place);
        match ran {
            Ok(ran) => {
                self.journal.write(&Row::Ran { key: frame.key.clone(), ran: Box::new(ran.clone()) })?;
                if frame.module.is_main {
                    self.progress.exited(frame.module.lines(exec.span), ran.exit_code);
                }
                let detail = (ran.exit_code != 0).then(|| end_lines(&ran.stderr));
                self.tell(frame, "ran", line, told(&ran), Some(ran.exit_code == 0), detail).await;
                Ok(ran)
            }
            // Not in the journal: how far it came is in doubt.
            Err(NotRun::Cancelled) => Err(Halt::Cancelled),
            // A person's no is not a command's failure: no on-fail makes it nothing (docs/prose-rules.md#rule-35).
            Err(NotRun::Denied(note)) => {
                let thrown = denied(line, &Principal::Actor(Actor::Operator), Some(&note));
                Err(thrown.at(&frame.key).into())
            }
        }
    }

    /// Returns the text of a command with its variables inserted, once, as they are (docs/prose-rules.md#rule-13, #rule-14).
    fn command_text(&self, frame: &Frame, text: &Text, line: u32) -> Result<String, Halt> {
        let command = self.filled_at(frame, text, line)?;
        if command.contains('\0') {
            return Err(Thrown::new(line, "the command has a NUL character in it").into());
        }
        if command.trim().is_empty() {
            return Err(Thrown::new(line, "the command is empty once its variables are inserted").into());
        }
        Ok(command)
    }

    /// Returns the directory a command says it runs in: `~/` is the home, anything else is from the
    /// current directory (docs/prose-rules.md#rule-1).
    fn directory(&self, frame: &Frame, text: &Text, line: u32) -> Result<PathBuf, Halt> {
        let asked = self.filled_at(frame, text, line)?;
        let beneath_home = asked.strip_prefix("~/").or((asked == "~").then_some(""));
        match (beneath_home, &self.home) {
            (Some(rest), Some(home)) => Ok(home.join(rest)),
            (Some(_), None) => Err(Thrown::new(line, format!("{asked}: there is no home directory")).into()),
            (None, _) => Ok(frame.cwd.get().join(Path::new(&asked))),
        }
    }

    /// Returns a text with its variables inserted; where it stands is told in errors.
    pub(super) fn filled(&self, frame: &Frame, text: &Text) -> Result<String, Halt> {
        self.filled_at(frame, text, frame.line(text.span))
    }

    fn filled_at(&self, frame: &Frame, text: &Text, line: u32) -> Result<String, Halt> {
        text.filled(|name| match frame.scope.find(name.as_str()) {
            Ok(bound) => Ok(bound.value.inserted()),
            Err(missing) => match self.is_literal(frame, text, missing) {
                true => Ok(format!("{{{}}}", name.as_str())),
                false => Err(absent(name.as_str(), missing, line).into()),
            },
        })
    }

    /// Tells whether a name that nothing declares stays as it is written (docs/prose-rules.md#rule-38): such a text comes
    /// from a session or a gate, since the checks let it into no command.
    fn is_literal(&self, frame: &Frame, text: &Text, missing: Missing) -> bool {
        missing == Missing::NotReached
            && text
                .holes()
                .all(|name| frame.scope.find(name.as_str()).is_ok() || !frame.module.declares(name.as_str()))
    }
}

/// Says why a name has no value (docs/prose-rules.md#rule-8, #rule-17).
pub(super) fn absent(name: &str, missing: Missing, line: u32) -> Thrown {
    let why = match missing {
        Missing::Failed(failed) => format!("the statement on line {failed} that binds it has failed"),
        Missing::NotReached => "no statement that binds it was reached".to_owned(),
    };
    Thrown::new(line, format!("{name} has no value here: {why}"))
}

/// Applies the policy for failures to the end of a command (docs/prose-rules.md#rule-5).
fn outcome(exec: &Exec, ran: Ran, line: u32, key: &Key) -> Result<Evaluated, Halt> {
    let made = Made {
        exit_code: Some(ran.exit_code),
        stderr: ran.stderr.clone(),
        timed_out: ran.timed_out,
        stdout_truncated: ran.stdout_truncated,
        stderr_truncated: ran.stderr_truncated,
    };
    let on_fail = exec.on_fail();
    if ran.exit_code != 0 && on_fail == OnFail::Throw {
        let thrown = Thrown::new(line, failure(&ran)).at(key);
        return Err(Thrown { stdout: ran.stdout, made: Some(made), ..thrown }.into());
    }
    // "ignore" never tells how it ended, also when it ended well (docs/prose-rules.md#rule-7).
    let made = (on_fail != OnFail::Ignore).then_some(made);
    Ok(Evaluated { value: Value::text(ran.stdout), made })
}

/// Says how a failed command ended, with the end of its errors.
fn failure(ran: &Ran) -> String {
    let ended = match ran.timed_out {
        true => format!("the command took longer than allowed (exit code {})", ran.exit_code),
        false => format!("the command ended with exit code {}", ran.exit_code),
    };
    match end_lines(&ran.stderr).as_str() {
        "" => ended,
        lines => format!("{ended}: {lines}"),
    }
}

fn told(ran: &Ran) -> String {
    let how = match ran {
        Ran { timed_out: true, .. } => "timed out".to_owned(),
        Ran { exit_code: 0, .. } => "ok".to_owned(),
        Ran { exit_code, .. } => format!("exit {exit_code}"),
    };
    format!("{how}  {} ms", ran.duration_ms)
}

fn end_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(ERROR_LINES)..].join("\n");
    let skip = end.chars().count().saturating_sub(ERROR_CHARS);
    end.chars().skip(skip).collect()
}

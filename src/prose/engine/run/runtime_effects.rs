//! The effects of a real run: its commands are tasks of the runtime, and its questions are the runtime's pending
//! questions.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    Error, ExecOutcome, ExecRequest, Exit, NewQuestion, ProgramStep, QuestionOutcome, STEP_GRACE, Signal,
    Stop, TaskFact, TaskStatus, TaskView, Until,
};
use crate::process::script;
use crate::prose::engine::record::command_result::{CAPTURED_CHARS, CommandResult};
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::vm::effects::{Audience, CommandSpec, Effects, NoEffect, RunEvent};
use crate::runtime::{Handle, Leftovers, OutputStream};

/// How long a task may take to end after KILL.
const GONE: Duration = Duration::from_secs(5);

/// The exit code of a command of which nobody can know whether it had begun (`EX_TEMPFAIL`).
const UNKNOWN: i32 = 75;

pub(super) struct RuntimeEffects {
    pub(super) runtime: Handle,
    /// Who started the program, and so its commands.
    pub(super) by: Actor,
    pub(super) call: u64,
    /// The shell of its commands, found once: a `PATH` may have many folders to search.
    pub(super) shell: String,
    /// Whether a console opens with the run, so that an operator will be present.
    pub(super) has_operator: bool,
    pub(super) events: mpsc::Sender<RunEvent>,
    /// Tasks that commands left running, to be stopped with the run (docs/prose-rules.md#rule-34).
    pub(super) kept: Mutex<Vec<TaskId>>,
}

impl RuntimeEffects {
    /// Ends the tasks that commands left running; returns descriptions of them.
    pub(super) async fn clear(&self) -> Vec<String> {
        let kept = std::mem::take(&mut *self.kept_tasks());
        let mut named = Vec::new();
        for id in kept {
            let Some(task) = self.runtime.task(&id).filter(|task| !task.status.is_terminal()) else {
                continue;
            };
            // It may have ended meanwhile.
            let _ = self.runtime.stop(&Actor::System, &id, Stop::default()).await;
            let _ = self.runtime.wait(&id, Until::Terminal, STEP_GRACE + GONE).await;
            named.push(format!("{} (of `{}`)", left_behind(&task), crate::envelope::one_line(&task.cmd, 60)));
        }
        named
    }

    pub(super) fn kept_tasks(&self) -> std::sync::MutexGuard<'_, Vec<TaskId>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn end(&self, id: &TaskId) {
        // The id is unknown only if the task could not be started.
        let _ = self.runtime.stop(&Actor::System, id, Stop::default()).await;
        let _ = self.runtime.wait(id, Until::Terminal, STEP_GRACE + GONE).await;
    }

    async fn command_result(&self, outcome: ExecOutcome, kept: usize) -> Result<CommandResult, NoEffect> {
        let task = match outcome {
            ExecOutcome::Completed(task) => task,
            ExecOutcome::Promoted(task) if task.status == TaskStatus::Cancelling => {
                // It timed out or is being stopped: wait until whatever is left of it is stopped as well.
                let _ = self.runtime.wait(&task.id, Until::Terminal, STEP_GRACE + GONE).await;
                self.runtime.task(&task.id).unwrap_or(task)
            }
            // A person is deciding; wait however long that takes.
            ExecOutcome::Held(task) => {
                let _ = self.runtime.wait(&task.id, Until::Terminal, Duration::MAX).await;
                self.runtime.task(&task.id).unwrap_or(task)
            }
            ExecOutcome::Promoted(task) => {
                self.kept_tasks().push(task.id.clone());
                task
            }
        };
        if task.status == TaskStatus::Interrupted {
            // The runtime is ending, and the command with it: how far it got is unknown.
            return Err(NoEffect::Cancelled);
        }
        let denied = task.ended.as_ref().and_then(|ended| ended.error.as_ref());
        if let Some((kind, message)) = denied
            && kind == "operator_denied"
        {
            return Err(NoEffect::Refused(message.clone()));
        }
        let (stdout, stdout_truncated) = self.read(&task, OutputStream::Stdout, kept).await;
        let (stderr, stderr_truncated) = self.read(&task, OutputStream::Stderr, CAPTURED_CHARS).await;
        let stderr = script::with_shells_name(stderr, self.shell.as_ref());
        Ok(CommandResult {
            exit_code: exit_code(&task),
            stdout,
            stderr,
            stdout_truncated,
            stderr_truncated,
            timed_out: task.ended.as_ref().is_some_and(|ended| ended.timed_out),
            stopped: task.status == TaskStatus::Cancelled,
            unknown: None,
            session: None,
            skipped: false,
            ended_in: script::final_directory(&task.folder),
            duration_ms: task.lived_ms(),
        })
    }

    /// Reads the beginning of a stream (docs/prose-rules.md#rule-22).
    async fn read(&self, task: &TaskView, stream: OutputStream, kept: usize) -> (String, bool) {
        let read = async {
            let output = self.runtime.output_of(task)?;
            output.beginning(stream, 4 * kept as u64).await
        };
        match read.await {
            Ok((bytes, is_all)) => cut(&bytes, is_all, kept),
            Err(error) => {
                tracing::error!(%error, task = %task.id, "the output of a program's command cannot be read");
                (String::new(), true)
            }
        }
    }
}

impl Effects for RuntimeEffects {
    fn next_id(&self) -> TaskId {
        self.runtime.next_id()
    }

    async fn exec(&self, order: CommandSpec, cancel: &CancellationToken) -> Result<CommandResult, NoEffect> {
        let CommandSpec { id, command, cwd, timeout, place, variables, kept, begun } = order;
        let shown = cwd.display().to_string();
        let request = ExecRequest {
            actor: self.by.clone(),
            call: self.call,
            cmd: command,
            shell: Some(self.shell.clone()),
            login: false,
            workdir: None,
            base: cwd,
            tty: false,
            size: None,
            accepts_input: false,
            yield_after: None,
            timeout: Some(timeout),
            leftovers: Leftovers::Keep,
            description: Some(place),
            item: None,
            step: Some(ProgramStep { id: id.clone(), variables }),
            native: None,
        };
        let mut guard = CommandGuard { world: self, id: Some(id.clone()) };
        let running = self.runtime.exec_after(begun, request);
        tokio::pin!(running);
        let outcome = tokio::select! {
            outcome = &mut running => outcome,
            () = cancel.cancelled() => {
                self.end(&id).await;
                guard.id = None;
                return Err(NoEffect::Cancelled);
            }
        };
        guard.id = None;
        match outcome {
            Ok(outcome) => self.command_result(outcome, kept).await,
            Err(Error::ShuttingDown) => Err(NoEffect::Cancelled),
            Err(Error::StartUnknown(task)) => {
                let unknown = Some(Error::StartUnknown(task.clone()).to_string());
                let ran = self.command_result(ExecOutcome::Completed(task), kept).await?;
                Ok(CommandResult { exit_code: UNKNOWN, unknown, ..ran })
            }
            Err(error) => Ok(not_started(&error, &shown)),
        }
    }

    async fn ask(&self, asking: NewQuestion) -> Result<RecordedDecision, NoEffect> {
        match self.runtime.ask(asking).await {
            Ok(QuestionOutcome::Answered(answer)) => Ok(RecordedDecision::Answered(answer)),
            Ok(QuestionOutcome::TimedOut { at }) => Ok(RecordedDecision::TimedOut(at)),
            Err(Error::ShuttingDown) => Err(NoEffect::Cancelled),
            Err(error) => Err(NoEffect::Refused(error.to_string())),
        }
    }

    fn present(&self) -> Audience {
        let operator = self.has_operator || self.runtime.is_watched();
        Audience { operator, agent: self.runtime.has_agent() }
    }

    async fn tell(&self, event: RunEvent) {
        // If nobody follows the run any more, it continues all the same.
        let _ = self.events.send(event).await;
    }

    fn now(&self) -> Timestamp {
        Clock::start().now().wall
    }
}

/// A running command. If dropped, the execution is gone, and the task is stopped.
struct CommandGuard<'a> {
    world: &'a RuntimeEffects,
    id: Option<TaskId>,
}

impl Drop for CommandGuard<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.world.runtime.abandon(id, &Actor::System);
        }
    }
}

impl Drop for RuntimeEffects {
    /// Ends the tasks that are still running if the run is dropped before its end.
    fn drop(&mut self) {
        for id in std::mem::take(&mut *self.kept_tasks()) {
            self.runtime.abandon(&id, &Actor::System);
        }
    }
}

/// Returns the exit code of a command as a shell reports it (docs/prose-rules.md#rule-5).
fn exit_code(task: &TaskView) -> i32 {
    let ended = task.ended.as_ref();
    if ended.is_some_and(|ended| ended.timed_out) {
        return 124;
    }
    let status = ended.and_then(|ended| ended.exit_status).map(Exit::Code);
    let signal = || ended.and_then(|ended| ended.signal.as_ref()?.parse().ok()).map(Exit::Signal);
    // Without one, the task host was lost: report it as killed.
    let exit = status.or_else(signal).or_else(|| task.shell_end().copied());
    exit.unwrap_or(Exit::Signal(Signal::KILL)).shell_status()
}

/// Returns the result of a command that could not be started: exit code 127 if there is no shell, 126 for anything
/// else.
fn not_started(error: &Error, cwd: &str) -> CommandResult {
    let (exit_code, stderr) = match error {
        Error::WorkdirNotFound { reason, .. } => {
            // The path comes last: lines are cut at their end.
            let named = format!("enter {cwd}: ");
            let why = reason.strip_prefix(&named).unwrap_or(reason);
            (126, format!("the directory cannot be entered, {why}: {cwd}\n"))
        }
        Error::Spawn { message, .. } if message.contains("No such file") => (127, format!("{error}\n")),
        other => (126, format!("{other}\n")),
    };
    CommandResult { exit_code, stderr, ..CommandResult::default() }
}

fn cut(bytes: &[u8], is_all: bool, kept: usize) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(kept) {
        Some((end, _)) => (text[..end].to_owned(), true),
        None => (text.into_owned(), !is_all),
    }
}

fn left_behind(task: &TaskView) -> String {
    let last = task.events.iter().rev().find(|event| matches!(event.fact, TaskFact::Kept(_)));
    last.map_or_else(|| "a process".to_owned(), |event| event.fact.note().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_output_is_cut_by_characters_and_a_broken_byte_counts_as_one() {
        let long = "é".repeat(CAPTURED_CHARS + 1);
        let (text, is_cut) = cut(long.as_bytes(), true, CAPTURED_CHARS);
        assert_eq!((text.chars().count(), is_cut), (CAPTURED_CHARS, true));
        let whole = "é".repeat(CAPTURED_CHARS);
        assert_eq!(cut(whole.as_bytes(), true, CAPTURED_CHARS), (whole.clone(), false));
        assert_eq!(cut(b"a\xffb", true, CAPTURED_CHARS), ("a\u{fffd}b".to_owned(), false));
        assert!(cut(b"a", false, CAPTURED_CHARS).1);
        assert_eq!(cut(b"abc", true, 2), ("ab".to_owned(), true), "the beginning is kept");
    }
}

//! The runtime's side of a command from an agent's shell: turns it into a task and reports its progress to the
//! caller.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::fstat;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::command_text::CommandText;
use super::ending::{self, ShellCommandEnd};
use super::refusal::{DENIED, NOT_RUN, StartRefusal};
use crate::agent::sessions::{AgentClaim, AgentSessions, Membership};
use crate::agents::AgentProgram;
use crate::envelope::{Actor, Envelope, TaskId};
use crate::journal::Durability;
use crate::link::{self, Client, ServedRequest, ShellInput, ShellLine, ShellMessage, ShellReply};
use crate::model::calls::SHELL_CALL;
use crate::model::phrases::{exit_clause, not_run_clause};
use crate::model::{
    AgentActivity, AnsweredPrompts, AnsweredWhich, Error, ExecOutcome, ExecRequest, Exit, NativeTask,
    ParentTask, SHELL_PROFILE, Signal, Stop, TaskView, TypedInput,
};
use crate::process::{CallerTerminal, EnclosingTask, Fence, SignalScope};
use crate::runtime::{AnswerNotices, CallerStage, Handle, Leftovers, Native, NativeRequest};
use crate::terminal::Size;

/// The columns and rows of a command's terminal, if it has one and its caller's does not say.
const TERMINAL: (u16, u16) = (80, 24);
/// Messages from a caller that are kept until its command has started.
const EARLY: usize = 64;
/// Why a command is not run in a directory that was removed.
const REMOVED: &str = "the directory it begins in was removed";
/// What is said of a command that was not decided on in time.
const UNDECIDED: &str = "the operator has not decided about this command; it was not run";

/// Serves one command until its end has been reported to the caller, or the caller is gone.
///
/// # Errors
/// When the caller breaks the protocol.
pub async fn serve(client: Client, runtime: Handle, sessions: AgentSessions) -> Result<(), link::Error> {
    let (peer, cwd, label) = (client.peer, client.hello.cwd.clone(), client.hello.label.clone());
    let (enclosing, parents) = (client.task.clone(), client.parents.clone());
    let (mut line, asked) = ShellLine::receive(client).await?;
    if enclosing.as_ref().is_some_and(|task| !task.is_agent) {
        // The caller runs it as part of that task, as it would have had it detected the task itself.
        line.tell(&ShellReply::Fenced).await;
        return Ok(());
    }
    if Fence::of(peer.pid).is_none_or(|fence| Some(&fence) != Fence::own()) {
        line.tell(&ShellReply::Fenced).await;
        return Ok(());
    }
    let agent = asked.request.agent.as_deref().and_then(AgentProgram::routed_as);
    let said = AgentClaim {
        agent,
        program: asked.request.agent.as_deref(),
        session: asked.request.session.as_deref(),
        pid: asked.request.agent_pid,
        label: label.as_deref(),
    };
    let session = sessions.join(&runtime, &parents, peer.uid, said, SHELL_PROFILE);
    let is_asking = runtime.snapshot().borrow().is_asking(&session.label);
    if let Some(name) = asked.request.session.clone().filter(|_| is_asking) {
        // It runs: so the agent's own prompt about it, if there was one, has been answered.
        let (which, at) = (CommandText::of(agent, &asked.request).cmd, runtime.clock().now().wall);
        let which = AnsweredWhich::Command(which);
        runtime.agent_works(&session.label, |_| Some(AgentActivity::Working));
        let answered = AnsweredPrompts { agent: session.label.clone(), session: name, which, at };
        runtime.answered_in_agent(answered).await;
    }
    let runtime = runtime.within(enclosing.and_then(within));
    ShellCommand::begin(runtime, agent, session, cwd, asked).await.carry(line).await;
    Ok(())
}

fn within(enclosing: EnclosingTask) -> Option<ParentTask> {
    Some(ParentTask { task: enclosing.task.parse().ok()?, is_agent: enclosing.is_agent })
}

/// A requested command.
struct ShellCommand {
    runtime: Handle,
    agent: Option<AgentProgram>,
    actor: Actor,
    session: Membership,
    id: TaskId,
    /// The request, to ask about what was not started.
    asked: ExecRequest,
    stage: watch::Receiver<CallerStage>,
    running: JoinHandle<Result<(), StartRefusal>>,
    /// Whether its caller only stands for a command, and cannot add to what that writes.
    runs_elsewhere: bool,
    /// How long it may wait to start.
    patience: Option<Duration>,
    /// Whether it was withdrawn because it had waited that long.
    was_given_up: bool,
}

impl ShellCommand {
    async fn begin(
        runtime: Handle,
        agent: Option<AgentProgram>,
        session: Membership,
        cwd: PathBuf,
        asked: ServedRequest,
    ) -> Self {
        let actor = Actor::Agent(session.label.clone());
        let ServedRequest { request, workdir, stdin, stdout, stderr, descriptors } = asked;
        let shown = CommandText::of(agent, &request);
        let input = shown.on_record(&request);
        let runs_elsewhere = request.shown.is_some();
        runtime.agent_fenced(&session.label, runs_elsewhere);
        let call = runtime.begin_call(&actor, SHELL_CALL, Durability::Written, &input).await;
        let id = runtime.next_id();
        let terminal = match request.input {
            ShellInput::CallersTerminal => CallerTerminal::open(&stdin).map(Some),
            _ => Ok(None),
        };
        let has_terminal = matches!(request.input, ShellInput::Terminal | ShellInput::CallersTerminal);
        let size = terminal.as_ref().ok().and_then(Option::as_ref).and_then(CallerTerminal::size);
        let exec = ExecRequest {
            actor: actor.clone(),
            call,
            cmd: shown.cmd,
            shell: Some(request.shell.to_string_lossy().into_owned()),
            login: false,
            workdir: None,
            base: cwd,
            tty: has_terminal,
            size: has_terminal.then(|| size.unwrap_or_else(|| Size::nearest(TERMINAL.0, TERMINAL.1))),
            accepts_input: request.input != ShellInput::Descriptor,
            yield_after: None,
            timeout: None,
            leftovers: Leftovers::Keep,
            description: request.description,
            item: None,
            step: None,
            native: Some(NativeTask {
                id: id.clone(),
                has_callers_terminal: request.input == ShellInput::CallersTerminal,
                session: request.session.clone(),
            }),
        };
        let asked = exec.clone();
        let (told, stage) = watch::channel(CallerStage::default());
        // Whatever becomes of a removed directory's path, the command would not run there.
        let is_removed = || fstat(&workdir).is_ok_and(|facts| facts.st_nlink == 0);
        let unfit = request.unfit.or_else(|| is_removed().then(|| REMOVED.to_owned()));
        let terminal = match unfit {
            None => terminal.map_err(|error| format!("its terminal: {error}")),
            Some(unfit) => Err(unfit),
        };
        let running = match terminal {
            Err(reason) => {
                let refused = Err(Error::NotHandedOver { reason });
                tokio::spawn(record(runtime.clone(), call, async { refused }))
            }
            Ok(terminal) => {
                let stdin = (request.input == ShellInput::Descriptor).then_some(stdin);
                let inherited = request.inherited;
                let args = request.args;
                let native =
                    Native { args, workdir, stdin, terminal, stdout, stderr, inherited, descriptors };
                let (own, request) = (runtime.clone(), NativeRequest { exec, native, told });
                tokio::spawn(record(runtime.clone(), call, async move { own.exec_native(request).await }))
            }
        };
        let patience = agent.and_then(AgentProgram::own_shell).and_then(|shell| shell.patience);
        Self {
            runtime,
            agent,
            actor,
            session,
            id,
            asked,
            stage,
            running,
            runs_elsewhere,
            patience,
            was_given_up: false,
        }
    }

    /// Reports progress to the caller and forwards the caller's messages, until the end.
    async fn carry(mut self, mut line: ShellLine) {
        let since = Instant::now();
        let (mut has_started, mut is_orphan, mut was_held) = (false, false, false);
        let mut early = Vec::new();
        loop {
            let late = self.patience.filter(|_| !has_started).map(|patience| since + patience);
            tokio::select! {
                biased;
                changed = self.stage.changed() => {
                    let stage = self.stage.borrow_and_update().clone();
                    match stage {
                        CallerStage::Started => {
                            has_started = true;
                            if is_orphan {
                                self.runtime.caller_gone(&self.id).await;
                            }
                            line.tell(&ShellReply::Started).await;
                            for message in early.drain(..) {
                                self.hear(message, &mut line).await;
                            }
                        }
                        CallerStage::Held => {
                            was_held = true;
                            line.tell(&ShellReply::Held).await;
                        }
                        CallerStage::Ended { exit, closing, unwritten, ceiling, unended, by_operator }
                            if has_started || exit.is_some() =>
                        {
                            let ending =
                                ShellCommandEnd { exit, closing, unwritten, ceiling, unended, by_operator };
                            return self.report_end(ending, line).await;
                        }
                        stage if changed.is_err() || matches!(stage, CallerStage::Ended { .. }) => {
                            let reply = self.not_begun(was_held).await;
                            line.tell(&reply).await;
                            return line.close().await;
                        }
                        _ => {}
                    }
                }
                message = line.next() => match message {
                    Some(message) if has_started => self.hear(message, &mut line).await,
                    Some(ShellMessage::Kill) => self.runtime.abandon(&self.id, &self.actor),
                    Some(message) if early.len() < EARLY => early.push(message),
                    Some(_) => {}
                    None => return self.leave(has_started).await,
                },
                // The shell outlives its agent, and waits for a command whose output nobody reads.
                () = self.session.agent_ended(), if !is_orphan => {
                    is_orphan = true;
                    self.runtime.caller_gone(&self.id).await;
                }
                // Whether it was too late for that is known once the command has started or ended.
                () = tokio::time::sleep_until(late.unwrap_or(since)), if late.is_some() => {
                    self.patience = None;
                    self.was_given_up = true;
                    self.stop(Stop::default()).await;
                }
            }
        }
    }

    /// Reports how a command ended, with what a person wrote to its agent.
    async fn report_end(&self, ending: ShellCommandEnd, mut line: ShellLine) {
        let words = if ending.takes_words() { self.words() } else { None };
        let said = words.as_ref().map(AnswerNotices::sentences).unwrap_or_default();
        let words = words.and_then(|words| words.leave_in_output(self.asked.call));
        line.tell(&ending.reply(self.agent, &said)).await;
        words.into_iter().for_each(AnswerNotices::mark_delivered);
        line.close().await;
    }

    /// Returns the reply for a command that ended before it started.
    async fn not_begun(&mut self, was_held: bool) -> ShellReply {
        let (message, code) = match (&mut self.running).await {
            Ok(Err(refused)) => {
                if !self.runs_elsewhere {
                    self.runtime.leave_words_in_output(&self.session.label, &refused.note, self.asked.call);
                }
                // What a person was asked about is not run without its record.
                let is_free = !was_held && self.runtime.is_free(self.asked.clone()).await;
                refused.reply(is_free)
            }
            _ if self.was_given_up => (UNDECIDED.to_owned(), Some(NOT_RUN)),
            _ => {
                let view = self.runtime.find(&self.id).await;
                let is_closing = view.as_ref().is_some_and(|view| view.ended_with_runtime().is_some());
                let why = view.and_then(|view| view.cause()).unwrap_or_else(|| "it was withdrawn".to_owned());
                (not_run_clause(&why), Some(if is_closing { NOT_RUN } else { DENIED }))
            }
        };
        if code != Some(DENIED) {
            return ShellReply::Refused { message, code };
        }
        let words = self.words();
        let said = words.as_ref().and_then(|words| ending::note(false, &words.sentences()));
        let words = words.and_then(|words| words.leave_in_output(self.asked.call));
        words.into_iter().for_each(AnswerNotices::mark_delivered);
        let message = match said {
            Some(said) => format!("{message}; {said}"),
            None => message,
        };
        ShellReply::Refused { message, code }
    }

    /// Takes what a person wrote to the agent, which reads nothing but what its commands write.
    fn words(&self) -> Option<AnswerNotices> {
        (!self.runs_elsewhere).then(|| self.runtime.words_for(&self.session.label))
    }

    /// Handles the loss of the caller. If its command has not started yet, notifies the runtime again once it has, so
    /// that it ends then.
    async fn leave(mut self, has_started: bool) {
        self.runtime.caller_gone(&self.id).await;
        if has_started {
            return;
        }
        let has_come =
            |stage: &CallerStage| matches!(stage, CallerStage::Started | CallerStage::Ended { .. });
        if self.stage.wait_for(has_come).await.is_ok() {
            self.runtime.caller_gone(&self.id).await;
        }
    }

    /// Handles a message from the caller of a running command.
    async fn hear(&self, message: ShellMessage, line: &mut ShellLine) {
        match message {
            ShellMessage::Signal { number, to_group } => self.signal(number, to_group).await,
            ShellMessage::Resized => self.runtime.caller_resized(&self.actor, &self.id).await,
            ShellMessage::Kill => self.stop(Stop { force: true, signal: None }).await,
            ShellMessage::Input(bytes) => {
                let refused = self.type_in(&bytes).await.err();
                line.tell(&ShellReply::Typed { refused }).await;
            }
        }
    }

    async fn type_in(&self, bytes: &str) -> Result<(), String> {
        let bytes = STANDARD.decode(bytes).map_err(|error| error.to_string())?;
        let sent = self.runtime.input(&self.actor, &self.id, TypedInput::Raw(bytes)).await;
        match sent.map_err(|error| error.to_string())?.rejection {
            Some(rejection) => Err(rejection.message),
            None => Ok(()),
        }
    }

    async fn signal(&self, number: i32, to_group: bool) {
        let Ok(signal) = Signal::try_from(number) else { return };
        let scope = if to_group { SignalScope::Foreground } else { SignalScope::Shell };
        self.runtime.pass_on(&self.actor, &self.id, signal, scope).await;
    }
}

impl ShellCommand {
    async fn stop(&self, stop: Stop) {
        if let Err(error) = self.runtime.stop(&self.actor, &self.id, stop).await {
            tracing::info!(%error, "a signal of a caller came too late");
        }
    }
}

/// Runs a command to its end, or until its leftover processes turn it into a task, and records the outcome.
async fn record(
    runtime: Handle,
    call: u64,
    run: impl Future<Output = Result<ExecOutcome, Error>>,
) -> Result<(), StartRefusal> {
    let outcome = run.await;
    let not_started = outcome.as_ref().err().map(StartRefusal::by);
    let (envelope, task) = match outcome {
        Ok(ExecOutcome::Completed(task) | ExecOutcome::Promoted(task) | ExecOutcome::Held(task)) => {
            (Envelope::success(SHELL_CALL, &summary(&task), &result(&task)), Some(task.id.clone()))
        }
        Err(error) => (Envelope::error(SHELL_CALL, error.into()), None),
    };
    let receipt = envelope.summary_text().to_owned();
    runtime.end_call(call, task.as_ref(), &envelope, &receipt, Vec::new()).await.wait().await;
    not_started.map_or(Ok(()), Err)
}

fn summary(task: &TaskView) -> String {
    let end = match task.shell_end().map(Exit::code_or_signal) {
        Some((code, signal)) => exit_clause(code, signal.as_deref()),
        None => task.status.as_str().to_owned(),
    };
    task.with_unended(format!("command {end}"))
}

fn result(task: &TaskView) -> Value {
    let (code, signal) = task.shell_end().map(Exit::code_or_signal).unwrap_or_default();
    json!({ "task": { "task_id": task.id, "status": task.status }, "exit_code": code, "signal": signal })
}

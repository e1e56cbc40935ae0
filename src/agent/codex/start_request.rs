//! A single `process/start` request: runs the process as a task of the runtime, and answers Codex as its own server
//! would.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::pipe::{PipeFlags, pipe_with};
use serde_json::{Value, json};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;

use super::executor::{CodexConversation, RuntimeAccess};
use super::message::{INTERNAL, error, result};
use super::process::ProcessStream;
use super::process_task::ProcessTask;
use super::sandbox::{self, SandboxMirror};
use super::start::StartParams;
use super::tasks::{CodexTask, TaskOrder};
use crate::agent::shell::runs_plainly;
use crate::agents::AgentProgram;
use crate::config::OnFailure;
use crate::envelope::with_causes;
use crate::link::{
    ClientRole, Error, Hello, Loss, ShellCall, ShellConversation, ShellFallback, ShellInput, ShellReply,
    ShellRequest, ask_at_once,
};
use crate::model::phrases::{not_run_clause, setting_refusal};
use crate::process::environment::{Environment, on_path};
use crate::process::{InheritedAttributes, own_umask};

/// How long joining or starting a runtime may take.
const BUDGET: Duration = Duration::from_secs(2);

/// Why a process does not run whose environment is not known.
const NO_ENVIRONMENT: &str = "Codex's own server does not say which environment it has";
/// Why a process does not run whose stand-in is gone before it has started.
const NOT_SHOWN: &str = "this command was not run: the runtime ended before it was let go";

/// A requested process.
#[derive(Debug)]
pub(super) struct StartRequest {
    pub(super) talk: CodexConversation,
    pub(super) reach: Arc<RuntimeAccess>,
    /// The request id, which the answer must carry.
    pub(super) id: Value,
    /// The request, as received.
    pub(super) line: Vec<u8>,
    /// Its parameters.
    pub(super) asked: Value,
    pub(super) start: StartParams,
}

/// Why a process did not become a task.
enum NoTaskReason {
    /// Codex's own server is to run it. The reason is printed to standard error if it could otherwise have been a
    /// task.
    Ours(Option<String>),
    /// It must not run at all.
    Run(String),
}

impl NoTaskReason {
    fn not_run(why: &str) -> Self {
        Self::Run(not_run_clause(why))
    }
}

/// A process that the runtime has been asked to run.
struct TaskConversation {
    runtime: ShellConversation,
    outputs: Vec<(ProcessStream, Receiver)>,
}

impl StartRequest {
    /// Represents the process to Codex until it has ended and all its output has been reported.
    pub(super) async fn run(self, task: Arc<CodexTask>, orders: mpsc::Receiver<TaskOrder>) {
        let begun = match self.begin().await {
            Ok(begun) => begun,
            Err(NoTaskReason::Ours(why)) => {
                return self.pass_on(why).await;
            }
            Err(NoTaskReason::Run(why)) => return self.refuse(&why).await,
        };
        let processes = self.talk.processes.clone();
        let name = self.start.process_id.clone();
        if self.stand_for(begun, task, orders).await {
            processes.forget(name).await;
        }
    }

    /// Creates a task that mirrors the process, while Codex's own server runs it.
    pub(super) async fn observe(self) {
        let lines = match sandbox::StandInPipes::open() {
            Ok(lines) => lines,
            Err(error) => return self.pass_on(Some(error.to_string())).await,
        };
        let args = [self.reach.program.clone().into_os_string()].into_iter();
        let request = ShellRequest {
            shell: self.reach.program.clone(),
            shown: Some(self.start.display_command()),
            description: Some(self.start.fence()),
            args: args.chain(lines.args().into_iter().map(OsString::from)).collect(),
            // Input goes to the stand-in, and only through its terminal.
            input: match self.start.input() {
                ShellInput::Terminal => ShellInput::Terminal,
                _ => ShellInput::Descriptor,
            },
            ..self.request()
        };
        let own = Environment::own().map_or_else(Vec::new, |own| own.iter().cloned().collect());
        let (mut runtime, _) = match self.ask(request, own, false).await {
            Ok(asked) => asked,
            Err(NoTaskReason::Ours(why)) => return self.pass_on(why).await,
            Err(NoTaskReason::Run(why)) => return self.refuse(&why).await,
        };
        let reply = loop {
            match runtime.next().await {
                Ok(ShellReply::Held) => {}
                reply => break reply,
            }
        };
        match reply {
            Ok(ShellReply::Started) => {
                let (name, side) = (self.start.process_id.clone(), self.talk.server.clone());
                if let Err(error) = (SandboxMirror { request: self, runtime, lines }).run().await {
                    tracing::info!(%error, "a process of Codex's own server is no longer shown");
                    side.unwatch(&name);
                }
            }
            // Only the stand-in failed to start; the process itself has not been started.
            Ok(ShellReply::Refused { message, code: None }) => self.pass_on(Some(message)).await,
            Ok(ShellReply::Refused { message, code: Some(_) }) => self.refuse(&message).await,
            Ok(ShellReply::Fenced) => self.pass_on(None).await,
            Ok(ShellReply::Ended { .. } | ShellReply::Typed { .. } | ShellReply::Held) | Err(_) => {
                self.refuse(NOT_SHOWN).await
            }
        }
    }

    async fn refuse(&self, why: &str) {
        self.talk.processes.remove(&self.start.process_id);
        let _ = self.talk.codex.line(&error(&self.id, INTERNAL, why)).await;
    }

    /// Forwards the request to Codex's own server, without a task; reports why if it could have been one.
    async fn pass_on(self, why: Option<String>) {
        if let Some(why) = why {
            let (request, workdir) = (self.request(), self.start.directory().unwrap_or_default());
            let request = ShellRequest { shown: Some(self.start.display_command()), ..request };
            if let Err(not_run) = runs_plainly(&self.reach.places, &request, &workdir, &why) {
                return self.refuse(&not_run).await;
            }
            (self.reach.say)(&format!("this command runs without Pilothouse: {why}"));
        }
        self.talk.processes.remove(&self.start.process_id);
        // If the server is gone, Codex notices that by itself.
        let _ = self.talk.server.side.line(&self.line).await;
    }

    async fn begin(&self) -> Result<TaskConversation, NoTaskReason> {
        let left = self.talk.server.environment(&self.start, &self.asked).await;
        let unfit = left.is_none().then(|| NO_ENVIRONMENT.to_owned());
        let environment = self.start.environment(&left.unwrap_or_default());
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let directory = self.start.directory().unwrap_or_default();
        let program = self.start.argv.first().and_then(|name| program(name, path, &directory));
        // If the program is not found, the server that would have run it reports that.
        let shell = match program {
            Some(program) => program,
            None if unfit.is_some() => PathBuf::new(),
            None => return Err(NoTaskReason::Ours(None)),
        };
        let request = ShellRequest { shell, unfit, ..self.request() };
        let (runtime, outputs) = self.ask(request, environment, true).await?;
        let failed = |error: io::Error| NoTaskReason::Run(error.to_string());
        let outputs = outputs.into_iter().map(|(stream, fd)| Ok((stream, Receiver::from_owned_fd(fd)?)));
        Ok(TaskConversation { runtime, outputs: outputs.collect::<io::Result<Vec<_>>>().map_err(failed)? })
    }

    /// Returns the request to the runtime, without the program.
    fn request(&self) -> ShellRequest {
        let metadata = self.start.metadata.clone().unwrap_or_default();
        ShellRequest {
            agent: Some(AgentProgram::Codex.as_str().to_owned()),
            session: self.start.session(),
            agent_pid: None,
            shell: PathBuf::new(),
            inherited: InheritedAttributes::own(),
            descriptors: Vec::new(),
            input: self.start.input(),
            tool_call: metadata.tool_call_id,
            shown: None,
            description: self.start.subagent(),
            unfit: None,
            args: self.start.args(),
        }
    }

    /// Asks the runtime to run a command. Its output is read here if `is_read`, and discarded otherwise.
    async fn ask(
        &self,
        request: ShellRequest,
        environment: Vec<(OsString, OsString)>,
        is_read: bool,
    ) -> Result<(ShellConversation, Vec<(ProcessStream, OwnedFd)>), NoTaskReason> {
        let cwd = self.start.directory().ok_or(NoTaskReason::Ours(None))?;
        let reach = self.reach.clone();
        let asking = move || ask(&reach, request, environment, cwd, is_read);
        let asked = tokio::task::spawn_blocking(asking).await;
        let (call, outputs) = asked.unwrap_or_else(|error| Err(NoTaskReason::Run(error.to_string())))?;
        Ok((call.converse().map_err(|error| NoTaskReason::Run(error.to_string()))?, outputs))
    }

    /// Reports the process's progress to Codex; returns whether the runtime ran it.
    async fn stand_for(
        self,
        begun: TaskConversation,
        task: Arc<CodexTask>,
        orders: mpsc::Receiver<TaskOrder>,
    ) -> bool {
        let TaskConversation { runtime, outputs } = begun;
        let codex = self.talk.codex.clone();
        let has_terminal = self.start.input() == ShellInput::Terminal;
        let mut process =
            ProcessTask { codex, task: task.clone(), runtime, outputs, has_terminal, typed: VecDeque::new() };
        let reply = loop {
            match process.runtime.next().await {
                Ok(ShellReply::Typed { .. }) => {}
                reply => break reply,
            }
        };
        let plainly = match &reply {
            Ok(ShellReply::Fenced) => Some(None),
            Ok(ShellReply::Refused { message, code: None }) => Some(Some(message)),
            _ => None,
        };
        if let Some(why) = plainly {
            self.pass_on(why.cloned()).await;
            return false;
        }
        if reply.is_err() {
            self.refuse(&Loss::Unknown.to_string()).await;
            return false;
        }
        task.begin();
        let answer = json!({ "processId": self.start.process_id, "sandboxType": "none" });
        let _ = self.talk.codex.line(&result(&self.id, &answer)).await;
        process.run(reply, orders).await;
        true
    }
}

/// A requested command, and the pipes to read its output from.
type AskedCommand = (ShellCall, Vec<(ProcessStream, OwnedFd)>);

/// Asks the runtime to run a command, starting a runtime if there is none.
fn ask(
    reach: &RuntimeAccess,
    mut request: ShellRequest,
    environment: Vec<(OsString, OsString)>,
    cwd: PathBuf,
    is_read: bool,
) -> Result<AskedCommand, NoTaskReason> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let workdir = openat(CWD, &cwd, directory, Mode::empty()).map_err(|_| NoTaskReason::Ours(None))?;
    let failed = |errno: rustix::io::Errno| NoTaskReason::not_run(&io::Error::from(errno).to_string());
    let null = openat(CWD, c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
    let (outputs, to) = if is_read { outputs(request.input) } else { nowhere() }.map_err(failed)?;
    let environment = Some(Environment::new(environment, own_umask()));
    let mut hello = Hello { environment, ..Hello::new(ClientRole::Shell, cwd) };
    let joined = ask_at_once(&reach.places, &reach.program, BUDGET, &mut hello, &mut request);
    let mut call = joined.map_err(|error| {
        let why = with_causes(&error);
        match ShellFallback::by(&error) {
            ShellFallback::Silence | ShellFallback::Forbidden
                if (reach.on_failure)(&reach.places) == OnFailure::Refuse =>
            {
                NoTaskReason::Run(setting_refusal(why))
            }
            ShellFallback::Silence | ShellFallback::Forbidden => NoTaskReason::Ours(Some(why)),
            ShellFallback::Busy | ShellFallback::Oversized | ShellFallback::Answer => {
                NoTaskReason::not_run(&why)
            }
        }
    })?;
    match call.ask(&request, [workdir.as_fd(), null.as_fd(), to[0].as_fd(), to[1].as_fd()], &[]) {
        Ok(()) => {}
        // Nothing was sent.
        Err(why @ Error::Frame { .. }) => return Err(NoTaskReason::not_run(&why.to_string())),
        Err(_) => return Err(NoTaskReason::Run(Loss::Unknown.to_string())),
    }
    Ok((call, outputs))
}

/// The read ends of a command's output, and the two descriptors it writes to.
type Outputs = (Vec<(ProcessStream, OwnedFd)>, [OwnedFd; 2]);

fn outputs(input: ShellInput) -> rustix::io::Result<Outputs> {
    let (out, to_out) = pipe_with(PipeFlags::CLOEXEC)?;
    let (err, to_err) = pipe_with(PipeFlags::CLOEXEC)?;
    let outputs = match input {
        ShellInput::Terminal => vec![(ProcessStream::Pty, out)],
        _ => vec![(ProcessStream::Stdout, out), (ProcessStream::Stderr, err)],
    };
    Ok((outputs, [to_out, to_err]))
}

/// Returns two descriptors that discard what is written and do not refer to the same file.
fn nowhere() -> rustix::io::Result<Outputs> {
    let open = |path: &std::ffi::CStr| openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    Ok((Vec::new(), [open(c"/dev/null")?, open(c"/dev/zero")?]))
}

/// Resolves a program given by its path, from the directory it starts in, or by its name in a search path.
fn program(name: &str, path: Option<OsString>, directory: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(directory.join(name)).filter(|program| program.is_absolute() && program.is_file());
    }
    on_path(name.as_ref(), Some(&path?)).find(|program| program.is_file())
}

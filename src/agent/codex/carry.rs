//! One process on its way: it becomes a task of the runtime, and Codex hears of it what its own server would say.

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

use super::executor::{Reach, Talk};
use super::message::{INTERNAL, error, result};
use super::owned::{Order, Owned};
use super::process::Stream;
use super::standing::Standing;
use super::start::Start;
use crate::config::OnFailure;
use crate::link::{
    Error, Hello, Role, ShellCall, ShellConversation, ShellInput, ShellReply, ShellRequest, join_at_once,
};
use crate::process::environment::Environment;
use crate::process::{ResourceLimits, own_umask};

/// How long a runtime may take to be there.
const BUDGET: Duration = Duration::from_secs(2);
/// A process that was asked for.
#[derive(Debug)]
pub(super) struct Carry {
    pub(super) talk: Talk,
    pub(super) reach: Arc<Reach>,
    /// What the answer must carry.
    pub(super) id: Value,
    /// The request, as it came.
    pub(super) line: Vec<u8>,
    /// Its parameters.
    pub(super) asked: Value,
    pub(super) start: Start,
    pub(super) owned: Arc<Owned>,
}

/// Why a process did not become a task.
enum Not {
    /// Codex's own server is to run it; said on standard error where it could have been a task.
    Ours(Option<String>),
    /// It is not run.
    Run(String),
}

/// A process that was asked of the runtime.
struct Begun {
    runtime: ShellConversation,
    outputs: Vec<(Stream, Receiver)>,
}

impl Carry {
    /// Stands for the process until it has ended and all that it wrote was told.
    pub(super) async fn run(self, orders: mpsc::Receiver<Order>) {
        let begun = match self.begin().await {
            Ok(begun) => begun,
            Err(Not::Ours(why)) => {
                if let Some(why) = why {
                    (self.reach.say)(&format!("this command runs without Pilothouse: {why}"));
                }
                return self.pass_on().await;
            }
            Err(Not::Run(why)) => {
                self.talk.processes.remove(&self.start.process_id);
                return drop(self.talk.codex.line(&error(&self.id, INTERNAL, &why)).await);
            }
        };
        let processes = self.talk.processes.clone();
        let name = self.start.process_id.clone();
        if self.stand_for(begun, orders).await {
            processes.forget(name).await;
        }
    }

    /// Lets Codex's own server have it.
    async fn pass_on(self) {
        self.talk.processes.remove(&self.start.process_id);
        // Codex hears of a server that has gone by itself.
        let _ = self.talk.server.side.line(&self.line).await;
    }

    async fn begin(&self) -> Result<Begun, Not> {
        let left = self.talk.server.environment(&self.start, &self.asked).await;
        let environment = self.start.environment(&left.ok_or(Not::Ours(None))?);
        let cwd = self.start.directory().ok_or(Not::Ours(None))?;
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let program = self.start.argv.first().and_then(|name| program(name, path));
        let metadata = self.start.metadata.clone().unwrap_or_default();
        let request = ShellRequest {
            agent: Some("codex".to_owned()),
            session: metadata.thread_id,
            agent_pid: None,
            // What cannot be found is said by whoever would have run it.
            shell: program.ok_or(Not::Ours(None))?,
            limits: ResourceLimits::own(),
            input: self.start.input(),
            tool_call: metadata.tool_call_id,
            description: None,
            args: self.start.args(),
        };
        let reach = self.reach.clone();
        let asking = move || ask(&reach, &request, environment, cwd);
        let asked = tokio::task::spawn_blocking(asking).await;
        let (call, outputs) = asked.unwrap_or_else(|error| Err(Not::Run(error.to_string())))?;
        let failed = |error: &dyn std::fmt::Display| Not::Run(error.to_string());
        let runtime = call.converse().map_err(|error| failed(&error))?;
        let outputs = outputs.into_iter().map(|(stream, fd)| Ok((stream, Receiver::from_owned_fd(fd)?)));
        let outputs = outputs.collect::<io::Result<Vec<_>>>().map_err(|error| failed(&error))?;
        Ok(Begun { runtime, outputs })
    }

    /// Tells what becomes of it; returns whether it was ours.
    async fn stand_for(self, begun: Begun, orders: mpsc::Receiver<Order>) -> bool {
        let Begun { runtime, outputs } = begun;
        let (codex, owned) = (self.talk.codex.clone(), self.owned.clone());
        let has_terminal = self.start.input() == ShellInput::Terminal;
        let mut standing = Standing { codex, owned, runtime, outputs, has_terminal, typed: VecDeque::new() };
        let reply = loop {
            match standing.runtime.next().await {
                Ok(ShellReply::Taken { .. } | ShellReply::Typed { .. }) => {}
                reply => break reply,
            }
        };
        let plainly = match &reply {
            Ok(ShellReply::Fenced) => Some(None),
            Ok(ShellReply::Refused { message, code: None }) => Some(Some(message)),
            _ => None,
        };
        if let Some(why) = plainly {
            if let Some(why) = why {
                (self.reach.say)(&format!("this command runs without Pilothouse: {why}"));
            }
            self.pass_on().await;
            return false;
        }
        if reply.is_err() {
            let why = "the runtime ended; whether this command had begun cannot be known";
            self.talk.processes.remove(&self.start.process_id);
            let _ = self.talk.codex.line(&error(&self.id, INTERNAL, why)).await;
            return false;
        }
        self.owned.begin();
        let answer = json!({ "processId": self.start.process_id, "sandboxType": "none" });
        let _ = self.talk.codex.line(&result(&self.id, &answer)).await;
        standing.run(reply, orders).await;
        true
    }
}

/// A command that was asked for, and what it writes.
type Asked = (ShellCall, Vec<(Stream, OwnedFd)>);

/// Asks the runtime for a command; there may be none yet.
fn ask(
    reach: &Reach,
    request: &ShellRequest,
    environment: Vec<(OsString, OsString)>,
    cwd: PathBuf,
) -> Result<Asked, Not> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let workdir = openat(CWD, &cwd, directory, Mode::empty()).map_err(|_| Not::Ours(None))?;
    let failed = |errno: rustix::io::Errno| Not::Ours(Some(io::Error::from(errno).to_string()));
    let null = openat(CWD, c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
    let (out, to_out) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
    let (err, to_err) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
    let environment = Some(Environment::new(environment, own_umask()));
    let hello = Hello { environment, ..Hello::new(Role::Shell, cwd) };
    let dial = |socket: &Path| ShellCall::dial(socket, &hello);
    let mut call = match join_at_once(&reach.places, &reach.program, BUDGET, dial) {
        Ok(call) => call,
        Err(why) if (reach.on_failure)(&reach.places) == OnFailure::Refuse => {
            return Err(Not::Run(format!("not run: {why} (setting shell.on_failure)")));
        }
        Err(why) => return Err(Not::Ours(Some(why.to_string()))),
    };
    match call.ask(request, [workdir.as_fd(), null.as_fd(), to_out.as_fd(), to_err.as_fd()]) {
        Ok(()) => {}
        // Nothing was sent.
        Err(why @ Error::Frame { .. }) => return Err(Not::Ours(Some(why.to_string()))),
        Err(_) => {
            let why = "the runtime ended; whether this command had begun cannot be known";
            return Err(Not::Run(why.to_owned()));
        }
    }
    let outputs = match request.input {
        ShellInput::Terminal => vec![(Stream::Pty, out)],
        _ => vec![(Stream::Stdout, out), (Stream::Stderr, err)],
    };
    Ok((call, outputs))
}

/// Finds a program by its path, or by its name in a search path.
fn program(name: &str, path: Option<OsString>) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|program| program.is_absolute() && program.is_file());
    }
    std::env::split_paths(&path?).map(|folder| folder.join(name)).find(|program| program.is_file())
}

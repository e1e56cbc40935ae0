//! The proxy between Codex and its own server: forwards lines, except those about processes that run as tasks.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};
use tokio_util::task::TaskTracker;

use super::forwarder::{MAX_LINE, SideWriter, forward};
use super::message::{ProcessMessage, about, params, result};
use super::server::CodexServer;
use super::start::StartParams;
use super::start_request::StartRequest;
use super::tasks::{CodexTasks, MessageReply};
use crate::config::OnFailure;
use crate::paths::Places;

/// How long the server may take to exit once Codex is gone.
const LEAVING: Duration = Duration::from_secs(2);
/// Interval for checking whether everything has been passed on.
const MOMENT: Duration = Duration::from_millis(2);

/// How to reach a workspace's runtime.
#[derive(Debug, Clone)]
pub struct RuntimeAccess {
    /// The workspace.
    pub places: Places,
    /// This program, used to start a runtime if there is none.
    pub program: PathBuf,
    /// Prints a line to standard error.
    pub say: fn(&str),
    /// What to do if no runtime is available.
    pub on_failure: fn(&Places) -> OnFailure,
}

/// Codex's executor.
#[derive(Debug)]
pub struct Executor {
    /// Codex's own server: its program and arguments.
    pub server: Vec<std::ffi::OsString>,
    /// How processes become tasks; `None` to leave all of them to the server.
    pub reach: Option<RuntimeAccess>,
}

impl Executor {
    /// Serves Codex until it or its server is gone; returns the server's exit status, if known.
    ///
    /// # Errors
    /// When the server cannot be started, or communication with either side fails.
    pub async fn run(
        self,
        codex: impl AsyncRead + Unpin,
        to_codex: impl AsyncWrite + Send + Unpin + 'static,
    ) -> io::Result<Option<ExitStatus>> {
        let mut server = start(&self.server)?;
        let (Some(to_server), Some(from_server)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(io::Error::other("its server has no standard streams"));
        };
        let talk = CodexConversation {
            codex: SideWriter::new(to_codex),
            server: CodexServer::new(SideWriter::new(to_server)),
            processes: CodexTasks::default(),
            reach: self.reach.map(Arc::new),
            mirrors: TaskTracker::new(),
        };
        let asked = forward(codex, &talk.server.side, MAX_LINE, async |line| talk.takes(line).await);
        let answered = forward(from_server, &talk.codex, MAX_LINE, async |line| talk.server.takes(line));
        let ended = {
            tokio::pin!(asked, answered);
            tokio::select! {
                asked = &mut asked => {
                    talk.server.side.end().await;
                    // Lets the server finish what it still has to say.
                    let _ = tokio::time::timeout(LEAVING, answered).await;
                    asked
                }
                answered = &mut answered => answered,
            }
        };
        talk.leave().await;
        let status = tokio::time::timeout(LEAVING, server.wait()).await;
        let _ = server.start_kill();
        ended.map(|()| status.ok().and_then(Result::ok))
    }
}

fn start(server: &[std::ffi::OsString]) -> io::Result<Child> {
    let (program, args) = server.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Command::new(program)
        .args(args)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Both sides of the conversation and the processes that run here. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct CodexConversation {
    pub(super) codex: SideWriter,
    pub(super) server: CodexServer,
    pub(super) processes: CodexTasks,
    pub(super) reach: Option<Arc<RuntimeAccess>>,
    /// The tasks that mirror the server's processes.
    mirrors: TaskTracker,
}

impl CodexConversation {
    /// Waits for Codex's last messages (requests to kill its processes) to reach the runtime before the connections
    /// close.
    async fn leave(&self) {
        self.server.unwatch_all();
        self.mirrors.close();
        let _ = tokio::time::timeout(LEAVING, async {
            self.mirrors.wait().await;
            while !self.processes.are_told() {
                tokio::time::sleep(MOMENT).await;
            }
        })
        .await;
    }

    /// Handles a line from Codex if it is about a process that is a task or is to become one; returns whether it did.
    async fn takes(&self, line: &[u8]) -> bool {
        let Some(about) = about(line) else { return false };
        match self.processes.handle(&about, line) {
            Some(MessageReply::Answer(answer)) => drop(self.codex.line(&answer).await),
            Some(MessageReply::Wait(task, id, asked)) => {
                let codex = self.codex.clone();
                tokio::spawn(async move {
                    let answer = task.read(asked).await;
                    codex.line(&result(&id, &answer)).await
                });
            }
            Some(MessageReply::Passed) => {}
            Some(MessageReply::Unknown) => return false,
            None => return self.takes_start(&about, line),
        }
        true
    }

    fn takes_start(&self, about: &ProcessMessage, line: &[u8]) -> bool {
        let (Some(id), Some(reach)) = (&about.id, &self.reach) else { return false };
        if about.method != "process/start" {
            return false;
        }
        let (Ok(start), Ok(asked)) = (params::<StartParams>(line), params(line)) else { return false };
        let (talk, is_plain, input) = (self.clone(), start.is_plain(), start.input());
        let request =
            StartRequest { talk, reach: reach.clone(), id: id.clone(), line: line.to_vec(), asked, start };
        if !is_plain {
            self.mirrors.spawn(request.observe());
            return true;
        }
        let Some((task, orders)) = self.processes.add(&about.process, input) else { return false };
        tokio::spawn(request.run(task, orders));
        true
    }
}

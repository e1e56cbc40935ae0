//! Commands under task hosts: what they get, how they end, and that nothing of them is left. This file: the bench
//! that the tests run them on.

mod end;
mod io;
mod shells;
mod start;
mod tree;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use pilothouse::config::{Ceilings, Limits};
use pilothouse::model::{Exit, Leftovers};
use pilothouse::process::{
    HostEvent, HostHandle, HostedCommand, Io, Pty, RunningCommand, ShellProfile, SpawnError, Spawner,
    StartStage, Stdio, read_output, workdir,
};
use pilothouse::terminal::Size;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::support::spawner;

const PATIENCE: Duration = crate::support::PATIENCE;
const PIPES: Stdio = Stdio::Pipes { stdin: false };

fn pty() -> Stdio {
    Stdio::Pty { size: Size::nearest(93, 31) }
}

/// A folder for one command, and the spawner that starts it.
struct Bench {
    folder: tempfile::TempDir,
    spawner: Spawner,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temp dir");
        Self { folder, spawner: spawner(&Limits::default()) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("canonical")
    }

    fn command(&self, cmd: &str, stdio: Stdio) -> HostedCommand {
        let path = std::env::var_os("PATH").expect("PATH");
        HostedCommand {
            text: None,
            shell: PathBuf::from("/bin/sh"),
            profile: ShellProfile::Usual,
            cmd: cmd.to_owned(),
            workdir: workdir::resolve(&self.path(), &self.path(), None).expect("workdir"),
            env: vec![(OsString::from("PATH"), path), (OsString::from("HOME"), self.path().into())],
            stdio,
            umask: None,
            exact: None,
            ceilings: Ceilings::default(),
            must_hold: false,
            folder: self.path(),
        }
    }

    async fn start(&self, cmd: &str, stdio: Stdio) -> Task {
        Task::of(self.spawner.spawn(self.command(cmd, stdio)).await.expect("starts"))
    }

    async fn start_bash(&self, cmd: &str) -> Task {
        let command = HostedCommand { shell: PathBuf::from("bash"), ..self.command(cmd, PIPES) };
        Task::of(self.spawner.spawn(command).await.expect("starts"))
    }

    /// Starts a command with a terminal beside its streams.
    async fn start_beside(&self, cmd: &str) -> Task {
        let host = self.spawner.begin(None, Some(Size::nearest(93, 31))).ready().await.expect("a host");
        let order = self.spawner.order(self.command(cmd, PIPES)).await.expect("streams");
        Task::of(self.spawner.start(host, order).await.expect("starts"))
    }

    async fn run(&self, cmd: &str, stdio: Stdio) -> Outcome {
        self.start(cmd, stdio).await.outcome().await
    }

    async fn finish(&self, command: HostedCommand) -> Outcome {
        Task::of(self.spawner.spawn(command).await.expect("starts")).outcome().await
    }

    async fn refusal(&self, command: HostedCommand) -> (StartStage, PathBuf, Option<i32>) {
        match self.spawner.spawn(command).await {
            Err(SpawnError::Start { stage, shell, source }) => (stage, shell, source.raw_os_error()),
            Err(other) => panic!("refused as {other}"),
            Ok(_) => panic!("started"),
        }
    }
}

/// A running command whose output is being collected.
struct Task {
    pid: u32,
    host: HostHandle,
    events: mpsc::Receiver<HostEvent>,
    pty: Option<Pty>,
    /// The terminal beside its streams.
    side: Option<Pty>,
    stdin: Option<OwnedFd>,
    stdout: Output,
    stderr: Option<Output>,
}

#[derive(Debug)]
struct Outcome {
    exit: Exit,
    stdout: String,
    stderr: String,
    leftovers: Vec<String>,
    survivors: Vec<String>,
}

impl Task {
    fn of(running: RunningCommand) -> Self {
        let RunningCommand { pid, io, side, host, events, .. } = running;
        let (pty, stdin, stdout, stderr) = match io {
            Io::Pipes { stdin, stdout, stderr } => (None, stdin, Output::of(stdout), stderr.map(Output::of)),
            Io::Pty(pty) => {
                let reader = Output::of(pty.duplicate().expect("reader"));
                (Some(pty), None, reader, None)
            }
        };
        // Without one its only event is that its host is lost.
        let pid = pid.unwrap_or(0);
        Self { pid, host, events, pty, side, stdin, stdout, stderr }
    }

    fn pty(&self) -> &Pty {
        self.pty.as_ref().expect("a terminal")
    }

    async fn event(&mut self) -> HostEvent {
        loop {
            let event = timeout(PATIENCE, self.events.recv()).await.expect("an event in time");
            match event.expect("an event") {
                // Only where task groups have controllers.
                HostEvent::Counted(_) => {}
                event => return event,
            }
        }
    }

    async fn exit(&mut self) -> Exit {
        match self.event().await {
            HostEvent::Exited(status) => status,
            other => panic!("{other:?} before the exit"),
        }
    }

    /// Follows the task to its end, and reads its output to the end.
    async fn outcome(mut self) -> Outcome {
        let exit = self.exit().await;
        let (leftovers, survivors) = self.finish(Leftovers::End).await;
        let stdout = self.stdout.all().await;
        let stderr = match &mut self.stderr {
            Some(stderr) => stderr.all().await,
            None => String::new(),
        };
        Outcome { exit, stdout, stderr, leftovers, survivors }
    }

    /// Orders the host to finish; returns the names of leftovers and survivors.
    async fn finish(&mut self, leftovers: Leftovers) -> (Vec<String>, Vec<String>) {
        self.host.finish(leftovers, false);
        (self.leftovers().await, self.survivors().await)
    }

    /// Has the host wait for what is part of the command; returns the names of those and of what was left then.
    async fn work_off(&mut self, leftovers: Leftovers) -> (Vec<String>, Vec<String>) {
        self.host.finish(leftovers, true);
        match self.event().await {
            HostEvent::AtWork { names } => (names, self.leftovers().await),
            HostEvent::Leftovers { names } => (Vec::new(), names),
            other => panic!("{other:?} instead of leftovers"),
        }
    }

    async fn leftovers(&mut self) -> Vec<String> {
        match self.event().await {
            HostEvent::Leftovers { names } => names,
            other => panic!("{other:?} instead of leftovers"),
        }
    }

    async fn survivors(&mut self) -> Vec<String> {
        match self.event().await {
            HostEvent::Ended { survivors } => survivors.into_iter().map(|process| process.name).collect(),
            other => panic!("{other:?} instead of the end"),
        }
    }

    /// Reads until the output contains `text`.
    async fn read_until(&mut self, text: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(text) {
            let piece = timeout(PATIENCE, self.stdout.pieces.recv()).await;
            match piece.unwrap_or_else(|_| panic!("waited for {text:?}, saw {seen:?}")) {
                Some(piece) => seen.push_str(&piece),
                None => panic!("the output ended before {text:?}: {seen:?}"),
            }
        }
        seen
    }

    fn type_in(&self, text: &str) {
        let pty = self.pty.as_ref().map(|pty| pty.duplicate().expect("writer"));
        let to = pty.as_ref().or(self.stdin.as_ref()).expect("an input");
        assert_eq!(rustix::io::write(to, text.as_bytes()), Ok(text.len()));
    }
}

/// A stream's output, read on a thread of its own.
struct Output {
    pieces: mpsc::Receiver<String>,
}

impl Output {
    fn of(fd: OwnedFd) -> Self {
        let (sender, pieces) = mpsc::channel(1);
        std::thread::spawn(
            move || while read_some(&fd).is_some_and(|piece| sender.blocking_send(piece).is_ok()) {},
        );
        Self { pieces }
    }

    async fn all(&mut self) -> String {
        let mut text = String::new();
        while let Some(piece) = timeout(PATIENCE, self.pieces.recv()).await.expect("output in time") {
            text.push_str(&piece);
        }
        text
    }
}

/// Reads the next bytes; `None` at the end.
fn read_some(fd: &OwnedFd) -> Option<String> {
    let mut bytes = vec![0; 65536];
    loop {
        match read_output(fd, &mut bytes) {
            Ok(0) => return None,
            Ok(read) => return Some(String::from_utf8_lossy(&bytes[..read]).into_owned()),
            Err(Errno::AGAIN) => poll(&mut [PollFd::new(fd, PollFlags::IN)], None).map(drop).expect("polls"),
            Err(errno) => panic!("read: {errno}"),
        }
    }
}

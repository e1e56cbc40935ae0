//! Mirrors a process that Codex's own server runs in a sandbox of Codex's: a task represents the process, shows its
//! output, and passes on the operator's input and stop requests.
//!
//! The task's command is a stand-in: this program, run as a command of its own, which receives frames: a kind, a
//! length (u32, big endian), bytes.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::message::{OWN_ID, ProcessMessage, decode, encode, params};
use super::process::ProcessStream;
use super::start_request::StartRequest;
use crate::link::{ShellConversation, ShellReply};

/// The subcommand by which this program is run as a stand-in.
pub const MIRROR: &str = "__mirror";
/// Messages about a process that may be queued for display; further ones are not shown.
const MESSAGES: usize = 1_024;
/// How long the stand-in of an ended process may take to exit; it may not even have come up yet.
const LEAVING: Duration = Duration::from_secs(10);
/// The maximum length of a frame, in bytes.
const MAX_FRAME: u32 = 8 << 20;
/// The maximum amount of typed input forwarded at once, in bytes.
const TYPED: usize = 4 << 10;
/// The exit code of a process that could not be started.
const NOT_STARTED: i32 = 126;

/// What the server reports about a mirrored process.
#[derive(Debug)]
pub(super) enum MirrorEvent {
    /// It could not be started.
    Failed,
    Output(ProcessStream, Vec<u8>),
    Exited(i32),
    Closed,
}

impl MirrorEvent {
    /// Parses what a line says about a process.
    pub(super) fn of(about: &ProcessMessage, line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct NewsParams {
            #[serde(default)]
            stream: String,
            #[serde(default)]
            chunk: String,
            #[serde(default)]
            exit_code: i32,
        }
        let told: NewsParams = params(line).ok()?;
        Some(match about.method.as_str() {
            "process/output" if told.stream == "stderr" => {
                Self::Output(ProcessStream::Stderr, decode(&told.chunk).ok()?)
            }
            "process/output" => Self::Output(ProcessStream::Stdout, decode(&told.chunk).ok()?),
            "process/exited" => Self::Exited(told.exit_code),
            "process/closed" => Self::Closed,
            _ => return None,
        })
    }
}

/// Both pipes to and from a stand-in, held until it has opened its own ends.
#[derive(Debug)]
pub(super) struct StandInPipes {
    to: OwnedFd,
    from: OwnedFd,
    theirs: [OwnedFd; 2],
}

impl StandInPipes {
    pub(super) fn open() -> io::Result<Self> {
        let (their_input, to) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from, their_output) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { to, from, theirs: [their_input, their_output] })
    }

    /// Returns the arguments by which a stand-in finds its pipes.
    pub(super) fn args(&self) -> Vec<String> {
        let place = |fd: &OwnedFd| format!("/proc/{}/fd/{}", std::process::id(), fd.as_raw_fd());
        [MIRROR.to_owned()].into_iter().chain(self.theirs.iter().map(place)).collect()
    }
}

/// A task that mirrors a process.
pub(super) struct SandboxMirror {
    pub(super) request: StartRequest,
    pub(super) runtime: ShellConversation,
    pub(super) lines: StandInPipes,
}

impl SandboxMirror {
    /// Has the server start the process and mirrors it until it has ended.
    pub(super) async fn run(self) -> io::Result<()> {
        let Self { request, mut runtime, lines } = self;
        let StartRequest { talk, start, id, line, .. } = request;
        let mut to = Sender::from_owned_fd(lines.to)?;
        let mut from = Receiver::from_owned_fd(lines.from)?;
        // Kept open until the stand-in has exited: it opens its own ends through these, perhaps only after a short
        // process is over. What was sent by then waits in the pipe.
        let theirs = lines.theirs;
        let mut sees = talk.server.watch(&start.process_id, &id, MESSAGES);
        talk.server.side.line(&line).await?;
        let (mut has_ended, mut is_over, mut is_typing) = (false, false, true);
        let mut typed = vec![0; TYPED];
        // What the stand-in has not taken yet. While it takes nothing, only the next message waits.
        let mut pending = Vec::new();
        while !is_over || !pending.is_empty() {
            tokio::select! {
                written = to.write(&pending), if !pending.is_empty() => drop(pending.drain(..written?)),
                seen = sees.recv(), if pending.is_empty() => match seen {
                    Some(MirrorEvent::Output(ProcessStream::Stderr, bytes)) => pending = frame(STDERR, &bytes),
                    Some(MirrorEvent::Output(_, bytes)) => pending = frame(STDOUT, &bytes),
                    Some(MirrorEvent::Exited(code)) => {
                        has_ended = true;
                        pending = frame(EXIT, &code.to_be_bytes());
                    }
                    Some(MirrorEvent::Failed) => {
                        is_over = true;
                        pending = frame(EXIT, &NOT_STARTED.to_be_bytes());
                    }
                    Some(MirrorEvent::Closed) | None => is_over = true,
                },
                read = from.read(&mut typed), if is_typing => match read {
                    Ok(length @ 1..) => {
                        let chunk = encode(typed.get(..length).unwrap_or_default());
                        let write = format!("{OWN_ID}{}", talk.server.number());
                        let params = json!({ "processId": start.process_id, "chunk": chunk, "writeId": write });
                        talk.server.order("process/write", &params).await;
                    }
                    _ => is_typing = false,
                },
                reply = runtime.next() => match reply {
                    Ok(ShellReply::Ended { .. }) | Err(_) if !has_ended => {
                        // A person stopped the stand-in.
                        talk.server.order("process/terminate", &json!({ "processId": start.process_id })).await;
                        talk.server.unwatch(&start.process_id);
                        return Ok(());
                    }
                    Ok(ShellReply::Ended { .. }) | Err(_) => break,
                    Ok(_) => {}
                },
            }
        }
        talk.server.unwatch(&start.process_id);
        drop(to);
        // The stand-in exits now; keep its caller connected until it has.
        let _ = tokio::time::timeout(LEAVING, async {
            while !matches!(runtime.next().await, Ok(ShellReply::Ended { .. }) | Err(_)) {}
        })
        .await;
        drop(theirs);
        Ok(())
    }
}

/// A message to a stand-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandInFrame {
    /// The process wrote this to its standard output, or to its terminal.
    Stdout(Vec<u8>),
    /// The process wrote this to its standard error.
    Stderr(Vec<u8>),
    /// The process has exited.
    Exit(i32),
}

const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const EXIT: u8 = 3;

impl StandInFrame {
    /// Reads the next frame; `None` at end of file or if the data is malformed.
    pub fn read(mut from: impl io::Read) -> Option<Self> {
        let mut head = [0; 5];
        from.read_exact(&mut head).ok()?;
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length);
        if length > MAX_FRAME {
            return None;
        }
        let mut bytes = vec![0; length as usize];
        from.read_exact(&mut bytes).ok()?;
        match kind {
            STDOUT => Some(Self::Stdout(bytes)),
            STDERR => Some(Self::Stderr(bytes)),
            EXIT => Some(Self::Exit(i32::from_be_bytes(bytes.try_into().ok()?))),
            _ => None,
        }
    }
}

fn frame(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or_default().to_be_bytes();
    [&[kind][..], &length, bytes].concat()
}

//! What can go wrong between two processes of this program.

use std::io;
use std::path::PathBuf;

use super::carried::Carried;
use crate::process::environment::MAX_BYTES;

/// A failure of a socket, a handshake or a conversation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file-system or socket call failed.
    #[error("{verb} {path}")]
    Io {
        /// What was tried, e.g. `bind the socket`.
        verb: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The runtime folder cannot be trusted with sockets.
    #[error("use the runtime folder {path}: it {problem}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it, e.g. `is a symlink`.
        problem: &'static str,
    },
    /// Another runtime holds the workspace.
    #[error("another runtime already serves this workspace{}", pid.map_or_else(String::new, |pid| format!(" (pid {pid})")))]
    Taken {
        /// Its process id, when it could be read.
        pid: Option<u32>,
    },
    /// A runtime holds the workspace and cannot be reached from here.
    #[error(
        "a runtime (pid {pid}) serves this workspace at {path}, and it cannot be reached from here; \
         end it with `pilothouse serve --stop` where it can, or with `kill {pid}`"
    )]
    Unreachable {
        /// Its process.
        pid: u32,
        /// The socket that its lock names.
        path: PathBuf,
    },
    /// There is no room for the record of a runtime.
    #[error("there is no room in {path} for the record of a runtime")]
    NoRoom {
        /// Where recordings are kept.
        path: PathBuf,
    },
    /// A runtime could not be started.
    #[error("start a runtime with {program}")]
    Start {
        /// The program.
        program: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A runtime was started and ended at once.
    #[error("the runtime that was started could not serve: {said} (see {log})")]
    Failed {
        /// The last line it wrote.
        said: String,
        /// Where it wrote.
        log: PathBuf,
    },
    /// A runtime was started, or is starting or ending, and does not answer.
    #[error("no runtime of this workspace answers in time; see {log}")]
    Silent {
        /// Where a started one writes what is wrong.
        log: PathBuf,
    },
    /// Nobody listens on the socket.
    #[error("no runtime listens on {path}")]
    NoRuntime {
        /// The socket.
        path: PathBuf,
    },
    /// The other end belongs to another user.
    #[error("the process behind {path} runs as uid {uid}, not as this user")]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// The other end's user id.
        uid: u32,
    },
    /// The runtime said no.
    #[error("the runtime refused the connection: {reason}")]
    Refused {
        /// Its reason, a whole phrase.
        reason: String,
    },
    /// The runtime, or what serves it, speaks another version of the link.
    #[error("the runtime refused the connection: {reason}")]
    OtherVersion {
        /// The version it speaks.
        theirs: u32,
        /// Its words, and what to do.
        reason: String,
        /// The machine it runs on, where that is another one.
        host: Option<String>,
    },
    /// The program that carries a connection to another machine did not get there, or lost it.
    #[error("{host}: {}", why.told(host))]
    Carried {
        /// The machine or container.
        host: String,
        /// What happened.
        why: Carried,
    },
    /// A terminal is no way for bytes.
    #[error("standard input is a terminal, which changes the bytes that it carries: leave out `-t` in `via`")]
    Terminal,
    /// What is asked for is not possible on a runtime that is only looked at.
    #[error("{why}; nothing was done")]
    OnlyLooks {
        /// Why it is only looked at.
        why: String,
    },
    /// What is no name of a host.
    #[error(
        "{name:?} names no host: name one of ~/.ssh/config, or one with `via = [\"program\", …]` in [hosts.NAME] of config.toml"
    )]
    NoHostName {
        /// What was given.
        name: String,
    },
    /// As many connections are open as may be, and none was closed while this one waited.
    #[error("{limit} connections are open, as many as may be")]
    TooManyConnections {
        /// How many may be: of all, of one task or of one process.
        limit: usize,
    },
    /// The environment to be handed over is too large.
    #[error("the environment has {bytes} bytes; at most {MAX_BYTES} can be handed to a runtime")]
    LargeEnvironment {
        /// Its size.
        bytes: usize,
    },
    /// The first line was missing, late or not a hello.
    #[error("shake hands: {problem}")]
    Handshake {
        /// What was wrong.
        problem: String,
    },
    /// A frame was too long, too deep or not what it said.
    #[error("read a frame: {problem}")]
    Frame {
        /// What was wrong.
        problem: String,
    },
    /// The connection failed in the middle of a conversation.
    #[error("talk to the runtime")]
    Talk(#[source] io::Error),
    /// A recording that is over can only be looked at.
    #[error("read-only recording")]
    ReadOnly,
    /// The runtime went away.
    #[error("the runtime went away")]
    Gone,
    /// The runtime could not do what was asked.
    #[error("{message}")]
    Declined {
        /// Its words.
        message: String,
    },
}

impl Error {
    /// Tells whether it means that no runtime is there, or one that is just leaving.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NoRuntime { .. } | Self::Handshake { .. } | Self::Talk(_) | Self::Gone)
    }

    pub(super) fn handshake(problem: impl Into<String>) -> Self {
        Self::Handshake { problem: problem.into() }
    }

    pub(super) fn frame(problem: impl Into<String>) -> Self {
        Self::Frame { problem: problem.into() }
    }
}

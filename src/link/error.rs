//! Errors of the link between two processes of this program.

use std::io;
use std::path::{Path, PathBuf};

use super::connection_kind::ConnectionKind;
use super::transport_error::TransportError;
use crate::process::environment::MAX_BYTES;

/// A failure of a socket, a handshake or a conversation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file-system or socket call failed.
    #[error("{verb} {path}")]
    Io {
        /// What was attempted, e.g. `bind the socket`.
        verb: &'static str,
        /// The path it was attempted on.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The runtime folder cannot be trusted with sockets.
    #[error("the folder {path} is not used: it {problem}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it, e.g. `is a symlink`.
        problem: &'static str,
    },
    /// Another runtime serves the workspace.
    #[error("another runtime already serves this workspace{}", pid.map_or_else(String::new, |pid| format!(" (pid {pid})")))]
    Taken {
        /// Its process id, if it could be read.
        pid: Option<u32>,
    },
    /// A runtime serves the workspace but cannot be reached from here.
    #[error(
        "a runtime (pid {pid}) serves this workspace at {path}, and it cannot be reached from here; \
         end it with `pilothouse serve --stop` where it can, or with `kill {pid}`"
    )]
    Unreachable {
        /// Its process id.
        pid: u32,
        /// The socket that its lock names.
        path: PathBuf,
    },
    /// There is no room for a runtime's record.
    #[error("there is not enough space in {path} for the record of a runtime")]
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
    /// A runtime was started and exited immediately.
    #[error("the runtime that was started could not serve: {said} (see {log})")]
    Failed {
        /// The last line it wrote.
        said: String,
        /// The log it wrote to.
        log: PathBuf,
    },
    /// A runtime was started, or is starting or shutting down, and does not answer.
    #[error("no runtime of this workspace answers in time; see {log}")]
    Silent {
        /// The log in which a started runtime reports problems.
        log: PathBuf,
    },
    /// No process listens on the socket.
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
    /// The runtime refused the connection.
    #[error("the runtime refused the connection: {reason}")]
    Refused {
        /// The reason, as a full phrase.
        reason: String,
    },
    /// The runtime, or what serves it, speaks another version of the link protocol.
    #[error("the runtime refused the connection: {reason}")]
    OtherVersion {
        /// The version it speaks.
        theirs: u32,
        /// The reason it gave, and what to do.
        reason: String,
    },
    /// The program that carries a connection to another machine did not reach it, or lost the connection.
    #[error("{host}: {}", why.describe(host))]
    Carried {
        /// The machine or container.
        host: String,
        /// What happened.
        why: TransportError,
    },
    /// Standard input is a terminal, which cannot carry binary data.
    #[error("standard input is a terminal, which alters the bytes it carries: remove `-t` from `via`")]
    Terminal,
    /// The text is not a host name.
    #[error(
        "{name:?} names no host: name one of ~/.ssh/config, or one with `via = [\"program\", …]` in [hosts.NAME] of config.toml"
    )]
    NoHostName {
        /// The text.
        name: String,
    },
    /// The connection limit is reached, and no connection was closed while this one waited.
    #[error("{} this runtime, which is the limit: {}", of.count_phrase(*limit), of.remedy())]
    TooManyConnections {
        /// The limit.
        limit: usize,
        /// What it is a limit of.
        of: ConnectionKind,
    },
    /// The environment to pass to the runtime is too large.
    #[error("the environment has {bytes} bytes; at most {MAX_BYTES} can be handed to a runtime")]
    LargeEnvironment {
        /// Its size, in bytes.
        bytes: usize,
    },
    /// The first line was missing, late or not a valid hello.
    #[error("shake hands: {problem}")]
    Handshake {
        /// What was wrong.
        problem: String,
    },
    /// A frame was too long, nested too deeply, or not what it was declared to be.
    #[error("read a frame: {problem}")]
    Frame {
        /// What was wrong.
        problem: String,
    },
    /// The connection failed in the middle of a conversation.
    #[error("talk to the runtime")]
    Talk(#[source] io::Error),
    /// A finished recording is read-only.
    #[error("read-only recording")]
    ReadOnly,
    /// The runtime closed the connection.
    #[error("the runtime went away")]
    Gone,
    /// The runtime could not carry out the request.
    #[error("{message}")]
    Declined {
        /// The reason it gave.
        message: String,
    },
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::frame(error.to_string())
    }
}

impl Error {
    /// Tells whether the error means that there is no runtime, or that one is just shutting down.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NoRuntime { .. } | Self::Handshake { .. } | Self::Talk(_) | Self::Gone)
    }

    /// Tells whether the same attempt to connect may succeed later although nobody changes anything, here or there.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Carried { why, .. } => why.may_pass(),
            Self::Taken { .. } | Self::Silent { .. } | Self::TooManyConnections { .. } => true,
            error => error.is_absence(),
        }
    }

    /// Returns the error with its cause if there is one; without the machine's name, which is shown next to it.
    pub(super) fn with_cause(&self) -> String {
        if let Self::Carried { host, why } = self {
            return why.describe(host);
        }
        match std::error::Error::source(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }

    /// Returns what makes the error of a call on a path.
    pub(super) fn io(verb: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { verb, path: path.to_owned(), source }
    }

    pub(super) fn handshake(problem: impl Into<String>) -> Self {
        Self::Handshake { problem: problem.into() }
    }

    /// The other side has replied to something else than it was asked.
    pub(super) fn unexpected_reply() -> Self {
        Self::frame("an unexpected reply")
    }

    pub(super) fn frame(problem: impl Into<String>) -> Self {
        Self::Frame { problem: problem.into() }
    }
}

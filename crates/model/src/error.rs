//! Errors of the runtime. Expected ends of a task (exit 1, timeout, stopped) are values, not errors.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{AnswerRefusal, TaskView};
use pilothouse_envelope::{Actor, ErrorKind, TaskId};

/// What is known of a command whose host was lost before it reported the start.
pub const START_UNKNOWN: &str = "the task host was lost; whether this command had begun cannot be known";

/// Why the runtime refused or failed a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No task of this recording has this id.
    #[error("no task {0} in this recording")]
    UnknownTask(TaskId),
    /// An agent tried to control a task that someone else started.
    #[error("task {id} was started by {owner}")]
    NotOwner {
        /// The task.
        id: TaskId,
        /// Who started it.
        owner: Actor,
    },
    /// The limit of live tasks is reached.
    #[error("{limit} tasks are running, which is the limit")]
    TaskLimit {
        /// The limit.
        limit: usize,
    },
    /// The calls waiting for the operator have reached the size that a console can be shown.
    #[error("commands of {bytes} bytes wait for the operator, which is the limit")]
    HeldLimit {
        /// The limit.
        bytes: usize,
    },
    /// The working directory does not end inside the execution root.
    #[error("working directory {workdir} is outside the execution root {root}")]
    OutsideRoot {
        /// The path as requested.
        workdir: String,
        /// The execution root.
        root: PathBuf,
    },
    /// The working directory does not exist or cannot be used.
    #[error("working directory {workdir}: {reason}")]
    WorkdirNotFound {
        /// The path as requested.
        workdir: String,
        /// Why.
        reason: String,
    },
    /// The shell cannot run a command after its user's profile.
    #[error("no login shell: {reason}")]
    NoLogin {
        /// The shell.
        shell: String,
        /// Why.
        reason: &'static str,
    },
    /// A command from an agent's own shell was described to the runtime, which cannot run it as its caller would.
    #[error("{reason}")]
    NotHandedOver {
        /// Why.
        reason: String,
    },
    /// The command's process could not be started.
    #[error("start {shell} in {workdir}: {message}")]
    Spawn {
        /// The shell.
        shell: String,
        /// The resolved working directory.
        workdir: PathBuf,
        /// The operating system's error, and the step at which it occurred.
        message: String,
    },
    /// The command's host was lost after it was told to start the command and before it reported how that went. What
    /// was found of the command was ended.
    #[error("{START_UNKNOWN}")]
    StartUnknown(Arc<TaskView>),
    /// The command has a ceiling that the kernel cannot hold here, and `limits.require` is set.
    #[error("the kernel cannot hold the command's ceilings: {reason}")]
    NoHardCeiling {
        /// Why.
        reason: String,
    },
    /// The system has run out of a resource that a start needs.
    #[error("start the command: {message}")]
    Exhausted {
        /// The exhausted resource.
        resource: Resource,
        /// The operating system's error, and the step at which it occurred.
        message: String,
    },
    /// A line is longer than a terminal in line mode accepts.
    #[error("an input line of {length} bytes is longer than the {limit} a terminal in line mode takes")]
    InputLineTooLong {
        /// Bytes of the longest line, with those that were sent before.
        length: usize,
        /// Bytes allowed.
        limit: usize,
        /// Whether the line began in an earlier input.
        is_begun: bool,
    },
    /// Too little disk is left to start a task.
    #[error("only {free_bytes} bytes are free where recordings are kept")]
    LowDisk {
        /// Bytes free.
        free_bytes: u64,
    },
    /// The record cannot be written, and nothing unrecorded may start.
    #[error("the record cannot be written: {reason}")]
    Unrecorded {
        /// The operating system's error.
        reason: String,
        /// The disk is full.
        is_full: bool,
    },
    /// A question was not answered.
    #[error(transparent)]
    Question(AnswerRefusal),
    /// A question is too long to be sent to a console.
    #[error("a question of {bytes} bytes is longer than {limit}")]
    QuestionTooLong {
        /// Bytes of its texts.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The operator denied the call.
    #[error("the operator denied it{}{note}", if note.is_empty() { "" } else { ": " })]
    Denied {
        /// In the operator's words; may be empty.
        note: String,
    },
    /// The operator has not decided in time; nothing was started.
    #[error("the operator has not released it yet")]
    Pending,
    /// The command was stopped before it began.
    #[error("{}", .0.end_in_words())]
    NotRun(Arc<TaskView>),
    /// The call in question is no longer held, or the request has changed.
    #[error("that call is no longer held")]
    NotHeld,
    /// What the call would cost has changed since the operator was shown it.
    #[error("what it would cost has changed since it was shown; nothing was decided")]
    CostChanged,
    /// A person's message for an agent was not accepted.
    #[error("not sent: {reason}")]
    NotSent {
        /// What is wrong with the message, and what to do about it.
        reason: String,
    },
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    ShuttingDown,
    /// A file of the recording could not be used.
    #[error("{what} {path}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// The path it was attempted on.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl Error {
    /// Returns the error kind recorded for a task whose command could not be started.
    pub fn start_kind(&self) -> ErrorKind {
        match self {
            Self::Exhausted { .. } => ErrorKind::ResourceExhausted,
            Self::NoHardCeiling { .. } => ErrorKind::CeilingUnavailable,
            Self::WorkdirNotFound { .. } => ErrorKind::WorkdirNotFound,
            Self::LowDisk { .. } => ErrorKind::LowDiskSpace,
            Self::StartUnknown(_) => ErrorKind::StartUnknown,
            _ => ErrorKind::CommandSpawnFailed,
        }
    }

    /// Returns a closure that wraps an I/O error with the attempted operation and its path.
    pub fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}

/// A limited resource of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// File descriptors.
    Descriptors,
    /// Pseudo-terminals.
    Ptys,
    /// There is no place for pseudo-terminals: `/dev/pts` is not mounted.
    Terminal,
    /// Processes, or the memory for one more.
    Processes,
}

impl Resource {
    /// Returns the resource that a system error means is exhausted, if it means that.
    pub fn used_up(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::MFILE | Errno::NFILE => Some(Self::Descriptors),
            Errno::AGAIN | Errno::NOMEM => Some(Self::Processes),
            _ => None,
        }
    }
}

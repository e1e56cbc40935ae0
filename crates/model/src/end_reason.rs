//! Why a runtime ends, and whether a task that has ended ever ran.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TaskEnd, TaskView, UnendedProcesses};
use pilothouse_envelope::{Actor, ErrorKind};

/// Why a runtime ends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// A person left the console that the runtime is embedded in.
    ConsoleClosed,
    /// A person ended it from an attached console.
    OperatorEnded,
    /// The terminal of the console that the runtime is embedded in is gone.
    TerminalGone,
    /// `pilothouse serve --stop`.
    StopCommand,
    /// The runtime's process was asked to terminate by this signal, e.g. `SIGTERM`.
    Signal(String),
    /// The process that kept it was killed.
    KeeperKilled,
    /// The runtime had not been needed for a while.
    Unneeded,
    /// The command line that started the runtime has ended.
    CommandOver,
    /// No reason was given.
    #[default]
    Unsaid,
}

impl CloseReason {
    /// Returns the reason implied by a process's exit code, or `otherwise` if no signal ended the process.
    pub fn of_exit(code: u8, otherwise: Self) -> Self {
        match code {
            129 => Self::TerminalGone,
            130 => Self::Signal("SIGINT".to_owned()),
            131 => Self::Signal("SIGQUIT".to_owned()),
            143 => Self::Signal("SIGTERM".to_owned()),
            _ => otherwise,
        }
    }

    /// Returns the reason for a process that this signal asked to terminate.
    pub fn of_signal(number: u8) -> Self {
        match number {
            1 => Self::Signal("SIGHUP".to_owned()),
            number => Self::of_exit(number.saturating_add(128), Self::Unsaid),
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConsoleClosed => "the operator closed the console",
            Self::OperatorEnded => "the operator ended it from a console",
            Self::TerminalGone => "the operator's terminal was closed",
            Self::StopCommand => "the operator ran `pilothouse serve --stop`",
            Self::Signal(name) => return write!(f, "it received {name}"),
            Self::KeeperKilled => "its own first process was killed",
            Self::Unneeded => "nobody needed it any more",
            Self::CommandOver => "the command line that had started it ended",
            Self::Unsaid => "it was shut down",
        })
    }
}

impl TaskEnd {
    /// Tells whether its error is of this kind.
    #[must_use]
    pub fn failed_with(&self, kind: ErrorKind) -> bool {
        self.error.as_ref().is_some_and(|(own, _)| own == kind.as_str())
    }
}

impl TaskView {
    /// Tells whether nobody can know that it ever ran: its host was lost before it reported the start.
    #[must_use]
    pub fn start_is_unknown(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.failed_with(ErrorKind::StartUnknown))
    }

    /// Tells whether its login profile ended the shell before the command.
    #[must_use]
    pub fn never_began(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.failed_with(ErrorKind::ExecutionFailed))
    }

    /// Tells whether it has ended without ever having run.
    #[must_use]
    pub fn never_ran(&self) -> bool {
        self.ended.is_some() && self.started_at.is_none() && !self.start_is_unknown()
    }

    /// Tells whether the operator stopped it, or is stopping it.
    #[must_use]
    pub fn is_stopped_by_operator(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.by == Actor::Operator)
    }

    /// Says which of the task's processes could not be ended, if any.
    pub fn unended_phrase(&self) -> Option<String> {
        UnendedProcesses::phrase(&UnendedProcesses::of(&self.ended.as_ref()?.survivors))
    }

    /// Adds which of the task's processes could not be ended, if any, to how it ended.
    pub fn with_unended(&self, end: String) -> String {
        self.unended_phrase().map_or(end.clone(), |phrase| format!("{end}; {phrase}"))
    }
}

//! A task's status, the signals that can stop it, and how its shell exited.

use serde::{Deserialize, Serialize};

use crate::{Exit, Signal};

/// Where a task stands. Only forward; the first terminal state wins (docs/contract.md#task-states).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TaskStatus {
    /// Known, not started.
    Queued,
    /// Its process runs.
    Running,
    /// A stop was asked for; its tree is being ended.
    Cancelling,
    /// Exit 0.
    Completed,
    /// Any other end nobody asked for: other exit, a signal, start failure, timeout, output limit.
    Failed,
    /// Ended by a stop.
    Cancelled,
    /// The runtime was shut down or died.
    Interrupted,
}

impl TaskStatus {
    /// Tells whether the status is final.
    pub fn is_terminal(self) -> bool {
        self >= Self::Completed
    }

    /// Returns the status's name, the same on every surface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Why a call is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// The operator has paused agent calls.
    Paused,
    /// An approval rule matched; holds the text to show.
    Rule(String),
}

impl HoldReason {
    const PAUSED: &str = "agent calls are paused";

    /// Returns the text shown in the timeline.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Paused => Self::PAUSED,
            Self::Rule(rule) => rule,
        }
    }

    /// Parses the text shown in the timeline.
    pub fn of(words: &str) -> Self {
        if words == Self::PAUSED { Self::Paused } else { Self::Rule(words.to_owned()) }
    }
}

/// Signals a caller may send.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum StopSignal {
    /// Interrupt.
    Int,
    /// Terminate.
    Term,
    /// Hang up.
    Hup,
    /// Quit.
    Quit,
    /// Kill.
    Kill,
    /// User-defined 1.
    Usr1,
    /// User-defined 2.
    Usr2,
}

impl StopSignal {
    /// Returns a signal as one that a caller may send; `None` if it is no such signal.
    pub fn of(signal: Signal) -> Option<Self> {
        let every = [Self::Int, Self::Term, Self::Hup, Self::Quit, Self::Kill, Self::Usr1, Self::Usr2];
        every.into_iter().find(|own| Signal::from(*own) == signal)
    }

    /// Tells whether `exit` is explained by this signal: the command died of the signal itself, or exited with the
    /// status a shell reports for a command that died of it.
    pub fn explains(self, exit: &Exit) -> bool {
        let own = Signal::from(self);
        match exit {
            Exit::Code(code) => *code == 128 + own.number(),
            Exit::Signal(signal) => *signal == own,
        }
    }
}

impl From<StopSignal> for Signal {
    fn from(signal: StopSignal) -> Self {
        match signal {
            StopSignal::Int => Self::INT,
            StopSignal::Term => Self::TERM,
            StopSignal::Hup => Self::HUP,
            StopSignal::Quit => Self::QUIT,
            StopSignal::Kill => Self::KILL,
            StopSignal::Usr1 => Self::USR1,
            StopSignal::Usr2 => Self::USR2,
        }
    }
}

//! The process through which a person acts.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A process that a person acts through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleProcess {
    /// Its process id, from the kernel.
    pub pid: u32,
    /// When it started, to the hundredth of a second; `None` if the kernel does not provide it.
    pub started: Option<Timestamp>,
    /// Its controlling terminal, e.g. `/dev/pts/3`; `None` if it has none.
    pub terminal: Option<String>,
    /// Who uses the console and how, as the other machine reports it: `ada@laptop via ssh`. Set for a console on
    /// another machine; the process is then the one that carries its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl ConsoleProcess {
    /// Returns the process marked as carrying the bytes of another machine.
    #[must_use]
    pub fn carrying(self, from: Option<String>) -> Self {
        Self { from, ..self }
    }
}

impl fmt::Display for ConsoleProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(from) = &self.from {
            return write!(f, "{from} (pid {})", self.pid);
        }
        write!(f, "pid {}", self.pid)?;
        match &self.terminal {
            Some(terminal) => write!(f, " on {terminal}"),
            None => f.write_str(" without a terminal"),
        }
    }
}

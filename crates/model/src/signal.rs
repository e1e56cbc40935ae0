//! Signals by number and name, and how a process ended.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The names of the signals 1 to 31, in order.
const NAMES: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP \
                     TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

/// A signal. Shown by name (`SIGTERM`), real-time signals by number (`SIG35`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Signal(i32);

/// A name that is not a signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a signal")]
pub struct UnknownSignal(String);

impl Signal {
    /// The terminal went away.
    pub const HUP: Self = Self(1);
    /// Ctrl-C.
    pub const INT: Self = Self(2);
    /// Ctrl-\.
    pub const QUIT: Self = Self(3);
    /// Cannot be caught.
    pub const KILL: Self = Self(9);
    /// Its meaning is up to the program.
    pub const USR1: Self = Self(10);
    /// Its meaning is up to the program.
    pub const USR2: Self = Self(12);
    /// A polite request to end.
    pub const TERM: Self = Self(15);
    /// Resumes a stopped process.
    pub const CONT: Self = Self(18);
    /// Stops a process; cannot be caught.
    pub const STOP: Self = Self(19);

    /// Returns the signal with this number, as found in a wait status.
    pub fn from_number(number: i32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub fn number(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::try_from(self.0 - 1).ok().and_then(|index| NAMES.split(' ').nth(index)) {
            Some(name) => write!(f, "SIG{name}"),
            None => write!(f, "SIG{}", self.0),
        }
    }
}

impl FromStr for Signal {
    type Err = UnknownSignal;

    /// Parses `TERM`, `SIGTERM` or `SIG35`.
    fn from_str(text: &str) -> Result<Self, UnknownSignal> {
        let short = text.strip_prefix("SIG").unwrap_or(text);
        if let Some(signal) = short.parse::<i32>().ok().and_then(|number| Self::try_from(number).ok()) {
            return Ok(signal);
        }
        let named = (1..).zip(NAMES.split(' ')).find(|(_, name)| *name == short);
        named.map(|(number, _)| Self(number)).ok_or_else(|| UnknownSignal(text.to_owned()))
    }
}

impl TryFrom<i32> for Signal {
    type Error = UnknownSignal;

    /// Returns the signal with this number, 1 to 64.
    fn try_from(number: i32) -> Result<Self, UnknownSignal> {
        if (1..=64).contains(&number) { Ok(Self(number)) } else { Err(UnknownSignal(number.to_string())) }
    }
}

impl TryFrom<String> for Signal {
    type Error = UnknownSignal;

    fn try_from(text: String) -> Result<Self, UnknownSignal> {
        text.parse()
    }
}

impl From<Signal> for String {
    fn from(signal: Signal) -> Self {
        signal.to_string()
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(Signal),
}

impl Exit {
    /// Returns its code, or the name of the signal.
    #[must_use]
    pub fn code_or_signal(&self) -> (Option<i32>, Option<String>) {
        match self {
            Self::Code(code) => (Some(*code), None),
            Self::Signal(signal) => (None, Some(signal.to_string())),
        }
    }

    /// Returns its exit status as a shell reports it: 128 and the number of the signal, if one ended it.
    #[must_use]
    pub fn shell_status(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal.number(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_reads_back_from_its_name() {
        for number in 1..=64 {
            let signal = Signal::from_number(number);
            assert_eq!(signal.to_string().parse(), Ok(signal));
        }
        assert_eq!("TERM".parse(), Ok(Signal::TERM));
        assert_eq!(Signal::KILL.to_string(), "SIGKILL");
    }

    #[test]
    fn a_name_that_is_no_signal_is_refused() {
        for bad in ["", "SIG", "SIG0", "SIG65", "term", "SIGSIGTERM", "-9"] {
            assert_eq!(bad.parse::<Signal>(), Err(UnknownSignal(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn an_exit_status_is_a_code_or_a_signal_in_json() {
        let json = |status| serde_json::to_string(&status).expect("serialises");
        assert_eq!(json(Exit::Code(3)), r#"{"code":3}"#);
        assert_eq!(json(Exit::Signal(Signal::KILL)), r#"{"signal":"SIGKILL"}"#);
    }
}

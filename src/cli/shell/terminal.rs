//! The terminal that an agent has made for a call.

use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::process::{getpgrp, getpid};
use rustix::termios::{tcgetpgrp, tcgetsid};

use crate::agent::shell::TerminalStreams;
use crate::process::CallerTerminal;

/// Returns which standard streams of this process are a terminal, and whether that was made for it.
pub(super) fn own_streams() -> TerminalStreams {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let terminals: Vec<_> = streams.into_iter().filter(BorrowedFd::is_terminal).collect();
    if terminals.is_empty() {
        return TerminalStreams::None;
    }
    let leads = |terminal| tcgetsid(terminal) == Ok(getpid()) && tcgetpgrp(terminal) == Ok(getpgrp());
    if !terminals.iter().all(leads) {
        return TerminalStreams::Shared;
    }
    // The controlling terminal of a process is one and the same.
    if terminals.len() == streams.len() { TerminalStreams::Own } else { TerminalStreams::Partly }
}

/// A terminal that gets back its modes when this is dropped: its command may have run on another one meanwhile.
pub(super) struct KeptModes(CallerTerminal);

impl KeptModes {
    /// Keeps the modes of the standard input, if that is a terminal.
    pub(super) fn of_input() -> Option<Self> {
        CallerTerminal::open(io::stdin()).ok().map(Self)
    }
}

impl Drop for KeptModes {
    fn drop(&mut self) {
        self.0.restore();
    }
}

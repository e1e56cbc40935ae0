//! Where the caller of a task types, if the task's terminal stands for the caller's: what arrives there is typed on the
//! task's. It is read only once everything before it has been typed, so that a program that does not read holds up the one
//! that types, as on one terminal.

use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, EventFlags};

use super::fd_entry::{INLET, data_of};
use crate::process::CallerTerminal;

/// The most bytes taken at once: what a terminal keeps until they are read.
pub(super) const PIECE: usize = 4096;

/// A caller's terminal.
#[derive(Debug)]
pub(crate) struct Inlet {
    terminal: CallerTerminal,
    /// Whether it waits until what it brought has been typed. Then it is not watched: epoll would report its end again and
    /// again.
    is_held: bool,
}

impl Inlet {
    pub(crate) fn new(terminal: CallerTerminal) -> Self {
        Self { terminal, is_held: false }
    }

    pub(super) fn listen(&self, poll: &OwnedFd, key: u64) {
        let added = epoll::add(poll, &self.terminal, data_of(key, INLET), EventFlags::IN);
        // Without it, the caller's input does not arrive.
        let _ = added.inspect_err(|error| tracing::error!(%error, "watch a caller's terminal"));
    }

    /// Reads what was typed there.
    pub(super) fn read(&self, typed: &mut [u8; PIECE]) -> rustix::io::Result<usize> {
        rustix::io::read(&self.terminal, typed)
    }

    /// Sets whether it waits; `poll` is the set that it is in when it does not.
    pub(super) fn hold(&mut self, poll: &OwnedFd, key: u64, holds: bool) {
        match (self.is_held, holds) {
            (false, true) => drop(epoll::delete(poll, &self.terminal)),
            (true, false) => self.listen(poll, key),
            _ => return,
        }
        self.is_held = holds;
    }

    /// Lets go of it when its caller has gone without taking it back.
    pub(super) fn give_back(self) {
        self.terminal.restore();
    }
}

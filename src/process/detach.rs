//! Leaving a terminal without ending: the program and its keeper give the terminal up, and the launcher exits, so that
//! the shell that started it has its prompt again. Nothing is restarted and no descriptor but the standard streams
//! changes.
//!
//! Program and keeper stay in their session, without its terminal and each in a process group of its own: the session
//! is how a guard tells what the program started from what came out of a task (see `orphans`).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::setpgid;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::sys;

/// What the keeper is told, by the program alone: it holds the only other end of the pipe.
pub(super) const LEAVE: u8 = b'd';

/// Where the keeper takes that order. Only a program below a launcher has it.
static ORDERS: OnceLock<OwnedFd> = OnceLock::new();

/// Keeps the writing end of the pipe to the keeper.
pub(super) fn keep_orders(pipe: OwnedFd) {
    let _ = ORDERS.set(pipe);
}

/// Tells whether this process can go on without its terminal: a shell waits for its launcher, not for itself.
#[cfg(feature = "console")]
#[must_use]
pub fn can_detach() -> bool {
    ORDERS.get().is_some()
}

/// Leaves the terminal and has the launcher exit with code 0. The terminal must have been restored, and nothing may
/// read it any more.
///
/// # Errors
/// When there is no launcher, or the keeper has gone; this process has left its terminal all the same then.
#[cfg(feature = "console")]
pub fn detach() -> io::Result<()> {
    let orders = ORDERS.get().ok_or_else(|| io::Error::other("no launcher stands over this program"))?;
    leave_terminal()?;
    rustix::io::retry_on_intr(|| rustix::io::write(orders, &[LEAVE]))?;
    Ok(())
}

/// Gives the terminal up: standard streams, controlling terminal, and the process group that gets its keys and its
/// hang-up.
pub(super) fn leave_terminal() -> io::Result<()> {
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    // One that is gone already has let go of its processes.
    if let Ok(terminal) = File::open("/dev/tty") {
        sys::give_up_terminal(&terminal)?;
    }
    Ok(setpgid(None, None)?)
}

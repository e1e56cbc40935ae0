//! Detaching from a terminal without ending: the program and its keeper give the terminal up, and the launcher exits,
//! so that the shell that started it shows its prompt again. Nothing is restarted, and no descriptors change except
//! the standard streams.
//!
//! Program and keeper stay in their session, without its terminal and each in its own process group: by the session,
//! a guard distinguishes what the program started from what came out of a task (see `orphans`).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::setpgid;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::sys;

/// The order to detach, which only the program can send: it holds the only other end of the pipe.
pub(super) const LEAVE: u8 = b'd';

/// The writing end of the pipe to the keeper, set only in a program below a launcher.
static ORDERS: OnceLock<OwnedFd> = OnceLock::new();

/// Stores the writing end of the pipe to the keeper.
pub(super) fn keep_orders(pipe: OwnedFd) {
    let _ = ORDERS.set(pipe);
}

/// Tells whether this process can continue without its terminal: if the shell waits for a launcher rather than for
/// this process.
#[cfg(feature = "console")]
pub fn can_detach() -> bool {
    ORDERS.get().is_some()
}

/// Leaves the terminal and makes the launcher exit with code 0. The terminal must have been restored, and nothing may
/// read it any more.
///
/// # Errors
/// If there is no launcher or the keeper is gone; in the latter case this process has still left its terminal.
#[cfg(feature = "console")]
pub fn detach() -> io::Result<()> {
    let orders = ORDERS.get().ok_or_else(|| io::Error::other("no launcher stands over this program"))?;
    leave_terminal()?;
    rustix::io::retry_on_intr(|| rustix::io::write(orders, &[LEAVE]))?;
    Ok(())
}

/// Gives the terminal up: the standard streams, the controlling terminal, and the process group that receives the
/// terminal's signals.
pub(super) fn leave_terminal() -> io::Result<()> {
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    give_up_terminal()?;
    Ok(setpgid(None, None)?)
}

/// Gives the controlling terminal up, if there is one. As the leader of its session, this process must be alone in it.
pub(super) fn give_up_terminal() -> io::Result<()> {
    // A terminal that is already gone has released its processes.
    let Ok(terminal) = File::open("/dev/tty") else { return Ok(()) };
    sys::give_up_terminal(&terminal)
}

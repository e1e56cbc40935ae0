//! The guards above a program that hosts a runtime, installed before any thread exists:
//!
//! ```text
//! launcher   only with a terminal: the process the person's shell waits for
//!   keeper   child subreaper: no process of a task escapes it
//!     program   the runtime, the console
//! ```
//!
//! A guard has one thread, which waits, forwards signals and, once the program is gone, ends what is left of its
//! tasks. Signals from the kernel (a key, a hang-up) reach the program without the guards. A program that detaches
//! keeps its keeper and loses its launcher (`detach`).

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitStatus, getpid, getppid, kill_process, pidfd_open, set_child_subreaper,
    set_parent_process_death_signal, setpgid,
};

use super::{detach, keeper, launcher, sys};

/// The process name of a launcher: the kernel keeps 15 bytes.
pub(super) const LAUNCHER: &str = "pilothouse-wait";
/// The process name of a keeper.
pub(super) const KEEPER: &str = "pilothouse-keep";
/// How long a program may take to end once it was asked to.
pub(super) const ENDING: Duration = Duration::from_secs(30);

/// Sent by a keeper to its launcher to make it exit: the program continues without it.
pub(super) const DISMISS: libc::c_int = libc::SIGUSR1;

/// Signals a guard neither waits for nor forwards: they cannot be caught, or mean nothing to a program.
const NOT_FORWARDED: [libc::c_int; 6] =
    [libc::SIGKILL, libc::SIGSTOP, libc::SIGSTKFLT, libc::SIGURG, libc::SIGWINCH, libc::SIGPWR];

static KEPT_BY: OnceLock<Pid> = OnceLock::new();

/// Puts a keeper, and with `terminal` also a launcher, above this process, which must be single-threaded, and returns
/// in the copy of it that is the program. The guards end when the program ends, and in the same way.
///
/// # Errors
/// If this process has several threads or the system is out of processes. There are no guards then.
pub fn install(terminal: bool) -> io::Result<()> {
    let signals: Vec<_> = (1..=libc::SIGSYS).filter(|signal| !NOT_FORWARDED.contains(signal)).collect();
    let (signals, before) = sys::block(&signals)?;
    let installed = split(terminal, &signals);
    // Only the program, or a process that could not be split, gets here.
    sys::unblock(&before);
    installed
}

fn split(terminal: bool, signals: &OwnedFd) -> io::Result<()> {
    if !terminal {
        return keep(None, signals);
    }
    let own = getpid();
    // A descriptor rather than a process id, which may be reused.
    let launcher = pidfd_open(own, PidfdFlags::empty())?;
    let (program, announce) = pipe_with(PipeFlags::CLOEXEC)?;
    match sys::split()? {
        Some(keeper) => {
            drop(announce);
            launcher::launch(keeper, program, signals)
        }
        None => keep(Some(LauncherHandle { pid: own, handle: launcher, announce }), signals),
    }
}

/// The launcher, from its keeper's point of view.
pub(super) struct LauncherHandle {
    pub(super) pid: Pid,
    pub(super) handle: OwnedFd,
    /// The pipe on which it waits for the program's process id.
    announce: OwnedFd,
}

/// Becomes the keeper, and returns in the program. Below a launcher there is no one to return an error to.
fn keep(launcher: Option<LauncherHandle>, signals: &OwnedFd) -> io::Result<()> {
    let keeper = getpid();
    let has_launcher = launcher.is_some();
    // Without the pipe a program cannot detach, but everything else works.
    let (orders, to_keeper) = pipe_with(PipeFlags::CLOEXEC).ok().filter(|_| has_launcher).unzip();
    match sys::split() {
        Ok(Some(program)) => {
            drop(to_keeper);
            if let Some(launcher) = &launcher {
                let _ = rustix::io::write(&launcher.announce, &program.as_raw_pid().to_ne_bytes());
            }
            keeper::keep(program, launcher, orders, signals)
        }
        Ok(None) => {
            drop(orders);
            if let Some(pipe) = to_keeper {
                detach::keep_orders(pipe);
            }
            // The kernel sends the signal when the keeper, which has one thread, is gone. It may be gone already.
            set_parent_process_death_signal(Some(Signal::TERM))?;
            if getppid() != Some(keeper) {
                kill_process(getpid(), Signal::TERM)?;
            }
            if !has_launcher {
                // A signal to the keeper's group reaches the program once, through the keeper.
                let _ = setpgid(None, None);
            }
            let _ = KEPT_BY.set(keeper);
            Ok(())
        }
        Err(_) if has_launcher => sys::exit(1),
        Err(error) => Err(error),
    }
}

/// Returns the keeper of this process, if it has one.
pub(super) fn keeper() -> Option<Pid> {
    KEPT_BY.get().copied()
}

/// Tells whether the keeper of this process has ended. In that case the kernel, and not a person, sent the signal that ends
/// this process.
pub fn has_lost_keeper() -> bool {
    KEPT_BY.get().is_some_and(|keeper| getppid() != Some(*keeper))
}

/// Becomes a guard: adopts orphaned processes, holds no directory, leaves no core dump.
pub(super) fn become_guard(name: &str) {
    // None of this should fail; if it does, a weaker guard is better than none.
    let _ = set_child_subreaper(Some(getpid()));
    let _ = std::ffi::CString::new(name).map(|name| rustix::thread::set_name(&name));
    let _ = rustix::process::chdir("/");
    super::limits::forgo_core_dump();
}

/// Sends a signal by number. A process that is gone is ignored.
pub(super) fn send(pid: Pid, number: i32) {
    if let Some(signal) = Signal::from_named_raw(number) {
        let _ = kill_process(pid, signal);
    }
}

/// Asks a program to end, even if it is stopped.
pub(super) fn ask_to_end(program: Pid) {
    send(program, libc::SIGTERM);
    send(program, libc::SIGCONT);
}

/// Ends this guard in the same way as the program ended.
pub(super) fn end_as(status: Option<WaitStatus>) -> ! {
    if let Some(number) = status.and_then(WaitStatus::terminating_signal) {
        sys::reset_signals();
        send(getpid(), number);
    }
    let number = status.and_then(WaitStatus::terminating_signal).map(|number| 128 + number);
    sys::exit(status.and_then(WaitStatus::exit_status).or(number).unwrap_or(1))
}

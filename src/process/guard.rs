//! The processes over a program that hosts a runtime, planted before any thread exists:
//!
//! ```text
//! launcher   only with a terminal: what the person's shell waits for
//!   keeper   child subreaper: nothing of a task gets past it
//!     program   the runtime, the console
//! ```
//!
//! Each guard has one thread and does nothing but wait, pass signals on and, in the end, clear away what is
//! left of tasks. The kernel's own signals (a key, a hang-up) reach the program without them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, WaitStatus, getpid, getppid, kill_process, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setpgid,
};

use super::{keeper, launcher, sys};

/// What a launcher calls itself: the kernel keeps 15 bytes.
pub(super) const LAUNCHER: &str = "pilothouse-wait";
/// What a keeper calls itself.
pub(super) const KEEPER: &str = "pilothouse-keep";
/// How long a program that was told to end may take.
pub(super) const ENDING: Duration = Duration::from_secs(30);

/// What a guard waits for or passes on: everything that can be caught and means something to a program.
const SIGNALS: [libc::c_int; 25] = [
    libc::SIGCHLD,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGSEGV,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGSYS,
];

static KEPT_BY: OnceLock<Pid> = OnceLock::new();

/// Puts a keeper, and with `terminal` a launcher, over this process, which must have one thread, and returns
/// in the copy of it that is the program. The guards end with the program and as it ended.
///
/// # Errors
/// When this process has threads or the system has no process left. Nothing is planted then.
pub fn plant(terminal: bool) -> io::Result<()> {
    let (signals, before) = sys::block(&SIGNALS)?;
    let planted = split(terminal, &signals);
    // Only the program and a process that could not be split come here.
    sys::unblock(&before);
    planted
}

fn split(terminal: bool, signals: &OwnedFd) -> io::Result<()> {
    if !terminal {
        return keep(None, signals);
    }
    let own = getpid();
    // A descriptor, not a number: it stays that of this process.
    let launcher = pidfd_open(own, PidfdFlags::empty())?;
    let (told, tell) = pipe_with(PipeFlags::CLOEXEC)?;
    match sys::split()? {
        Some(keeper) => {
            drop(tell);
            launcher::launch(keeper, told, signals)
        }
        None => keep(Some(Above { pid: own, handle: launcher, tell }), signals),
    }
}

/// The launcher, as its keeper knows it.
pub(super) struct Above {
    pub(super) pid: Pid,
    pub(super) handle: OwnedFd,
    /// Where it waits for the pid of the program.
    tell: OwnedFd,
}

/// Becomes the keeper and returns in the program. Below a launcher nobody is left to return an error to.
fn keep(above: Option<Above>, signals: &OwnedFd) -> io::Result<()> {
    let keeper = getpid();
    let has_launcher = above.is_some();
    match sys::split() {
        Ok(Some(program)) => {
            if let Some(above) = &above {
                let _ = rustix::io::write(&above.tell, &program.as_raw_pid().to_ne_bytes());
            }
            keeper::keep(program, above, signals)
        }
        Ok(None) => {
            // The kernel sends it when the keeper, which has one thread, is gone. It may be gone already.
            set_parent_process_death_signal(Some(Signal::TERM))?;
            if getppid() != Some(keeper) {
                kill_process(getpid(), Signal::TERM)?;
            }
            if !has_launcher {
                // What goes to the group of the keeper reaches the program by the keeper, and once.
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

/// Becomes a guard: adopts what loses its parent, stands nowhere, leaves no core.
pub(super) fn settle(name: &str) {
    // None of it can fail; should it, the guard is worth less and still a guard.
    let _ = set_child_subreaper(Some(getpid()));
    let _ = std::ffi::CString::new(name).map(|name| rustix::thread::set_name(&name));
    let _ = rustix::process::chdir("/");
    super::limits::lower(Resource::Core, 0);
}

/// Sends a signal by number. Whoever is gone needs none.
pub(super) fn send(pid: Pid, number: i32) {
    if let Some(signal) = Signal::from_named_raw(number) {
        let _ = kill_process(pid, signal);
    }
}

/// Ends this guard as what it guarded ended.
pub(super) fn end_as(status: Option<WaitStatus>) -> ! {
    if let Some(number) = status.and_then(WaitStatus::terminating_signal) {
        sys::reset_signals();
        send(getpid(), number);
    }
    let number = status.and_then(WaitStatus::terminating_signal).map(|number| 128 + number);
    sys::exit(status.and_then(WaitStatus::exit_status).or(number).unwrap_or(1))
}

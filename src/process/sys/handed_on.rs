//! What a process is started with and hands on: signals, standard streams that were closed, further descriptors.

use std::os::fd::{FromRawFd as _, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{SET_BYTES, SIGNALS};

/// Ignores each of `signals`.
pub(in crate::process) fn ignore(signals: &[libc::c_int]) {
    /// SIG_IGN without flags or mask.
    const IGNORED: [u64; 8] = [1, 0, 0, 0, 0, 0, 0, 0];
    for signal in signals {
        // SAFETY: SIG_IGN is no handler, and IGNORED is larger than any kernel's sigaction; the old one is not requested.
        // Not libc's call, which refuses the two signals that it reserves: a process may have been started with them
        // ignored.
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, *signal, IGNORED.as_ptr(), ptr::null::<u64>(), SET_BYTES)
        };
    }
}

/// Blocks exactly these signals, one bit each, from signal 1.
pub(in crate::process) fn set_blocked(bits: u64) {
    let mut set = super::signal_set(&[]);
    for signal in (1..=SIGNALS).filter(|signal| bits >> (signal - 1) & 1 != 0) {
        // SAFETY: `set` is initialised; the two signals that libc reserves are refused.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: `set` is initialised and outlives the call; the old mask is not requested.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()) };
}

/// What the standard library changes before `main`: it opens closed standard streams, and ignores SIGPIPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) struct StartAttributes {
    /// Which of the standard streams were closed.
    pub(in crate::process) closed: [bool; 3],
    /// Whether SIGPIPE was ignored.
    pub(in crate::process) ignores_pipe: bool,
}

/// One bit for each standard stream that was closed, and one for SIGPIPE.
static AT_START: AtomicU8 = AtomicU8::new(0);
const PIPE_BIT: u8 = 1 << 3;

/// Returns how this process was started.
pub(in crate::process) fn at_start() -> StartAttributes {
    // Keeps the linker from leaving out what nothing refers to.
    std::hint::black_box(&LOOK);
    let bits = AT_START.load(Ordering::Relaxed);
    StartAttributes {
        closed: [0, 1, 2].map(|stream| bits >> stream & 1 != 0),
        ignores_pipe: bits & PIPE_BIT != 0,
    }
}

/// Looks before the standard library changes anything: the loader calls what is in this section before `main`.
// SAFETY: the section holds pointers to functions of this type, which the loader calls once, on the only thread.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    let is_closed = |fd: libc::c_int| {
        // SAFETY: the call takes numbers.
        unsafe { libc::fcntl(fd, libc::F_GETFD) < 0 }
    };
    let mut bits = (0..3).filter(|fd| is_closed(*fd)).fold(0, |bits: u8, fd| bits | 1 << fd);
    let mut now = [0_u64; 8];
    // SAFETY: no disposition is given, and `now` is larger than any kernel's sigaction, which is written to it.
    unsafe {
        let none = ptr::null::<u64>();
        libc::syscall(libc::SYS_rt_sigaction, libc::SIGPIPE, none, now.as_mut_ptr(), SET_BYTES)
    };
    // The first field is the handler; SIG_IGN is 1.
    if now[0] == 1 {
        bits |= PIPE_BIT;
    }
    AT_START.store(bits, Ordering::Relaxed);
}

/// Returns a copy of a descriptor that exec would hand on; `None` if it is closed then, or not open.
pub(in crate::process) fn copy_handed_on(number: libc::c_int) -> Option<OwnedFd> {
    // SAFETY: the calls take numbers. The copy was just made and has no other owner.
    unsafe {
        let flags = libc::fcntl(number, libc::F_GETFD);
        if flags < 0 || flags & libc::FD_CLOEXEC != 0 {
            return None;
        }
        let copy = libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3);
        (copy >= 0).then(|| OwnedFd::from_raw_fd(copy))
    }
}

/// Makes exec close those standard streams that were closed when this process started: the standard library has opened
/// others in their place.
pub(in crate::process) fn close_at_exec(closed: [bool; 3]) {
    for (stream, _) in (0..).zip(closed).filter(|(_, is_closed)| *is_closed) {
        // SAFETY: the call takes numbers, and closes nothing yet.
        unsafe { libc::fcntl(stream, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

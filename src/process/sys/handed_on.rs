//! What a process is started with and hands on: signals, standard streams that were closed, further descriptors.

use std::os::fd::{FromRawFd as _, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::SIGNALS;

/// The size of a signal set as the kernel takes it, in bytes.
const SET_BYTES: usize = 8;
/// The kernel's numbers of the dispositions that are no handler.
pub(super) const DEFAULT: u64 = 0;
const IGNORED: u64 = 1;

/// Returns the number of a signal's disposition, or the address of its handler; `None` if there is no such signal.
pub(super) fn disposition(signal: libc::c_int) -> Option<u64> {
    let mut now = [0_u64; 8];
    // SAFETY: no disposition is given, and `now` is larger than any kernel's sigaction, which is written to it.
    let done = unsafe {
        let none = ptr::null::<u64>();
        libc::syscall(libc::SYS_rt_sigaction, signal, none, now.as_mut_ptr(), SET_BYTES)
    };
    // The handler is the first field.
    (done == 0).then_some(now[0])
}

/// Sets a signal's disposition to the default one or to being ignored. KILL and STOP fail harmlessly.
pub(super) fn dispose(signal: libc::c_int, disposition: u64) {
    let action = [disposition, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: the disposition is no handler and has neither flags nor mask; `action` is larger than any kernel's
    // sigaction, and the old one is not requested. Not libc's call, which refuses the two signals that it reserves: a
    // process may have been started with them ignored, as posix_spawn starts every child.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, action.as_ptr(), ptr::null::<u64>(), SET_BYTES) };
}

/// Ignores each of `signals`.
pub(in crate::process) fn ignore(signals: &[libc::c_int]) {
    signals.iter().for_each(|signal| dispose(*signal, IGNORED));
}

/// Blocks exactly these signals, one bit each, from signal 1, if there are any given; returns those blocked before.
pub(super) fn set_blocked(bits: Option<u64>) -> u64 {
    let (given, mut before) = (bits.as_ref().map_or_else(ptr::null, ptr::from_ref), 0_u64);
    // SAFETY: both sets have the size that is stated and outlive the call.
    unsafe {
        let how = libc::SIG_SETMASK;
        libc::syscall(libc::SYS_rt_sigprocmask, how, given, &raw mut before, SET_BYTES)
    };
    before
}

/// What a process is started with and changes before or in its first lines: the standard library opens closed standard
/// streams and ignores SIGPIPE, and each program of ours wants to hear of its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) struct StartAttributes {
    /// Which of the standard streams were closed.
    pub(in crate::process) closed: [bool; 3],
    /// The signals that were ignored, one bit each, from signal 1.
    pub(in crate::process) ignored: u64,
    /// The signals that were blocked.
    pub(in crate::process) blocked: u64,
}

impl StartAttributes {
    /// Tells whether a signal was ignored.
    pub(in crate::process) fn ignores(&self, signal: libc::c_int) -> bool {
        self.ignored >> (signal - 1) & 1 != 0
    }

    /// Makes all signals and the standard streams what they were, right before this process executes a program.
    pub(in crate::process) fn restore(&self) {
        for signal in 1..=SIGNALS {
            dispose(signal, if self.ignores(signal) { IGNORED } else { DEFAULT });
        }
        set_blocked(Some(self.blocked));
        for (stream, _) in (0..).zip(self.closed).filter(|(_, is_closed)| *is_closed) {
            // SAFETY: the call takes numbers, and closes nothing yet.
            unsafe { libc::fcntl(stream, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

/// One bit for each standard stream that was closed.
static CLOSED_AT_START: AtomicU8 = AtomicU8::new(0);
static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);
static BLOCKED_AT_START: AtomicU64 = AtomicU64::new(0);

/// Returns how this process was started.
pub(in crate::process) fn at_start() -> StartAttributes {
    // Keeps the linker from leaving out what nothing refers to.
    std::hint::black_box(&LOOK);
    let closed = CLOSED_AT_START.load(Ordering::Relaxed);
    StartAttributes {
        closed: [0, 1, 2].map(|stream| closed >> stream & 1 != 0),
        ignored: IGNORED_AT_START.load(Ordering::Relaxed),
        blocked: BLOCKED_AT_START.load(Ordering::Relaxed),
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
    let closed = (0..3).filter(|fd| is_closed(*fd)).fold(0, |bits: u8, fd| bits | 1 << fd);
    CLOSED_AT_START.store(closed, Ordering::Relaxed);
    let ignored = (1..=SIGNALS).filter(|signal| disposition(*signal) == Some(IGNORED));
    IGNORED_AT_START.store(ignored.fold(0, |bits: u64, signal| bits | 1 << (signal - 1)), Ordering::Relaxed);
    BLOCKED_AT_START.store(set_blocked(None), Ordering::Relaxed);
    // While it is ignored, the kernel reaps all children by itself and reports none of them.
    dispose(libc::SIGCHLD, DEFAULT);
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

//! Signals that a process receives on behalf of another one, and becoming or dying like that process.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::process::{Signal, getpid, kill_process};

use super::sys;

/// The signal of a terminal that has another size.
pub const RESIZED: i32 = libc::SIGWINCH;

/// The signals that a program waiting for a command sends to the command: all that can be caught, except for those that
/// concern that program itself (its children, its faults, its output) and those that stop and continue.
const PASSED_ON: [libc::c_int; 14] = [
    RESIZED,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGABRT,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGSTKFLT,
];
/// The size of a signalfd record.
const INFO_BYTES: usize = 128;

/// Signals that are queued instead of taking effect. They take effect again once this is dropped.
pub struct SignalQueue {
    fd: OwnedFd,
    mask: sys::Mask,
}

impl SignalQueue {
    /// Starts queueing the signals that a program waiting for a command sends.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn watch() -> io::Result<Self> {
        let (fd, mask) = sys::block(&PASSED_ON)?;
        Ok(Self { fd, mask })
    }

    /// Returns the next signal received.
    #[must_use]
    pub fn next(&self) -> Option<i32> {
        let mut info = [0; INFO_BYTES];
        let read = rustix::io::read(&self.fd, &mut info).ok()?;
        let number = info.first_chunk().filter(|_| read == INFO_BYTES)?;
        i32::try_from(u32::from_ne_bytes(*number)).ok()
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for SignalQueue {
    fn drop(&mut self) {
        sys::unblock(&self.mask);
    }
}

/// Makes TERM end this process and lets all signals reach it, whatever its caller has set. HUP, INT and the others that
/// a caller has it ignore stay so: that is how `nohup` and a script's `&` keep a program running.
pub fn heed_signals() {
    sys::reset(&[libc::SIGTERM]);
}

/// Returns whether this process was started with a signal ignored.
#[must_use]
pub fn ignores_from_start(signal: i32) -> bool {
    sys::at_start().ignores(signal)
}

/// Returns whether this process was started without a standard output: the standard library has opened /dev/null in
/// its place, so that nothing written there fails.
#[must_use]
pub fn has_no_output() -> bool {
    sys::at_start().closed[1]
}

/// Replaces this process with another program; `args` starts with its name. Returns only on failure.
pub fn become_program(program: &Path, args: &[OsString], env: &[(OsString, OsString)]) -> io::Error {
    let text = |bytes: Vec<u8>| CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let prepared = || -> io::Result<(CString, sys::Texts, sys::Texts)> {
        let variable =
            |(name, value): &(OsString, OsString)| text([name.as_bytes(), b"=", value.as_bytes()].concat());
        Ok((
            text(program.as_os_str().as_bytes().to_vec())?,
            sys::Texts::of(args.iter().map(|arg| text(arg.clone().into_vec())).collect::<io::Result<_>>()?),
            sys::Texts::of(env.iter().map(variable).collect::<io::Result<_>>()?),
        ))
    };
    match prepared() {
        Ok((program, args, env)) => {
            sys::at_start().restore();
            let Err(error) = sys::execve(&program, &args, &env);
            error
        }
        Err(error) => error,
    }
}

/// Ends this process by a signal, in the same way as the command it represents, without leaving a core dump of its
/// own.
pub fn die_of(signal: i32) {
    super::limits::forgo_core_dump();
    sys::reset(&[signal]);
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(getpid(), signal);
    }
}

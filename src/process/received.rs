//! The signals that a process receives for another one, and how it becomes or ends as that one.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};

use super::sys;

/// Signals that whoever waits for a command sends to it.
const PASSED_ON: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
/// What a signalfd gives for one signal.
const INFO_BYTES: usize = 128;

/// Signals that are kept until they are asked for, in place of their effect. Dropped, they have it again.
pub struct Received {
    fd: OwnedFd,
    mask: sys::Mask,
}

impl Received {
    /// Keeps the signals that whoever waits for a command sends.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn watch() -> io::Result<Self> {
        let (fd, mask) = sys::block(&PASSED_ON)?;
        Ok(Self { fd, mask })
    }

    /// Returns the next signal that has come.
    #[must_use]
    pub fn next(&self) -> Option<i32> {
        let mut info = [0; INFO_BYTES];
        let read = rustix::io::read(&self.fd, &mut info).ok()?;
        let number = info.first_chunk().filter(|_| read == INFO_BYTES)?;
        i32::try_from(u32::from_ne_bytes(*number)).ok()
    }
}

impl AsFd for Received {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        sys::unblock(&self.mask);
    }
}

/// Becomes another program: `args` with its name first. Returns only when that fails.
pub fn become_program(program: &Path, args: &[OsString], env: &[(OsString, OsString)]) -> io::Error {
    let text = |bytes: Vec<u8>| CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let prepared = || -> io::Result<(CString, Vec<CString>, Vec<CString>)> {
        let variable =
            |(name, value): &(OsString, OsString)| text([name.as_bytes(), b"=", value.as_bytes()].concat());
        Ok((
            text(program.as_os_str().as_bytes().to_vec())?,
            args.iter().map(|arg| text(arg.clone().into_vec())).collect::<io::Result<_>>()?,
            env.iter().map(variable).collect::<io::Result<_>>()?,
        ))
    };
    match prepared() {
        Ok((program, args, env)) => {
            // The standard library ignores it; whoever comes next expects what it was.
            sys::restore(libc::SIGPIPE);
            let Err(error) = sys::execve(&program, &args, &env);
            error
        }
        Err(error) => error,
    }
}

/// Ends this process by a signal, as the command ended for which it stands, and leaves no core of its own.
pub fn die_of(signal: i32) {
    let limit = getrlimit(Resource::Core);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), ..limit });
    sys::restore(signal);
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(getpid(), signal);
    }
}

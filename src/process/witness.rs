//! Tells whether a signal was sent to this process alone or to its whole process group, which the kernel does not say: a
//! second process in the group, which does nothing, has the signal pending if it was sent to all.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::sys;
use super::tree::proc_file;

/// A process in the group of this one, with the same signals blocked. It ends with this value.
#[derive(Debug)]
pub struct Witness {
    pid: Pid,
    _life: OwnedFd,
}

impl Witness {
    /// Starts one. This process must have one thread, and have blocked the signals.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start() -> io::Result<Self> {
        let (read, life) = pipe_with(PipeFlags::CLOEXEC)?;
        match sys::split()? {
            Some(pid) => Ok(Self { pid, _life: life }),
            None => {
                drop(life);
                stand_by(&read)
            }
        }
    }

    /// Tells whether the group has been sent this signal since the witness was started.
    pub fn has(&self, signal: i32) -> bool {
        let status = proc_file(self.pid.as_raw_pid(), "status").unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
        let pending = pending.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default();
        pending >> (signal - 1) & 1 != 0
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = waitpid(Some(self.pid), WaitOptions::empty());
    }
}

/// Waits for the other end of the pipe to be closed, holding nothing else open.
fn stand_by(read: &OwnedFd) -> ! {
    let _ = rustix::thread::set_name(c"pilothouse-peer");
    let held = dup2_stdin(read).and_then(|()| dup2_stdout(read)).and_then(|()| dup2_stderr(read));
    if held.is_ok() && sys::close_inherited().is_ok() {
        let _ = rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut [0_u8; 1]));
    }
    sys::exit(0)
}

//! Which processes read a terminal, from kernel state.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::process::ProcessTable;

/// Kernel functions in which a process sleeps while it reads a terminal; in some of them also while it writes to one.
pub(super) const TTY_SLEEPS: [&str; 3] = ["n_tty_read", "wait_woken", "tty_read"];

/// Threads inspected per process.
const MOST_THREADS: usize = 64;

/// The device number of `/dev/tty`: major, minor.
pub(super) const DEV_TTY: (u32, u32) = (5, 0);

/// Returns the folder in which the kernel describes a process.
pub(super) fn folder(pid: i32) -> PathBuf {
    Path::new("/proc").join(pid.to_string())
}

/// Tells whether a thread of a process sleeps in a read of the terminal with this device number. `/dev/tty` is that terminal
/// only for a process whose controlling terminal it is: on another one, the same file leads there.
pub(super) fn reads(pid: i32, device: u64, processes: &ProcessTable) -> bool {
    let numbers = (libc::major(device), libc::minor(device));
    let is_own = || processes.terminal(pid) == Some(numbers);
    let process = folder(pid);
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten().take(MOST_THREADS);
    let mut calls = threads.filter_map(|thread| {
        let of = |name: &str| fs::read_to_string(thread.path().join(name));
        of("wchan").ok().filter(|function| TTY_SLEEPS.contains(&function.trim()))?;
        Some(of("syscall").ok())
    });
    calls.any(|call| match call {
        // The system call distinguishes a read from a write, where the kernel lets us see it.
        None => is_own(),
        Some(call) => read_from(&call).is_some_and(|fd| {
            let opened = fs::metadata(process.join("fd").join(fd.to_string())).map(|file| file.rdev());
            let opened = opened.map(|opened| (libc::major(opened), libc::minor(opened)));
            opened.is_ok_and(|opened| opened == numbers || opened == DEV_TTY && is_own())
        }),
    })
}

/// Tells whether the kernel denies us access to a process's system call, as to that of a program with another user's rights.
pub(super) fn is_closed(pid: i32) -> bool {
    let call = fs::read_to_string(folder(pid).join("syscall"));
    call.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Parses a line of `/proc/PID/syscall` and returns the descriptor being read.
fn read_from(call: &str) -> Option<u32> {
    let mut words = call.split_ascii_whitespace();
    let number: libc::c_long = words.next()?.parse().ok()?;
    let fd = words.next()?.strip_prefix("0x")?;
    (number == libc::SYS_read).then(|| u32::from_str_radix(fd, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_read_system_call_is_told_from_other_calls() {
        assert_eq!(read_from("0 0xa 0x7f9d4fa63000 0x20000 0x0 0x0 0x0 0x7ffc 0x7f9d"), Some(10));
        for other in ["1 0x1 0x55d0 0x2000 0x0 0x0 0x0 0x7ffe 0x7f12", "running", "0", ""] {
            assert_eq!(read_from(other), None, "{other}");
        }
    }
}

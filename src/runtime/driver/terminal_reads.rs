//! Which processes read a terminal, from kernel state.

use std::fs;
use std::path::{Path, PathBuf};

/// Kernel functions in which a process sleeps while it reads a terminal; in some of them also while it writes to one.
pub(super) const TTY_SLEEPS: [&str; 3] = ["n_tty_read", "wait_woken", "tty_read"];

/// The device number of `/dev/tty`: major, minor.
pub(super) const DEV_TTY: (u32, u32) = (5, 0);

/// Returns the folder in which the kernel describes a process.
pub(super) fn folder(pid: i32) -> PathBuf {
    Path::new("/proc").join(pid.to_string())
}

/// Tells whether the main thread of a process sleeps in a read of a terminal.
pub(super) fn reads_tty(pid: i32) -> bool {
    let of = |name: &str| fs::read_to_string(folder(pid).join(name));
    let sleeps = of("wchan").is_ok_and(|function| TTY_SLEEPS.contains(&function.trim()));
    // The system call distinguishes a read from a write, where the kernel lets us see it.
    sleeps && of("syscall").map_or(true, |call| is_read(&call))
}

/// Tells whether a line of `/proc/PID/syscall` is a read.
fn is_read(call: &str) -> bool {
    let number = call.split_ascii_whitespace().next().and_then(|number| number.parse().ok());
    number == Some(libc::SYS_read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_process_that_sleeps_in_a_write_does_not_wait_for_input() {
        assert!(is_read(
            "0 0x0 0x7f9d4fa63000 0x20000 0x7f9d4faf6b60 0xffffffff 0x0 0x7ffc0e8ea268 0x7f9d4fbdf2ad"
        ));
        for other in ["1 0x1 0x55d0 0x2000 0x0 0x0 0x0 0x7ffe 0x7f12", "running", ""] {
            assert!(!is_read(other), "{other}");
        }
    }
}

//! The machine's processes by process group, and which of them read a terminal, from kernel state.

use std::fs;
use std::path::Path;

/// Kernel functions in which a process sleeps while it reads a terminal; in some of them also while it writes to one.
pub(super) const TTY_SLEEPS: [&str; 3] = ["n_tty_read", "wait_woken", "tty_read"];

/// The machine's processes by process group: one scan of `/proc`, however many terminals are inspected.
pub(super) struct Groups(Vec<(u32, String)>);

impl Groups {
    pub(super) fn scan() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        Self(entries.filter_map(|entry| grouped(entry.file_name().into_string().ok()?)).collect())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, pid)| pid.as_str())
    }

    pub(super) fn members(&self, group: u32) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(own, _)| *own == group).map(|(_, pid)| pid.as_str())
    }
}

fn grouped(pid: String) -> Option<(u32, String)> {
    pid.parse::<u32>().ok()?;
    let stat = fs::read_to_string(Path::new("/proc").join(&pid).join("stat")).ok()?;
    // Field 5 is the process group; the name before it may contain anything, but ends at the last `)`.
    let fields = stat.rsplit_once(')')?.1;
    let group = fields.split_ascii_whitespace().nth(2)?.parse().ok()?;
    Some((group, pid))
}

pub(super) fn reads_tty(pid: &str) -> bool {
    let of = |name: &str| fs::read_to_string(Path::new("/proc").join(pid).join(name));
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

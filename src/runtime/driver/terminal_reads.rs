//! Which processes read a terminal, from kernel state.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::process::{InputMode, ProcessTable};

/// Kernel functions in which a process sleeps while it reads a terminal; in some of them also while it writes to one.
const TTY_SLEEPS: [&str; 3] = ["n_tty_read", "wait_woken", "tty_read"];
/// System calls that read from the descriptor in their first argument.
const READS: [libc::c_long; 3] = [libc::SYS_read, libc::SYS_readv, libc::SYS_splice];

/// Bytes read of a file of a process.
const MOST_BYTES: usize = 1_024;
/// Threads inspected per process.
const MOST_THREADS: usize = 64;
/// Descriptors of a process inspected for an inner terminal.
const MOST_OPEN: usize = 256;

/// The device numbers of `/dev/tty` and `/dev/ptmx`: major, minor.
const DEV_TTY: (u32, u32) = (5, 0);
const DEV_PTMX: (u32, u32) = (5, 2);

/// A terminal, by its device number: major, minor.
pub(super) type Device = (u32, u32);

/// Returns the folder in which the kernel describes a process.
pub(super) fn folder(pid: i32) -> PathBuf {
    Path::new("/proc").join(pid.to_string())
}

/// Reads a file of a process, in one read. Such files have no size, for which the standard library reads several times.
pub(super) fn read_file(path: &Path) -> io::Result<String> {
    let mut bytes = [0; MOST_BYTES];
    let length = fs::File::open(path)?.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Opens a file of a process, to be read more than once.
pub(super) fn open_file(pid: i32, name: &str) -> Option<fs::File> {
    fs::File::open(folder(pid).join(name)).ok()
}

/// Returns the folders of a process's threads.
pub(super) fn threads(pid: i32) -> impl Iterator<Item = PathBuf> {
    let threads = fs::read_dir(folder(pid).join("task")).into_iter().flatten().flatten();
    threads.take(MOST_THREADS).map(|thread| thread.path())
}

/// Returns what a process has open as a descriptor; `None` if nothing, or if that is not shown to us.
fn file_of(pid: i32, fd: u32) -> Option<fs::Metadata> {
    fs::metadata(folder(pid).join("fd").join(fd.to_string())).ok()
}

/// Tells whether a process's descriptor leads to a terminal. `/dev/tty` is that terminal only for a process whose
/// controlling terminal it is: on another one, the same file leads there.
pub(super) fn leads_to(device: Device, pid: i32, fd: u32, processes: &ProcessTable) -> bool {
    let opened = file_of(pid, fd).map(|file| (libc::major(file.rdev()), libc::minor(file.rdev())));
    opened == Some(device) || opened == Some(DEV_TTY) && processes.terminal(pid) == Some(device)
}

/// Tells whether a thread of a process sleeps in a read of the terminal.
pub(super) fn reads(pid: i32, device: Device, processes: &ProcessTable) -> bool {
    let mut calls = threads(pid).filter_map(|thread| {
        let of = |name: &str| read_file(&thread.join(name));
        of("wchan").ok().filter(|function| TTY_SLEEPS.contains(&function.trim()))?;
        Some(of("syscall").ok())
    });
    calls.any(|call| match call {
        // The system call distinguishes a read from a write, where the kernel lets us see it.
        None => processes.terminal(pid) == Some(device),
        Some(call) => read_from(&call).is_some_and(|fd| leads_to(device, pid, fd, processes)),
    })
}

/// Tells whether the kernel denies us access to a process's system call, as to that of a program with another user's rights.
pub(super) fn is_closed(pid: i32) -> bool {
    let call = read_file(&folder(pid).join("syscall"));
    call.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Tells whether a process writes its output to a pipe.
pub(super) fn feeds_pipe(pid: i32) -> bool {
    file_of(pid, 1).is_some_and(|file| file.mode() & libc::S_IFMT == libc::S_IFIFO)
}

/// Tells whether a process has made a terminal for others.
pub(super) fn has_inner_terminal(pid: i32) -> bool {
    let open = fs::read_dir(folder(pid).join("fd")).into_iter().flatten().flatten().take(MOST_OPEN);
    let mut devices = open.filter_map(|fd| fs::metadata(fd.path()).ok().map(|file| file.rdev()));
    devices.any(|device| (libc::major(device), libc::minor(device)) == DEV_PTMX)
}

/// Returns the modes of a terminal that a process has open as its input.
pub(super) fn input_mode(pid: i32) -> Option<InputMode> {
    let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
    let open = fs::File::options().read(true).custom_flags(flags).open(folder(pid).join("fd/0"));
    InputMode::of(open.ok()?).ok()
}

/// Parses a line of `/proc/PID/syscall` and returns the descriptor being read.
fn read_from(call: &str) -> Option<u32> {
    let mut words = call.split_ascii_whitespace();
    let number: libc::c_long = words.next()?.parse().ok()?;
    let fd = words.next()?.strip_prefix("0x")?;
    READS.contains(&number).then(|| u32::from_str_radix(fd, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_read_system_call_is_told_from_other_calls() {
        for (number, fd) in [("0", Some(10)), ("19", Some(10)), ("275", Some(10)), ("1", None), ("232", None)]
        {
            let call = format!("{number} 0xa 0x7f9d4fa63000 0x20000 0x0 0x0 0x0 0x7ffc 0x7f9d");
            assert_eq!(read_from(&call), fd, "{call}");
        }
        for other in ["running", "0", ""] {
            assert_eq!(read_from(other), None, "{other}");
        }
    }
}

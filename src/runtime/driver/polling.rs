//! Detects whether a process waits for its terminal in `poll`, `select` or `epoll` without a timeout: from
//! `/proc/PID/task/TID/syscall`, the descriptors it names, and for `epoll` from `/proc/PID/fdinfo`.
//!
//! If the descriptors are listed in the process's memory, they are read from `/proc/PID/mem`. The kernel lets a user
//! inspect their own processes; where it does not (another user's program, a hardened kernel), no wait is reported.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::terminal_reads::{DEV_TTY, folder};
use crate::process::ProcessTable;

/// Threads inspected per process.
const MOST_THREADS: usize = 64;
/// Descriptors inspected per wait.
const MOST_FDS: usize = 1_024;
/// `POLLIN` and `EPOLLIN`.
const IN: u32 = 1;
/// The size of a `struct pollfd`, in bytes: the descriptor, the requested events, the returned events.
const POLLFD: usize = 8;

/// Tells whether a thread of the process waits for its controlling terminal to become readable, without a timeout.
pub(super) fn polls_tty(pid: i32, processes: &ProcessTable) -> bool {
    let process = folder(pid);
    let Some(terminal) = processes.terminal(pid) else { return false };
    let is_terminal = |fd: &u32| {
        let device = fs::metadata(process.join("fd").join(fd.to_string())).map(|file| file.rdev());
        device
            .map(|device| (libc::major(device), libc::minor(device)))
            .is_ok_and(|device| device == terminal || device == DEV_TTY)
    };
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten().take(MOST_THREADS);
    let mut waits = threads.filter_map(|thread| {
        let call = fs::read_to_string(thread.path().join("syscall")).ok()?;
        Wait::parse(&call)?.descriptors(&process)
    });
    waits.any(|descriptors| descriptors.iter().take(MOST_FDS).any(is_terminal))
}

/// A wait for one of several descriptors, without a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// On the descriptors of this `epoll`.
    Epoll(u32),
    /// On `count` `struct pollfd` entries at this address.
    Poll { at: u64, count: u64 },
    /// On the descriptors below `count` whose bit is set at this address.
    Select { at: u64, count: u64 },
}

impl Wait {
    /// Parses a line of `/proc/PID/syscall`: the system call's number and its six arguments.
    fn parse(call: &str) -> Option<Self> {
        let mut words = call.split_ascii_whitespace();
        let number: libc::c_long = words.next()?.parse().ok()?;
        let args: Vec<u64> =
            words.take(6).map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
        let &[first, second, third, fourth, fifth, _] = &args[..] else { return None };
        // A number of milliseconds; only the lower half of the register counts.
        let is_endless = |ms: u64| ms & 0xffff_ffff == 0xffff_ffff;
        match number {
            libc::SYS_epoll_pwait if is_endless(fourth) => Some(Self::Epoll(u32::try_from(first).ok()?)),
            libc::SYS_epoll_pwait2 if fourth == 0 => Some(Self::Epoll(u32::try_from(first).ok()?)),
            libc::SYS_ppoll if third == 0 => Some(Self::Poll { at: first, count: second }),
            libc::SYS_pselect6 if fifth == 0 => Some(Self::Select { at: second, count: first }),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait if is_endless(fourth) => Some(Self::Epoll(u32::try_from(first).ok()?)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll if is_endless(third) => Some(Self::Poll { at: first, count: second }),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select if fifth == 0 => Some(Self::Select { at: second, count: first }),
            _ => None,
        }
    }

    /// Returns the descriptors that the wait watches for readability.
    fn descriptors(self, process: &Path) -> Option<Vec<u32>> {
        match self {
            Self::Epoll(epoll) => {
                let info = fs::read_to_string(process.join("fdinfo").join(epoll.to_string())).ok()?;
                Some(info.lines().filter_map(target).collect())
            }
            Self::Poll { at, count } => {
                let bytes = memory(process, at, usize::try_from(count).ok()?.min(MOST_FDS) * POLLFD)?;
                Some(bytes.chunks_exact(POLLFD).filter_map(parse_pollfd).collect())
            }
            Self::Select { at, count } => {
                let count = u32::try_from(count).ok()?.min(1_024);
                let bits = memory(process, at, count.div_ceil(8) as usize)?;
                let is_set =
                    |fd: &u32| bits.get((fd / 8) as usize).is_some_and(|byte| byte >> (fd % 8) & 1 == 1);
                Some((0..count).filter(is_set).collect())
            }
        }
    }
}

/// Parses a line of an epoll's `fdinfo`: `tfd:       18 events:       19 data: …`.
fn target(line: &str) -> Option<u32> {
    let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
    let fd = words.next()?.parse().ok()?;
    let events = words.nth(1).and_then(|events| u32::from_str_radix(events, 16).ok())?;
    (events & IN != 0).then_some(fd)
}

/// Parses a `struct pollfd`.
fn parse_pollfd(bytes: &[u8]) -> Option<u32> {
    let fd = i32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
    let events = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    u32::try_from(fd).ok().filter(|_| u32::from(events) & IN != 0)
}

fn memory(process: &Path, at: u64, length: usize) -> Option<Vec<u8>> {
    let path: PathBuf = process.join("mem");
    let mut bytes = vec![0; length];
    File::open(path).ok()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_wait_without_an_end_is_told_from_one_with_a_time() {
        let node = "281 0xe 0x7fff2338fe10 0x400 0xffffffff 0x0 0x8 0x7fff2338f0b0 0x7f80e9926cae";
        assert_eq!(Wait::parse(node), Some(Wait::Epoll(14)));
        let poll = "7 0x55d0 0x2 0xffffffffffffffff 0x0 0x0 0x0 0x7ffe 0x7f12";
        assert_eq!(Wait::parse(poll), Some(Wait::Poll { at: 0x55d0, count: 2 }));
        let select = "270 0x1 0x7ffe10 0x0 0x0 0x0 0x7ffe20 0x7ffe 0x7f12";
        assert_eq!(Wait::parse(select), Some(Wait::Select { at: 0x7f_fe10, count: 1 }));
        for other in [
            "281 0xe 0x7fff2338fe10 0x400 0x3e8 0x0 0x8 0x7fff2338f0b0 0x7f80e9926cae",
            "7 0x55d0 0x2 0x64 0x0 0x0 0x0 0x7ffe 0x7f12",
            "270 0x1 0x7ffe10 0x0 0x0 0x7ffe30 0x7ffe20 0x7ffe 0x7f12",
            "0 0x0 0x7f9d4fa63000 0x20000 0x0 0x0 0x0 0x7ffc 0x7f9d",
            "running",
            "-1 0x7ffe 0x7f12",
            "",
        ] {
            assert_eq!(Wait::parse(other), None, "{other}");
        }
    }

    #[test]
    fn descriptors_polled_for_input_are_read_from_fdinfo_and_pollfd() {
        assert_eq!(
            target("tfd:       18 events:       19 data:               12  pos:0 ino:3 sdev:1a"),
            Some(18)
        );
        assert_eq!(
            target("tfd:       18 events:       14 data:               12  pos:0 ino:3 sdev:1a"),
            None
        );
        assert_eq!(target("pos:\t0"), None);
        let pollfd = |fd: i32, events: u16| [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &[0, 0]].concat();
        assert_eq!(
            (parse_pollfd(&pollfd(4, 1)), parse_pollfd(&pollfd(4, 4)), parse_pollfd(&pollfd(-1, 1))),
            (Some(4), None, None)
        );
    }
}

//! Detects whether a process waits for a terminal in `poll`, `select` or `epoll`: from
//! `/proc/PID/task/TID/syscall`, the descriptors it names, and for `epoll` from `/proc/PID/fdinfo`.
//!
//! If the descriptors are listed in the process's memory, they are read from `/proc/PID/mem`. The kernel lets a user
//! inspect their own processes; where it does not (another user's program, a hardened kernel), no wait is reported.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::terminal_reads::{Device, folder, leads_to, read_file, threads};
use crate::process::ProcessTable;

/// Descriptors inspected per wait.
const MOST_FDS: usize = 1_024;
/// `POLLIN` and `EPOLLIN`.
const IN: u32 = 1;
/// The size of a `struct pollfd`, in bytes: the descriptor, the requested events, the returned events.
const POLLFD: usize = 8;

/// A wait until a terminal becomes readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TerminalPoll {
    /// Whether it has no timeout.
    pub(super) is_endless: bool,
    /// Whether it is for nothing but the terminal.
    pub(super) is_alone: bool,
}

/// Returns the wait of a thread of the process for the terminal to become readable.
pub(super) fn poll_of(pid: i32, device: Device, processes: &ProcessTable) -> Option<TerminalPoll> {
    threads(pid).find_map(|thread| {
        let (wait, is_endless) = Wait::parse(&read_file(&thread.join("syscall")).ok()?)?;
        let descriptors = wait.descriptors(&folder(pid))?;
        let leads = |fd: &u32| leads_to(device, pid, *fd, processes);
        let leading = descriptors.iter().take(MOST_FDS).filter(|fd| leads(fd)).count();
        (leading > 0).then_some(TerminalPoll { is_endless, is_alone: leading == descriptors.len() })
    })
}

/// A wait for one of several descriptors.
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
    /// Parses a line of `/proc/PID/syscall`: the system call's number and its six arguments. Tells also whether the wait
    /// is without a timeout.
    fn parse(call: &str) -> Option<(Self, bool)> {
        let mut words = call.split_ascii_whitespace();
        let number: libc::c_long = words.next()?.parse().ok()?;
        let args: Vec<u64> =
            words.take(6).map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
        let &[first, second, third, fourth, fifth, _] = &args[..] else { return None };
        // A number of milliseconds; only the lower half of the register counts.
        let is_endless = |ms: u64| ms & 0xffff_ffff == 0xffff_ffff;
        let epoll = || u32::try_from(first).ok().map(Self::Epoll);
        let (poll, select) =
            (Self::Poll { at: first, count: second }, Self::Select { at: second, count: first });
        Some(match number {
            libc::SYS_epoll_pwait => (epoll()?, is_endless(fourth)),
            libc::SYS_epoll_pwait2 => (epoll()?, fourth == 0),
            libc::SYS_ppoll => (poll, third == 0),
            libc::SYS_pselect6 => (select, fifth == 0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => (epoll()?, is_endless(fourth)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => (poll, is_endless(third)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => (select, fifth == 0),
            _ => return None,
        })
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
    let mut bytes = vec![0; length];
    File::open(process.join("mem")).ok()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_wait_without_an_end_is_told_from_one_with_a_time() {
        let select = |at, count| Wait::Select { at, count };
        for (call, wait) in [
            ("281 0xe 0x7fff2338fe10 0x400 0xffffffff 0x0 0x8 0x7fff", (Wait::Epoll(14), true)),
            ("281 0xe 0x7fff2338fe10 0x400 0x3e8 0x0 0x8 0x7fff 0x7f80", (Wait::Epoll(14), false)),
            (
                "7 0x55d0 0x2 0xffffffffffffffff 0x0 0x0 0x0 0x7ffe 0x7f12",
                (Wait::Poll { at: 0x55d0, count: 2 }, true),
            ),
            ("7 0x55d0 0x2 0x64 0x0 0x0 0x0 0x7ffe 0x7f12", (Wait::Poll { at: 0x55d0, count: 2 }, false)),
            ("270 0x1 0x7ffe10 0x0 0x0 0x0 0x7ffe20 0x7ffe 0x7f12", (select(0x7f_fe10, 1), true)),
            ("270 0x1 0x7ffe10 0x0 0x0 0x7ffe30 0x7ffe20 0x7ffe 0x7f12", (select(0x7f_fe10, 1), false)),
        ] {
            assert_eq!(Wait::parse(call), Some(wait), "{call}");
        }
        for other in
            ["0 0x0 0x7f9d4fa63000 0x20000 0x0 0x0 0x0 0x7ffc 0x7f9d", "running", "-1 0x7ffe 0x7f12", ""]
        {
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

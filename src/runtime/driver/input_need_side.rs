//! Detects, from kernel state, programs that ask for input on the terminal beside a command's streams.
//!
//! Only a program that asks reads such a terminal, and only such a program turns its echo off. Therefore more counts
//! as a wait here than on a command's own terminal: a read in raw mode, a reader in any thread, a reader outside the
//! foreground group (the pinentry of an agent in the background), and, while echo is off, a program that the kernel
//! does not let us inspect (sudo).

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;

use jiff::Timestamp;

use super::polling::polls_tty;
use super::terminal_reads::{DEV_TTY, TTY_SLEEPS, folder};
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::ProcessTable;
use crate::runtime::bytes::TaskIo;

/// Threads inspected per process.
const MOST_THREADS: usize = 64;
/// Length limit of a program's name, in characters.
const NAME_CHARS: usize = 32;

/// Inspects the terminal beside a task's streams; `since` is when the task last wrote.
pub(super) fn observe(io: &TaskIo, since: Timestamp, processes: &ProcessTable) -> Option<InputWait> {
    let pty = io.pty.get()?;
    let (mode, group, device) = (pty.input_mode().ok()?, pty.foreground_group()?, pty.device()?);
    let is_hidden = !mode.echo;
    let reader = processes.members(group).find(|pid| reads(*pid, device));
    let hidden = || processes.members(group).find(|pid| is_closed(*pid));
    let elsewhere = || processes.pids().find(|pid| reads(*pid, device));
    let reader =
        reader.or_else(|| is_hidden.then(hidden).flatten()).or_else(|| is_hidden.then(elsewhere).flatten());
    let poller = || processes.members(group).find(|pid| io.asks() && polls_tty(*pid, processes));
    let (pid, polls) = match reader {
        Some(reader) => (reader, false),
        None => (poller()?, true),
    };
    let (kind, evidence) = match (is_hidden, mode.canonical, polls) {
        (true, true, _) => (InputNeed::Secret, InputEvidence::EchoOff),
        (true, false, false) if io.asks() => (InputNeed::Secret, InputEvidence::EchoOff),
        (false, true, false) => (InputNeed::Line, InputEvidence::TtyRead),
        (_, false, false) => (InputNeed::Key, InputEvidence::TtyRead),
        (_, _, true) => (InputNeed::Line, InputEvidence::TtyPoll),
    };
    Some(InputWait { kind, evidence, since, program: name(pid) })
}

/// Returns a program's name as reported by the kernel.
fn name(pid: i32) -> Option<String> {
    let name = fs::read_to_string(folder(pid).join("comm")).ok()?;
    let name: String = name.trim().chars().filter(|char| !char.is_control()).take(NAME_CHARS).collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Tells whether the kernel denies us access to a process's system call.
fn is_closed(pid: i32) -> bool {
    let call = fs::read_to_string(folder(pid).join("syscall"));
    call.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Tells whether a thread of the process sleeps in a read of the terminal.
fn reads(pid: i32, device: u64) -> bool {
    let process = folder(pid);
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten().take(MOST_THREADS);
    let mut fds = threads.filter_map(|thread| {
        let of = |name: &str| fs::read_to_string(thread.path().join(name)).ok();
        of("wchan").filter(|function| TTY_SLEEPS.contains(&function.trim()))?;
        read_from(&of("syscall")?)
    });
    fds.any(|fd| {
        let opened = fs::metadata(process.join("fd").join(fd.to_string())).map(|file| file.rdev());
        opened.is_ok_and(|opened| opened == device || (libc::major(opened), libc::minor(opened)) == DEV_TTY)
    })
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

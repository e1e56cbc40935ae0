//! The process tree below a process, read from `/proc`. Finds and signals processes; never reaps them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, test_kill_process, waitid,
};

use crate::model::Signal;

/// A tree that still grows after this many scans is a fork bomb: continue with what was seen.
pub(super) const MAX_LOOKS: usize = 100;
/// Enough bytes for most files of a process.
const PROC_BYTES: usize = 4 << 10;
/// The flag of a process that has executed no program since it was forked (`PF_FORKNOEXEC`).
const FORKED_ONLY: u64 = 0x40;
/// The process name of a task host: the kernel keeps 15 bytes.
pub(super) const HOST: &str = "pilothouse-host";

/// What is left of a command's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remainder {
    /// Nothing, not even a zombie.
    Nothing,
    /// Processes that can be signalled.
    Endable,
    /// Some that can be signalled, and some that cannot.
    Mixed,
    /// Only processes that cannot be signalled.
    Refusing,
}

/// One process as shown by `/proc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The device number of its terminal; 0 without one.
    pub(super) terminal: i64,
    /// The foreground process group of its terminal; -1 without one.
    pub(super) foreground: i32,
    /// When it started, in clock ticks since boot; together with the pid, its identity.
    pub(super) start: u64,
    pub(super) name: String,
    /// Processor time in clock ticks, including that of children it has waited for.
    pub(super) cpu_ticks: u64,
    /// Processor time of its own threads, in clock ticks.
    pub(super) own_ticks: u64,
    /// Page faults of children it has waited for: no child ends without some.
    pub(super) waited_faults: u64,
    pub(super) threads: u32,
    /// Pages in memory.
    pub(super) rss_pages: u64,
    /// Whether it runs, waits for a processor, or waits for a disk.
    pub(super) is_active: bool,
    /// Whether it has executed no program since it was forked.
    pub(super) is_copy: bool,
    /// Whether its main thread is gone. Other threads, or a parent that does not reap it, may keep it listed.
    pub(super) zombie: bool,
    /// The signal that stopped it, if it is stopped; 0 if the kernel does not say which.
    pub(super) stopped: Option<i32>,
}

impl ProcessEntry {
    /// Reads one process; `None` if it does not exist.
    pub(super) fn read(pid: i32) -> Option<Self> {
        parse(&proc_file(pid, "stat").ok()?)
    }

    /// Describes a process of which `/proc` shows nothing, because it belongs to another user (`hidepid`).
    fn of_hidden(pid: i32, parent: i32) -> Option<Self> {
        let stat = format!("{pid} (hidden) S {parent} 0 0 0 -1{}", " 0".repeat(20));
        parse(stat.as_bytes()).filter(|_| refuses_signals(pid))
    }

    /// Tells whether it is alive: another thread may go on when the main one is gone.
    pub(super) fn is_alive(&self) -> bool {
        !self.zombie || self.threads > 1
    }

    /// Tells whether it exists and does not take signals from this process, because it belongs to another user.
    pub(super) fn refuses_signals(&self) -> bool {
        let is_same = || Self::read(self.pid).map_or(self.start == 0, |now| now.start == self.start);
        refuses_signals(self.pid) && is_same()
    }

    /// Returns its id and its start, which no other process shares.
    pub(super) fn identity(&self) -> (i32, u64) {
        (self.pid, self.start)
    }

    /// Sends a signal to this process, never to another one that has reused its pid.
    pub(super) fn send(&self, signal: Signal) {
        let Some((pid, signal)) =
            Pid::from_raw(self.pid).zip(rustix::process::Signal::from_named_raw(signal.number()))
        else {
            return;
        };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if Self::read(self.pid).is_some_and(|now| now.start == self.start) {
            // Refused (another user's process) or gone: the next scan of the tree shows which.
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

/// Tells whether a process exists and takes no signal from this one.
pub(super) fn refuses_signals(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid) == Err(Errno::PERM))
}

/// Reads a file of a process. Such files report a size of zero, for which the standard library would read in small
/// pieces.
pub(super) fn proc_file(pid: i32, name: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(PROC_BYTES);
    File::open(format!("/proc/{pid}/{name}"))?.take(u64::MAX).read_to_end(&mut text)?;
    Ok(text)
}

/// Parses a line of `/proc/PID/stat`. The name is in parentheses and may contain anything.
fn parse(stat: &[u8]) -> Option<ProcessEntry> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    let count = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(ProcessEntry {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        terminal: fields.get(4)?.parse().ok()?,
        foreground: number(5)?,
        start: fields.get(19)?.parse().ok()?,
        name,
        cpu_ticks: (11..=14).filter_map(&count).sum(),
        own_ticks: (11..=12).filter_map(&count).sum(),
        waited_faults: count(8).unwrap_or(0),
        threads: count(17).and_then(|threads| u32::try_from(threads).ok()).unwrap_or(1),
        rss_pages: count(21).unwrap_or(0),
        is_active: matches!(fields.first(), Some(&("R" | "D"))),
        is_copy: count(6).is_some_and(|flags| flags & FORKED_ONLY != 0),
        zombie: matches!(fields.first(), Some(&("Z" | "X"))),
        stopped: (fields.first() == Some(&"T")).then(|| number(49).unwrap_or(0)),
    })
}

/// Returns the major and minor number of a terminal, of its device number as found in `/proc/PID/stat`; `None` where there
/// is no terminal.
pub(super) fn device_numbers(device: i64) -> Option<(u32, u32)> {
    let device = u32::try_from(device).ok().filter(|device| *device != 0)?;
    Some(((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xf_ff00)))
}

/// Tells whether a child of this process is stopped. Does not consume the status that a wait for the child returns.
pub(super) fn is_stopped(child: u32) -> bool {
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| finds_stopped(WaitId::Pid(pid)))
}

/// Tells whether any child of this process is stopped, like [`is_stopped`].
pub(super) fn is_any_stopped() -> bool {
    finds_stopped(WaitId::All)
}

fn finds_stopped(children: WaitId<'_>) -> bool {
    let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(children, look).is_ok_and(|status| status.is_some())
}

/// Lists every descendant of `root`.
pub(super) fn descendants(root: i32) -> Vec<ProcessEntry> {
    let mut queue = vec![root];
    let mut seen = HashSet::from([root]);
    let mut found = Vec::new();
    while let Some(parent) = queue.pop() {
        for pid in children(parent).into_iter().filter(|pid| seen.insert(*pid)) {
            queue.push(pid);
            found.extend(ProcessEntry::read(pid).or_else(|| ProcessEntry::of_hidden(pid, parent)));
        }
    }
    found
}

/// Lists the children of every thread of a process. A child that exits meanwhile may hide another one from this scan;
/// every caller rescans until nothing changes.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let mut pids = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(text) => pids.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok())),
            // The kernel was built without these files.
            Err(_) if thread.path().exists() => return children_by_parent(pid),
            Err(_) => {}
        }
    }
    pids
}

fn children_by_parent(parent: i32) -> Vec<i32> {
    list_processes()
        .into_iter()
        .filter(|process| process.parent == parent)
        .map(|process| process.pid)
        .collect()
}

/// Lists every process on the machine.
pub(super) fn list_processes() -> Vec<ProcessEntry> {
    pids().into_iter().filter_map(ProcessEntry::read).collect()
}

/// Tells whether a process is `root` or one of its descendants, or has gone meanwhile.
pub(super) fn is_below(pid: i32, root: i32) -> bool {
    let mut at = pid;
    while at > 1 && at != root {
        let Some(process) = ProcessEntry::read(at) else { return true };
        at = process.parent;
    }
    at == root
}

/// Lists the ids of all processes on the machine.
pub(super) fn pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Repeats `look` until two consecutive calls see the same processes.
pub(super) fn repeat_until_stable(look: impl Fn() -> Vec<ProcessEntry>) -> Vec<ProcessEntry> {
    let pids =
        |processes: &[ProcessEntry]| processes.iter().map(|process| process.pid).collect::<HashSet<_>>();
    let mut seen = look();
    for _ in 0..MAX_LOOKS {
        let again = look();
        let same = pids(&again) == pids(&seen);
        seen = again;
        if same {
            break;
        }
    }
    seen
}

/// Tells whether two scans saw the same processes run the same programs, and be active or not alike.
pub(super) fn are_same(before: &[ProcessEntry], after: &[ProcessEntry]) -> bool {
    let states = |processes: &[ProcessEntry]| {
        let state = |process: &ProcessEntry| {
            (process.identity(), process.name.clone(), process.is_active, process.zombie)
        };
        processes.iter().map(state).collect::<HashSet<_>>()
    };
    states(before) == states(after)
}

/// Stops every process that `look` finds, including those started meanwhile, then kills them all: a stopped process
/// cannot start another one or react to the death of its child.
pub(super) fn kill(look: impl Fn() -> Vec<ProcessEntry>) {
    let mut stopped = HashSet::new();
    for _ in 0..MAX_LOOKS {
        let fresh: Vec<ProcessEntry> = look().into_iter().filter(|found| stopped.insert(found.pid)).collect();
        if fresh.is_empty() {
            break;
        }
        fresh.iter().for_each(|process| process.send(Signal::STOP));
    }
    look().iter().for_each(|process| process.send(Signal::KILL));
}

/// Tells what is left of a command that has children, by what can be signalled.
pub(super) fn remainder(processes: &[ProcessEntry]) -> Remainder {
    let alive = || processes.iter().filter(|process| process.is_alive());
    let refusing = alive().filter(|process| process.refuses_signals()).count();
    match refusing {
        0 => Remainder::Endable,
        refusing if refusing == alive().count() => Remainder::Refusing,
        _ => Remainder::Mixed,
    }
}

/// Returns the names of the live processes, at most a thousand.
pub(super) fn names<'a>(processes: impl IntoIterator<Item = &'a ProcessEntry>) -> Vec<String> {
    const MAX_NAMES: usize = 1000;
    let alive = processes.into_iter().filter(|process| !process.zombie);
    alive.take(MAX_NAMES).map(|process| process.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let stat = b"4242 (a) b (c) S 1 4242 4240 34816 4300 4194368 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let process = parse(stat).expect("parses");
        assert_eq!(process.name, "a) b (c");
        assert_eq!((process.pid, process.parent, process.group, process.session), (4242, 1, 4242, 4240));
        assert_eq!((process.cpu_ticks, process.rss_pages, process.threads), (5 + 6 + 7 + 8, 2, 1));
        assert_eq!((process.own_ticks, process.waited_faults), (5 + 6, 2));
        assert_eq!((process.foreground, process.start, process.zombie), (4300, 987_654, false));
        assert_eq!((process.is_active, process.is_copy), (false, true), "4194304 and 64");
    }

    #[test]
    fn a_process_that_is_stopped_says_by_what() {
        let stat = |state: &str, code: &str| {
            let zeros = ["0"; 48].join(" ");
            parse(format!("7 (a) {state} {zeros} {code}").as_bytes()).expect("parses").stopped
        };
        assert_eq!(
            (stat("T", "21"), stat("T", "0"), stat("S", "9"), stat("t", "5")),
            (Some(21), Some(0), None, None)
        );
    }

    #[test]
    fn a_torn_stat_line_is_not_parsed() {
        for bad in ["", "1", "1 (", "1 (x", "1 (x)", "1 (x) S 1", ")("] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn this_process_is_among_all_and_reads_as_itself() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let process = ProcessEntry::read(own).expect("reads");
        assert!(list_processes().iter().any(|found| found.pid == own && found.start == process.start));
        assert!(!process.zombie);
    }
}

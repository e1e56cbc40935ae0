//! What a process hands on to the programs it executes, beside its environment, directory and umask: taken from the
//! process that would have run a command, and given to the command.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::tree::proc_file;
use super::{ResourceLimits, sys};

/// How much the kernel prefers a process when memory runs out.
const OOM_FILE: &str = "/proc/self/oom_score_adj";
/// The most descriptors above the standard streams that can be handed on.
pub const MOST_DESCRIPTORS: usize = 240;

/// What a process hands on. Whatever the kernel does not let a command take over stays as it is in the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InheritedAttributes {
    /// Its resource limits.
    pub limits: ResourceLimits,
    /// Its niceness.
    nice: Option<i32>,
    /// The numbers of the processors it may use.
    processors: Vec<usize>,
    oom_score_adj: Option<i32>,
    /// The signals it ignores, one bit each, from signal 1.
    ignored: u64,
    /// The signals it blocks.
    blocked: u64,
    /// Which of its standard streams are closed.
    closed: [bool; 3],
}

impl InheritedAttributes {
    /// Returns what this process would hand on. Must be called before it changes any of that.
    pub fn own() -> Self {
        let status = proc_file(std::process::id().cast_signed(), "status").unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let bits = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
        };
        let start = sys::at_start();
        let pipe = bit(libc::SIGPIPE);
        let ignored = bits("SigIgn:") & !pipe | if start.ignores_pipe { pipe } else { 0 };
        let processors = sched_getaffinity(None).map_or_else(
            |_| Vec::new(),
            |set| (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).collect(),
        );
        Self {
            limits: ResourceLimits::own(),
            nice: getpriority_process(None).ok(),
            processors,
            oom_score_adj: fs::read_to_string(OOM_FILE).ok().and_then(|text| text.trim().parse().ok()),
            ignored,
            blocked: bits("SigBlk:"),
            closed: start.closed,
        }
    }

    /// Gives all but the signals and streams to this process, which is about to become the command.
    pub(super) fn apply(&self) {
        if !self.processors.is_empty() {
            let mut set = CpuSet::new();
            self.processors
                .iter()
                .filter(|number| **number < CpuSet::MAX_CPU)
                .for_each(|number| set.set(*number));
            let _ = sched_setaffinity(None, &set);
        }
        if let Some(wanted) = self.nice
            && getpriority_process(None) != Ok(wanted)
        {
            let _ = setpriority_process(None, wanted);
        }
        if let Some(wanted) = self.oom_score_adj {
            let _ = fs::write(OOM_FILE, wanted.to_string());
        }
        self.limits.apply();
    }

    /// Gives it the signals and the closed streams, right before it executes a program.
    pub(super) fn close_and_ignore(&self) {
        (1..=sys::SIGNALS)
            .filter(|signal| self.ignored & bit(*signal) != 0)
            .for_each(|signal| sys::ignore(&[signal]));
        if self.blocked != 0 {
            sys::set_blocked(self.blocked);
        }
        sys::close_at_exec(self.closed);
    }
}

/// Returns copies of the descriptors above the standard streams that this process would hand on, with their numbers.
pub fn inherited_descriptors() -> Vec<(i32, OwnedFd)> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let above = numbers.filter(|number| *number > 2);
    let mut found: Vec<_> = above.filter_map(|number| Some((number, sys::copy_handed_on(number)?))).collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

/// Copies descriptors out of the way of the numbers that they are to have.
pub(super) fn moved_above(fds: &[OwnedFd], numbers: &[i32]) -> rustix::io::Result<Vec<OwnedFd>> {
    fds.iter().map(|fd| fcntl_dupfd_cloexec(fd, first_above(numbers))).collect()
}

/// Returns the first number above all of these, and above the standard streams.
pub(super) fn first_above(numbers: &[i32]) -> i32 {
    numbers.iter().copied().max().unwrap_or(2) + 1
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

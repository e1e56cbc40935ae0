//! What a process hands on to the programs it executes, beside its environment, directory and umask: taken from the
//! process that would have run a command, and given to the command.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::{ResourceLimits, sys};

/// How much the kernel prefers a process when memory runs out.
const OOM_FILE: &str = "/proc/self/oom_score_adj";
/// The most descriptors above the standard streams that can be handed on.
pub const MOST_DESCRIPTORS: usize = 240;

/// What a process hands on. Whatever the kernel does not let a command take over stays as it is in the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InheritedAttributes {
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
    /// Returns what this process would hand on. Must be called before it changes its limits, priority or processors.
    pub fn own() -> Self {
        let start = sys::at_start();
        let processors = sched_getaffinity(None).map_or_else(
            |_| Vec::new(),
            |set| (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).collect(),
        );
        Self {
            limits: ResourceLimits::own(),
            nice: getpriority_process(None).ok(),
            processors,
            oom_score_adj: fs::read_to_string(OOM_FILE).ok().and_then(|text| text.trim().parse().ok()),
            ignored: start.ignored,
            blocked: start.blocked,
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
        sys::StartAttributes { closed: self.closed, ignored: self.ignored, blocked: self.blocked }.restore();
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

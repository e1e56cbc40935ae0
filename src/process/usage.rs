//! The current resource usage of a command's whole process tree, read from `/proc`.

use serde::{Deserialize, Serialize};

use super::tree::{self, ProcessEntry};

/// The resource usage of the processes below a task host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time since the start, including processes that have ended.
    pub cpu_ms: u64,
    /// Memory in use; shared memory is counted once per process.
    pub memory_bytes: u64,
    /// Number of live processes.
    pub processes: u32,
}

impl Usage {
    /// Measures the tree below a task host; `None` if it is not visible or the host is gone. Reads a few files per
    /// process.
    pub fn below(host: u32) -> Option<Self> {
        let host = ProcessEntry::read(i32::try_from(host).ok()?)?;
        let processes = tree::descendants(host.pid);
        Some(Self::of(&host, &processes, Scale::of_this_kernel()))
    }

    /// Adds up the usage. The host has reaped processes that detached themselves, so their time is included in its
    /// own.
    fn of(host: &ProcessEntry, processes: &[ProcessEntry], scale: Scale) -> Self {
        let ticks = processes.iter().map(|process| process.cpu_ticks).sum::<u64>() + host.cpu_ticks;
        let alive = processes.iter().filter(|process| !process.zombie);
        let pages = processes.iter().map(|process| process.rss_pages).sum::<u64>();
        Self {
            cpu_ms: ticks.saturating_mul(1_000) / scale.ticks_per_second.max(1),
            memory_bytes: pages.saturating_mul(scale.page_bytes),
            processes: u32::try_from(alive.count()).unwrap_or(u32::MAX),
        }
    }
}

/// The units the kernel counts in.
#[derive(Clone, Copy)]
struct Scale {
    ticks_per_second: u64,
    page_bytes: u64,
}

impl Scale {
    fn of_this_kernel() -> Self {
        Self {
            ticks_per_second: rustix::param::clock_ticks_per_second(),
            page_bytes: rustix::param::page_size() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(cpu_ticks: u64, rss_pages: u64, zombie: bool) -> ProcessEntry {
        let own = i32::try_from(std::process::id()).expect("a pid");
        ProcessEntry { cpu_ticks, rss_pages, zombie, ..ProcessEntry::read(own).expect("reads") }
    }

    #[test]
    fn the_tree_counts_and_the_host_only_for_what_it_has_waited_for() {
        let scale = Scale { ticks_per_second: 100, page_bytes: 4_096 };
        let processes = [process(150, 10, false), process(25, 0, true)];
        let usage = Usage::of(&process(5, 99, false), &processes, scale);
        assert_eq!(usage, Usage { cpu_ms: 1_800, memory_bytes: 40_960, processes: 1 });
    }

    #[test]
    fn a_process_that_is_not_there_uses_nothing_known() {
        assert_eq!(Usage::below(u32::MAX), None);
        assert!(Usage::below(std::process::id()).is_some());
    }
}

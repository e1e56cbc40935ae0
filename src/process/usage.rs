//! The current resource usage of a command's process tree, as a whole and by process, read from `/proc`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read as _;

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

/// The most processes of a task that are listed one by one.
const MOST_LISTED: usize = 64;

/// The most bytes of a command line that are read.
const LINE_BYTES: u64 = 256;

/// The resource usage of one process of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// Its id.
    pub pid: i32,
    /// Number of its ancestors below the task host.
    pub depth: usize,
    /// Its command line, at most 256 bytes of it; its name if it has none. The text is the process's own.
    pub command: String,
    /// Processor time of its own threads, in milliseconds.
    pub cpu_ms: u64,
    /// Memory in use, in bytes.
    pub memory_bytes: u64,
}

impl ProcessUsage {
    /// Lists the live processes below a task host, each parent before its children, at most 64 of them. Empty if they
    /// are not visible.
    pub fn below(host: u32) -> Vec<Self> {
        let Ok(host) = i32::try_from(host) else { return Vec::new() };
        let scale = Scale::of_this_kernel();
        let live = tree::descendants(host).into_iter().filter(|process| !process.zombie).collect();
        let ordered = in_order(host, live).into_iter().take(MOST_LISTED);
        ordered.map(|(depth, process)| Self::of(depth, &process, command_line(&process), scale)).collect()
    }

    fn of(depth: usize, process: &ProcessEntry, command: String, scale: Scale) -> Self {
        Self {
            pid: process.pid,
            depth,
            command,
            cpu_ms: process.own_ticks.saturating_mul(1_000) / scale.ticks_per_second.max(1),
            memory_bytes: process.rss_pages.saturating_mul(scale.page_bytes),
        }
    }
}

/// Returns the processes as a walk through their tree, siblings by age, each with its depth. One whose parent is not
/// among them counts as a child of the root.
fn in_order(root: i32, mut processes: Vec<ProcessEntry>) -> Vec<(usize, ProcessEntry)> {
    processes.sort_by_key(|process| (process.start, process.pid));
    let pids: HashSet<i32> = processes.iter().map(|process| process.pid).collect();
    let mut children: HashMap<i32, Vec<ProcessEntry>> = HashMap::new();
    for process in processes.into_iter().rev() {
        let parent = if pids.contains(&process.parent) { process.parent } else { root };
        children.entry(parent).or_default().push(process);
    }
    let below = |pid: i32, depth: usize, children: &mut HashMap<i32, Vec<ProcessEntry>>| {
        children.remove(&pid).unwrap_or_default().into_iter().map(move |process| (depth, process))
    };
    let mut waiting: Vec<(usize, ProcessEntry)> = below(root, 0, &mut children).collect();
    let mut ordered = Vec::new();
    while let Some((depth, process)) = waiting.pop() {
        waiting.extend(below(process.pid, depth + 1, &mut children));
        ordered.push((depth, process));
    }
    ordered
}

/// Returns the beginning of a process's command line; its name if it has none.
fn command_line(process: &ProcessEntry) -> String {
    let mut line = Vec::new();
    let file = File::open(format!("/proc/{}/cmdline", process.pid));
    let _ = file.and_then(|file| file.take(LINE_BYTES).read_to_end(&mut line));
    let text = String::from_utf8_lossy(&line).replace('\0', " ");
    let text = text.trim();
    if text.is_empty() { process.name.clone() } else { text.to_owned() }
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
    fn usage_counts_the_tree_and_of_the_host_only_its_reaped_children() {
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

    #[test]
    fn parents_come_before_their_children_and_siblings_by_age() {
        let entry =
            |pid: i32, parent: i32, start: u64| ProcessEntry { pid, parent, start, ..process(0, 0, false) };
        // 40 wears an older id than its parent's child 30; 90's parent has just gone.
        let processes =
            vec![entry(90, 77, 9), entry(30, 20, 5), entry(40, 20, 4), entry(20, 10, 2), entry(50, 10, 8)];
        let walk: Vec<_> =
            in_order(10, processes).into_iter().map(|(depth, process)| (depth, process.pid)).collect();
        assert_eq!(walk, [(0, 20), (1, 40), (1, 30), (0, 50), (0, 90)]);
    }

    #[test]
    fn a_process_is_listed_with_its_own_time_and_the_line_it_was_started_with() {
        let mut child = std::process::Command::new("sleep").arg("600.25").spawn().expect("starts");
        let own = std::process::id();
        let sleeps = || ProcessUsage::below(own).into_iter().find(|found| found.command == "sleep 600.25");
        let found = std::iter::repeat_with(sleeps).take(100_000).flatten().next();
        let _ = child.kill();
        let _ = child.wait();
        let found = found.expect("is listed once it has executed its program");
        assert_eq!((found.pid, found.depth), (i32::try_from(child.id()).expect("a pid"), 0));
    }
}

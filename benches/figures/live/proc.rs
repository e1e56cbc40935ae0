//! What the kernel reports about processes: memory, processor time, children.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

fn file(pid: u32, name: &str) -> String {
    fs::read_to_string(PathBuf::from(format!("/proc/{pid}")).join(name)).unwrap_or_default()
}

/// Resident memory in MiB.
pub(crate) fn resident(pid: u32) -> f64 {
    kib(&file(pid, "status"), "VmRSS:") / 1024.0
}

/// Memory in MiB, counting only this process's share of shared pages.
pub(crate) fn share(pid: u32) -> f64 {
    kib(&file(pid, "smaps_rollup"), "Pss:") / 1024.0
}

fn kib(text: &str, key: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
}

/// The processor time of several processes so far.
pub(crate) fn cpu_all(pids: &[u32]) -> Duration {
    pids.iter().copied().map(cpu).sum()
}

fn cpu(pid: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let spent = threads.filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

/// How often the threads of several processes have slept and woken up so far.
pub(crate) fn wakeups_all(pids: &[u32]) -> f64 {
    let threads = |pid: &u32| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let count = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        kib(&status, "voluntary_ctxt_switches:")
    };
    pids.iter().flat_map(threads).map(count).filter(|count| count.is_finite()).sum()
}

/// The resident memory of several processes together, in MiB.
pub(crate) fn resident_all(pids: &[u32]) -> f64 {
    pids.iter().copied().map(resident).sum()
}

/// Tells whether a process is a task host.
pub(crate) fn is_host(pid: u32) -> bool {
    file(pid, "cmdline").split('\0').nth(1) == Some("__host")
}

pub(crate) fn children(of: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| kib(&file(*pid, "status"), "PPid:") == f64::from(of)).collect()
}

//! What the kernel counted in a task's control group, read when the task has ended.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The counts of one control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupCounts {
    /// How often it was about to run out of the memory it may have.
    pub oom: u64,
    /// How many of its processes were killed because memory ran out, here or on the whole machine.
    pub oom_kill: u64,
    /// How many starts of a process were refused.
    pub refused_forks: u64,
    /// The most memory it had, in bytes, with the files that the kernel keeps in memory for it; since Linux 5.19.
    pub peak: Option<u64>,
}

impl GroupCounts {
    /// Reads the counts; `None` if the group has no controllers.
    pub(super) fn read(group: &Path) -> Option<Self> {
        let text = |name: &str| fs::read_to_string(group.join(name)).ok();
        let (memory, pids) = (text("memory.events"), text("pids.events"));
        memory.as_ref().or(pids.as_ref())?;
        Some(Self::parse(memory.as_deref(), pids.as_deref(), text("memory.peak").as_deref()))
    }

    /// Parses `memory.events`, `pids.events` and `memory.peak`.
    fn parse(memory: Option<&str>, pids: Option<&str>, peak: Option<&str>) -> Self {
        let count = |text: Option<&str>, name: &str| {
            let lines = text.unwrap_or_default().lines();
            let mut found = lines.filter_map(|line| line.split_once(' ')).filter(|(own, _)| *own == name);
            found.next().and_then(|(_, count)| count.trim().parse().ok()).unwrap_or_default()
        };
        Self {
            oom: count(memory, "oom"),
            oom_kill: count(memory, "oom_kill"),
            refused_forks: count(pids, "max"),
            peak: peak.and_then(|peak| peak.trim().parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_kernels_words() {
        let memory = "low 0\nhigh 0\nmax 231\noom 3\noom_kill 2\noom_group_kill 1\n";
        let counts = GroupCounts::parse(Some(memory), Some("max 7\n"), Some("536870912\n"));
        let expected = GroupCounts { oom: 3, oom_kill: 2, refused_forks: 7, peak: Some(512 << 20) };
        assert_eq!(counts, expected);
        assert_eq!(GroupCounts::parse(None, Some("x"), Some("max\n")), GroupCounts::default());
        assert_eq!(GroupCounts::read(Path::new("/proc")), None, "no group");
    }
}

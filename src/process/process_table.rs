//! The machine's processes, read once for however many tasks are looked at.

use std::collections::HashMap;

use super::tree::{self, ProcessEntry};

/// The machine's processes at one moment.
#[derive(Debug)]
pub struct ProcessTable {
    entries: Vec<ProcessEntry>,
    /// The places of each process's children in `entries`.
    children: HashMap<i32, Vec<usize>>,
}

impl ProcessTable {
    /// Reads one file of each process.
    pub fn scan() -> Self {
        Self::of(tree::all())
    }

    fn of(entries: Vec<ProcessEntry>) -> Self {
        let mut children: HashMap<i32, Vec<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            children.entry(entry.parent).or_default().push(at);
        }
        Self { entries, children }
    }

    /// Returns the ids of all processes.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.entries.iter().map(|entry| entry.pid)
    }

    /// Returns the ids of the processes in a process group.
    pub fn members(&self, group: u32) -> impl Iterator<Item = i32> {
        let is_member = move |entry: &&ProcessEntry| i64::from(entry.group) == i64::from(group);
        self.entries.iter().filter(is_member).map(|entry| entry.pid)
    }

    /// Lists every descendant of `root`.
    pub(super) fn below(&self, root: i32) -> Vec<ProcessEntry> {
        let (mut found, mut queue) = (Vec::new(), vec![root]);
        while let Some(parent) = queue.pop() {
            for entry in
                self.children.get(&parent).into_iter().flatten().filter_map(|at| self.entries.get(*at))
            {
                // Read one after another, entries of process ids that were used again could form a circle.
                if found.len() < self.entries.len() {
                    queue.push(entry.pid);
                    found.push(entry.clone());
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: i32, parent: i32, group: i32) -> ProcessEntry {
        let own = i32::try_from(std::process::id()).expect("a pid");
        ProcessEntry { pid, parent, group, ..ProcessEntry::read(own).expect("reads") }
    }

    fn pids(mut found: Vec<ProcessEntry>) -> Vec<i32> {
        found.sort_by_key(|entry| entry.pid);
        found.iter().map(|entry| entry.pid).collect()
    }

    #[test]
    fn a_table_finds_the_tree_below_a_process_and_the_members_of_a_group() {
        let table =
            ProcessTable::of(vec![entry(10, 1, 10), entry(11, 10, 11), entry(12, 11, 11), entry(13, 1, 13)]);
        assert_eq!(pids(table.below(10)), [11, 12]);
        assert_eq!(pids(table.below(1)), [10, 11, 12, 13]);
        assert!(table.below(13).is_empty());
        assert_eq!(table.members(11).collect::<Vec<_>>(), [11, 12]);
    }

    #[test]
    fn a_circle_comes_to_an_end() {
        let table = ProcessTable::of(vec![entry(10, 11, 10), entry(11, 10, 11)]);
        assert_eq!(table.below(10).len(), 2);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let table = ProcessTable::scan();
        let parent = ProcessEntry::read(own).expect("reads").parent;
        assert!(table.pids().any(|pid| pid == own));
        assert!(parent == 0 || pids(table.below(parent)).contains(&own));
    }
}

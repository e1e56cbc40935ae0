//! The machine's processes, read once for however many tasks are looked at.

use std::collections::{HashMap, HashSet};

use super::tree::{self, ProcessEntry};

/// The machine's processes at one moment.
#[derive(Debug)]
pub struct ProcessTable {
    entries: Vec<ProcessEntry>,
    /// The places of each process's children in `entries`.
    children: HashMap<i32, Vec<usize>>,
}

impl ProcessTable {
    /// Reads all of them, one file of each.
    pub fn scan() -> Self {
        Self::of(tree::list_processes())
    }

    pub(super) fn of(entries: Vec<ProcessEntry>) -> Self {
        let mut children: HashMap<i32, Vec<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            children.entry(entry.parent).or_default().push(at);
        }
        Self { entries, children }
    }

    /// Returns what was read of each process.
    pub(super) fn into_entries(self) -> impl Iterator<Item = ProcessEntry> {
        self.entries.into_iter()
    }

    /// Returns the ids of all processes.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.entries.iter().map(|entry| entry.pid)
    }

    /// Returns the ids of the processes in a process group.
    pub fn members(&self, group: u32) -> impl Iterator<Item = i32> {
        self.entries.iter().filter(move |entry| is_in(entry, group)).map(|entry| entry.pid)
    }

    /// Returns the major and minor number of a process's terminal.
    pub fn terminal(&self, pid: i32) -> Option<(u32, u32)> {
        let entry = self.entries.iter().find(|entry| entry.pid == pid);
        entry.and_then(|entry| tree::device_numbers(entry.terminal))
    }

    /// Returns the number of threads in a process group.
    pub fn threads(&self, group: u32) -> usize {
        self.entries.iter().filter(|entry| is_in(entry, group)).map(|entry| entry.threads as usize).sum()
    }

    /// Returns the processor time of a process group, in clock ticks, and a number that grows when its children end.
    pub fn work(&self, group: u32) -> (u64, u64) {
        let members = self.entries.iter().filter(|entry| is_in(entry, group));
        members.fold((0, 0), |(ticks, faults), entry| (ticks + entry.own_ticks, faults + entry.waited_faults))
    }

    /// Returns the processes below one that have a terminal other than its own, and that terminal's numbers.
    pub fn inner_terminals(&self, pid: i32) -> impl Iterator<Item = (i32, (u32, u32))> {
        let own = self.terminal(pid);
        let below = self.below([pid]).into_iter();
        let inner = below.filter_map(|entry| Some((entry.pid, tree::device_numbers(entry.terminal)?)));
        inner.filter(move |(_, terminal)| Some(*terminal) != own)
    }

    /// Lists every descendant of these processes, and none of the processes themselves.
    pub(super) fn below(&self, roots: impl IntoIterator<Item = i32>) -> Vec<ProcessEntry> {
        let mut queue: Vec<i32> = roots.into_iter().collect();
        // Entries were read one after another: where a process id was used again meanwhile, they may form a circle.
        let mut seen: HashSet<i32> = queue.iter().copied().collect();
        let mut found = Vec::new();
        while let Some(parent) = queue.pop() {
            let children = self.children.get(&parent).into_iter().flatten();
            for child in
                children.filter_map(|at| self.entries.get(*at)).filter(|child| seen.insert(child.pid))
            {
                queue.push(child.pid);
                found.push(child.clone());
            }
        }
        found
    }
}

fn is_in(entry: &ProcessEntry, group: u32) -> bool {
    i64::from(entry.group) == i64::from(group)
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
        let table = ProcessTable::of(vec![
            entry(10, 1, 10),
            entry(11, 10, 11),
            entry(12, 11, 11),
            ProcessEntry { threads: 3, ..entry(13, 1, 13) },
        ]);
        assert_eq!(pids(table.below([10])), [11, 12]);
        assert_eq!(pids(table.below([1])), [10, 11, 12, 13]);
        assert_eq!(pids(table.below([10, 1])), [11, 12, 13], "a root is not below another");
        assert!(table.below([13]).is_empty());
        assert_eq!(table.members(11).collect::<Vec<_>>(), [11, 12]);
        assert_eq!(table.threads(13), 3);
    }

    #[test]
    fn a_circle_comes_to_an_end() {
        let table = ProcessTable::of(vec![entry(10, 11, 10), entry(11, 10, 11)]);
        assert_eq!(pids(table.below([10])), [11]);
    }

    #[test]
    fn a_process_has_the_terminal_of_its_entry() {
        let at = |pid, terminal| ProcessEntry { terminal, ..entry(pid, 1, 7) };
        let table = ProcessTable::of(vec![at(7, 34_816), at(8, 0)]);
        assert_eq!(table.terminal(7), Some((136, 0)));
        assert_eq!((table.terminal(8), table.terminal(9)), (None, None));
        let table = ProcessTable::of(vec![at(7, 34_816), ProcessEntry { parent: 7, ..at(8, 34_817) }]);
        assert_eq!(table.inner_terminals(7).collect::<Vec<_>>(), [(8, (136, 1))]);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let table = ProcessTable::scan();
        let parent = ProcessEntry::read(own).expect("reads").parent;
        assert!(table.pids().any(|pid| pid == own));
        assert!(parent == 0 || pids(table.below([parent])).contains(&own));
    }
}

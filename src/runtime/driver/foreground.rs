//! What the processes in a terminal's foreground do: cheap enough to be asked every few seconds of a task's life. While that
//! stays the same, a whole look would find what the last one has found.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use super::terminal_reads::{folder, open_file, read_file};
use crate::process::ProcessTable;

/// Processes that are followed per task.
const MOST: usize = 8;
/// Bytes read of how often a process has had a processor.
const TURN_BYTES: usize = 64;

/// The processes in a terminal's foreground.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreground {
    group: u32,
    processes: Vec<FollowedProcess>,
}

/// A process and what it does. One that has had no processor since does the same.
#[derive(Debug, Clone)]
struct FollowedProcess {
    pid: i32,
    /// Its `schedstat`, kept open, and what was in it.
    turns: Option<(Arc<File>, Vec<u8>)>,
    activity: Option<String>,
}

impl Foreground {
    /// Reads those of a process group.
    pub(super) fn of(group: u32, processes: &ProcessTable) -> Self {
        Self { group, processes: processes.members(group).take(MOST).map(FollowedProcess::of).collect() }
    }

    /// Tells whether another group has the terminal now, or a process does something else than before.
    pub(super) fn has_moved(&self, group: Option<u32>) -> bool {
        let moved = |one: &FollowedProcess| one.has_run() && activity(one.pid) != one.activity;
        Some(self.group) != group || self.processes.iter().any(moved)
    }

    /// Tells whether there are the same processes now, and no thread of them has had a processor since.
    pub(super) fn is_still(&self, group: u32, processes: &ProcessTable) -> bool {
        let followed = || self.processes.iter().map(|one| one.pid);
        self.group == group
            && processes.members(group).eq(followed())
            && processes.threads(group) == followed().count()
            && !self.processes.iter().any(FollowedProcess::has_run)
    }
}

impl FollowedProcess {
    fn of(pid: i32) -> Self {
        let turns = open_file(pid, "schedstat").and_then(|file| Some((read_turns(&file)?, file)));
        Self { pid, turns: turns.map(|(read, file)| (Arc::new(file), read)), activity: activity(pid) }
    }

    fn has_run(&self) -> bool {
        self.turns.as_ref().is_none_or(|(file, before)| read_turns(file).as_ref() != Some(before))
    }
}

fn read_turns(file: &File) -> Option<Vec<u8>> {
    let mut bytes = vec![0; TURN_BYTES];
    let length = file.read_at(&mut bytes, 0).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

/// Returns a process's state and system call, or its processor time where the kernel does not show us the call; `None` if
/// it has ended.
fn activity(pid: i32) -> Option<String> {
    let stat = read_file(&folder(pid).join("stat")).ok()?;
    let call = read_file(&folder(pid).join("syscall")).ok();
    summary(&stat, call.as_deref())
}

/// Of a call's arguments, only the first counts: a timeout may be among the others. The last two words are where it was
/// made.
fn summary(stat: &str, call: Option<&str>) -> Option<String> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let state = fields.first()?;
    let Some(call) = call else { return Some([*state, fields.get(11)?, fields.get(12)?].join(" ")) };
    let words: Vec<&str> = call.split_ascii_whitespace().collect();
    let place = words.iter().skip(2).rev().take(2);
    Some(
        std::iter::once(state)
            .chain(words.iter().take(2))
            .chain(place)
            .copied()
            .collect::<Vec<_>>()
            .join(" "),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn what_a_process_does_is_its_state_and_its_call_without_the_timeout() {
        let stat = "7 (a) b) S 1 7 7 34816 7 4194304 1 2 3 4 15 16 7 8 20 0 1 0 9";
        let waits =
            |ms: &str| summary(stat, Some(&format!("281 0xe 0x7ff 0x400 {ms} 0x0 0x8 0x7fff 0x7f80\n")));
        assert_eq!(waits("0x3e8"), Some("S 281 0xe 0x7f80 0x7fff".to_owned()));
        assert_eq!(waits("0x3e8"), waits("0x3e7"));
        let reads = summary(stat, Some("0 0x0 0x7f9 0x200 0x0 0x0 0x0 0x7ffc 0x7f9d"));
        assert!(reads != waits("0x3e8") && reads != summary(&stat.replace(" S ", " T "), Some("0 0x0")));
        assert_eq!(summary(stat, Some("running\n")), Some("S running".to_owned()));
        assert_eq!(summary(stat, None), Some("S 15 16".to_owned()));
    }

    #[test]
    fn a_process_that_was_stopped_or_has_ended_has_moved() {
        let mut child =
            std::process::Command::new("sleep").arg("60").process_group(0).spawn().expect("starts");
        let group = child.id();
        let look = || Foreground::of(group, &ProcessTable::scan());
        let still = |before: &Foreground| before.is_still(group, &ProcessTable::scan());
        let settled = std::iter::repeat_with(look).find(still).expect("it sleeps");
        assert!(!settled.has_moved(Some(group)) && settled.has_moved(Some(group + 1)));
        let stop = rustix::process::Signal::STOP;
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), stop).expect("stops");
        while !settled.has_moved(Some(group)) {}
        assert!(!still(&settled));
        child.kill().and_then(|()| child.wait()).expect("ends");
        assert!(settled.has_moved(Some(group)) && !still(&settled));
    }
}

//! What the processes in a terminal's foreground do, from two files of each: cheap enough to be read every few seconds of
//! a task's life. While that stays the same, a whole look would find what the last one has found.

use super::terminal_reads::{folder, read_file};
use crate::process::ProcessTable;

/// Processes that are followed per task.
const MOST: usize = 4;

/// The processes in a terminal's foreground that wait for none of the others, and what each of them does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Foreground {
    group: Option<u32>,
    processes: Vec<(i32, Option<String>)>,
}

impl Foreground {
    /// Reads those of a process group.
    pub(super) fn of(group: Option<u32>, processes: &ProcessTable) -> Self {
        let leaves = group.into_iter().flat_map(|group| processes.leaves(group)).take(MOST);
        Self { group, processes: leaves.map(|pid| (pid, activity(pid))).collect() }
    }

    /// Tells whether another group has the terminal now, or a process does something else than before.
    pub(super) fn has_moved(&self, group: Option<u32>) -> bool {
        self.group != group || self.processes.iter().any(|(pid, before)| activity(*pid) != *before)
    }
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
    fn a_process_that_has_ended_has_moved() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("starts");
        let pid = i32::try_from(child.id()).expect("a pid");
        let before = Foreground { group: Some(5), processes: vec![(pid, activity(pid))] };
        assert!(before.has_moved(Some(6)));
        child.kill().and_then(|()| child.wait()).expect("ends");
        assert!(before.has_moved(Some(5)));
    }
}

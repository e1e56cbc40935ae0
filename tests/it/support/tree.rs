//! The processes of a program that hosts a runtime: its guards and itself, and how they are killed.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

const KEEPER: &str = "pilothouse-keep\n";

/// The guards above a program, the outermost first, and the program.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) guards: Vec<u32>,
    pub(crate) program: u32,
}

impl Family {
    /// Waits for the family of a running program that was started as `pid`.
    #[track_caller]
    pub(crate) fn of(pid: u32) -> Self {
        let mut found = None;
        super::wait_until("a program below its guards", || {
            found = Self::find(pid);
            found.is_some()
        });
        found.expect("a family")
    }

    /// The same for a program that may be just starting or exiting. A keeper takes its name when the program below it
    /// may already be running.
    pub(crate) fn find(pid: u32) -> Option<Self> {
        let mut guards = Vec::new();
        let mut at = pid;
        while ["pilothouse-wait\n", KEEPER].contains(&name(at).as_str()) {
            guards.push(at);
            // The child in the same session: anything that tasks left behind is in another one.
            let own = session(at);
            at = children(at).into_iter().find(|child| session(*child) == own)?;
        }
        guards.last().is_some_and(|last| name(*last) == KEEPER).then_some(Self { guards, program: at })
    }

    #[track_caller]
    pub(crate) fn keeper(&self) -> u32 {
        *self.guards.last().expect("a keeper")
    }
}

/// The short name of a process, with a line feed; empty if it is gone.
pub(crate) fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default()
}

/// The uids of a process: real, effective, saved and file system; empty if it is gone.
pub(crate) fn users(pid: u32) -> Vec<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    line.split_ascii_whitespace().map(|uid| uid.parse().expect("a uid")).collect()
}

/// All descendants of a process.
pub(crate) fn below(pid: u32) -> Vec<u32> {
    children(pid).into_iter().flat_map(|child| [vec![child], below(child)].concat()).collect()
}

/// The fields of a process's `stat` from its state on; empty if it is gone.
fn fields(pid: u32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_ascii_whitespace().map(str::to_owned).collect()
}

/// The letter of a process's state; `None` if it is gone.
pub(crate) fn state(pid: u32) -> Option<char> {
    fields(pid).first()?.chars().next()
}

/// The parent of a process.
#[track_caller]
pub(crate) fn parent(pid: u32) -> u32 {
    fields(pid).get(1).expect("a process").parse().expect("a pid")
}

fn session(pid: u32) -> Option<String> {
    fields(pid).get(3).cloned()
}

/// Tells whether a process has a controlling terminal.
#[track_caller]
pub(crate) fn has_terminal(pid: u32) -> bool {
    fields(pid).get(4).expect("a process") != "0"
}

/// The direct children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_ascii_whitespace().map(|pid| pid.parse().expect("a pid")).collect::<Vec<_>>()
        })
        .collect()
}

/// Sends a signal; does nothing if the process is gone.
pub(crate) fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    let _ = kill_process(pid, signal);
}

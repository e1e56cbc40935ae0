//! Orphans: processes of tasks whose host is gone. A runtime finds those of one task by their session, their descent
//! and the task id they carry; a guard finds all those directly below it.
//!
//! A guard recognises them by their session. A task host starts its own session, and a process can start a new
//! session but never join an existing one, so nothing that came from a task is ever in the session of the guards and
//! the program. What the program itself starts (for example a clipboard tool that goes into the background) stays in
//! that session and is left alone.
//!
//! A runtime never reaps orphans: they are children of the keeper, or of init if there is no keeper.

use std::collections::HashSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, wait};

use super::cgroup::{self, Cgroup};
use super::environment::TASK_ID;
use super::process_table::ProcessTable;
use super::tree::{self, HOST, ProcessEntry, Remainder};
use super::unended::describe_unended;
use crate::clock::Clock;
use crate::envelope::TaskId;
use crate::model::{Signal, UnendedProcess};

/// How long a killed process may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// How long a process that cannot be signalled may take to end because the others have ended.
const REFUSAL_PATIENCE: Duration = Duration::from_millis(200);
/// How many times the remaining processes are killed again, along with any that were started meanwhile.
const ATTEMPTS: usize = 3;
/// How long task hosts may take to end their trees and write `exit.json` once the program is gone.
const HOSTS_PATIENCE: Duration = Duration::from_secs(2);
/// A process that survives SIGKILL for this long is stuck in the kernel.
const UNKILLABLE_AFTER: Duration = Duration::from_secs(10);
/// The pause between two checks while a guard waits.
const LOOK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// The processes found of one task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orphans {
    /// Names of the processes found.
    pub names: Vec<String>,
    /// The processes that could not be ended.
    pub survivors: Vec<UnendedProcess>,
}

/// Tasks of a dead runtime, which may have left processes behind.
#[derive(Debug)]
pub struct OrphanedTasks {
    /// The tasks, by the id that their processes carry.
    pub tasks: Vec<TaskId>,
    /// When the runtime started, in clock ticks since this boot: older processes are not part of the tasks.
    pub since: u64,
}

impl OrphanedTasks {
    /// Gives their hosts time to end them, then ends what is left; returns what was found, per task. Blocks, usually
    /// for milliseconds, and at most for `patience` plus a few seconds.
    pub fn end(&self, patience: Duration) -> Vec<Orphans> {
        let search = |id: &TaskId| OrphanSearch {
            session: None,
            task_id: Some(id.as_str().to_owned()),
            since: self.since,
            keeper: None,
        };
        let searches: Vec<OrphanSearch> = self.tasks.iter().map(search).collect();
        let found: Vec<Vec<ProcessEntry>> = searches.iter().map(OrphanSearch::look).collect();
        await_gone(&found.concat(), patience);
        let end = |(search, mut found): (&OrphanSearch, Vec<ProcessEntry>)| {
            let left = search.end();
            // A host is not one of the command's processes.
            found.retain(|process| process.name != HOST);
            let is_new = |name: &String| name != HOST && !found.iter().any(|known| known.name == *name);
            let names =
                tree::names(&found).into_iter().chain(left.names.into_iter().filter(is_new)).collect();
            Orphans { names, survivors: left.survivors }
        };
        searches.iter().zip(found).map(end).collect()
    }
}

/// How the processes of a task whose host is gone are recognised.
#[derive(Debug)]
pub(super) struct OrphanSearch {
    /// The shell's session, while the shell is known to be alive: after that, the number may be reused.
    pub(super) session: Option<u32>,
    /// The value of `PILOTHOUSE_TASK_ID`.
    pub(super) task_id: Option<String>,
    /// Older processes are ignored; in clock ticks since boot.
    pub(super) since: u64,
    /// Everything that tasks left to this keeper counts as well, marked or not.
    pub(super) keeper: Option<Pid>,
}

impl OrphanSearch {
    /// Kills the processes found. Blocks, usually for milliseconds and at most for a few seconds.
    pub(super) fn end(&self) -> Orphans {
        let found = tree::repeat_until_stable(|| self.look());
        let groups = self.task_id.as_deref().map(cgroup::of_task).unwrap_or_default();
        groups.iter().for_each(Cgroup::kill);
        let mut left = found.clone();
        for _ in 0..ATTEMPTS {
            if left.is_empty() {
                break;
            }
            tree::kill(|| self.look());
            await_gone(&left, KILL_PATIENCE);
            left = self.left_of(&found);
            if tree::remainder(&left) == Remainder::Refusing {
                break;
            }
        }
        Orphans { names: tree::names(&found), survivors: describe_unended(&left) }
    }

    /// Lists what is there of the processes found before, and what is found now: a process that has lost its parent and
    /// shows its environment to nobody is not found again.
    fn left_of(&self, found: &[ProcessEntry]) -> Vec<ProcessEntry> {
        let mut left = self.look();
        for before in found {
            let is_known = left.iter().any(|known| known.identity() == before.identity());
            let now = ProcessEntry::read(before.pid).filter(|now| now.start == before.start && !now.zombie);
            left.extend(now.filter(|_| !is_known));
        }
        left
    }

    /// Lists the marked processes and all their descendants, but never this process.
    fn look(&self) -> Vec<ProcessEntry> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all: Vec<ProcessEntry> =
            tree::list_processes().into_iter().filter(|found| found.pid != own).collect();
        let mut found: HashSet<i32> =
            all.iter().filter(|process| self.is_marked(process)).map(|process| process.pid).collect();
        if let Some(keeper) = self.keeper {
            found.extend(below_guard(keeper.as_raw_pid(), own).iter().map(|process| process.pid));
        }
        let all = ProcessTable::of(all);
        let below: Vec<i32> = all.below(found.iter().copied()).iter().map(|process| process.pid).collect();
        found.extend(below);
        all.into_entries().filter(|process| found.contains(&process.pid) && !process.zombie).collect()
    }

    fn is_marked(&self, process: &ProcessEntry) -> bool {
        if process.start < self.since {
            return false;
        }
        let in_session = self.session.is_some_and(|session| u32::try_from(process.session) == Ok(session));
        in_session || self.task_id.as_deref().is_some_and(|task_id| carries(process.pid, task_id))
    }
}

fn carries(pid: i32, task_id: &str) -> bool {
    let mark = format!("{TASK_ID}={task_id}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// Waits until the processes have ended, for `patience` at most; less for those that cannot be signalled.
fn await_gone(processes: &[ProcessEntry], patience: Duration) {
    let handle = |process: &ProcessEntry| {
        let handle = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
        Some((handle, if process.refuses_signals() { REFUSAL_PATIENCE.min(patience) } else { patience }))
    };
    let handles: Vec<(OwnedFd, Duration)> = processes.iter().filter_map(handle).collect();
    let clock = Clock::start();
    for (handle, patience) in &handles {
        let limit = Timespec::try_from(patience.saturating_sub(clock.now().mono)).ok();
        let _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], limit.as_ref());
    }
}

/// Lists processes from tasks that are directly below `guard`, with all their descendants. Leaves out `program` and
/// the processes it started.
fn below_guard(guard: i32, program: i32) -> Vec<ProcessEntry> {
    let Some(session) = ProcessEntry::read(guard).map(|guard| guard.session) else { return Vec::new() };
    let adopted = tree::children(guard).into_iter().filter_map(ProcessEntry::read);
    let foreign = adopted.filter(|process| process.session != session && process.pid != program);
    foreign
        .flat_map(|process| {
            let below = tree::descendants(process.pid);
            std::iter::once(process).chain(below)
        })
        .filter(|process| !process.zombie)
        .collect()
}

/// Ends everything that the tasks of `program`, which is gone, have left below this process, its guard. Task hosts,
/// including stopped ones, first get time to do it themselves.
pub(super) fn end_all(program: Option<Pid>) {
    let own = rustix::process::getpid().as_raw_pid();
    let clock = Clock::start();
    let hosts = |process: &ProcessEntry| process.parent == own && process.name == HOST;
    below_guard(own, 0).iter().filter(|process| hosts(process)).for_each(|host| host.send(Signal::CONT));
    loop {
        reap();
        let left = below_guard(own, 0);
        let waited = clock.now().mono;
        let is_stuck = waited >= UNKILLABLE_AFTER || tree::remainder(&left) == Remainder::Refusing;
        let is_over = left.is_empty() || is_stuck;
        if is_over || waited >= HOSTS_PATIENCE || !left.iter().any(hosts) {
            // What is still in a group has left the tree: it was moved, or missed.
            let groups = program.map(|program| cgroup::of_runtime(program.as_raw_pid().unsigned_abs()));
            groups.iter().flatten().for_each(Cgroup::kill);
            tree::kill(|| below_guard(own, 0));
        }
        if is_over {
            return;
        }
        let _ = poll(&mut [], Some(&LOOK_INTERVAL));
    }
}

/// Reaps all ended processes.
fn reap() {
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
}

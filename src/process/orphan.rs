//! What commands leave to a guard: processes whose task host is gone, so that they hang directly below the
//! keeper or the launcher.
//!
//! They are told by their session. A task host begins a session of its own, a process can begin a new
//! session and never join another one, so nothing that came out of a task is ever in the session of the
//! guards and the program. What the program itself starts stays there (a clipboard tool that goes into the
//! background, for one) and is left alone.

use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, WaitOptions, wait};

use super::Signal;
use super::cgroup::{self, Cgroup};
use super::tree::{self, HOST, Process};
use crate::clock::Clock;

/// How long task hosts may take to end their trees and write `exit.json` when the program is gone.
const HOSTS_PATIENCE: Duration = Duration::from_secs(2);
/// Who outlives a SIGKILL this long is stuck in the kernel.
const UNKILLABLE_AFTER: Duration = Duration::from_secs(10);
/// Pause between two looks meanwhile.
const LOOK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Lists what came out of tasks and hangs directly below `guard`, with everything below it. `program` and what
/// it started do not count.
pub(super) fn below(guard: i32, program: i32) -> Vec<Process> {
    let Some(session) = Process::read(guard).map(|guard| guard.session) else { return Vec::new() };
    let adopted = tree::children(guard).into_iter().filter_map(Process::read);
    let strange = adopted.filter(|process| process.session != session && process.pid != program);
    strange
        .flat_map(|process| {
            let below = tree::descendants(process.pid);
            std::iter::once(process).chain(below)
        })
        .filter(|process| !process.zombie)
        .collect()
}

/// Ends what is left of all tasks of `program`, which is gone, below this process, its guard. Task hosts, stopped
/// ones as well, first get the time to do it themselves.
pub(super) fn end_all(program: Option<Pid>) {
    let own = rustix::process::getpid().as_raw_pid();
    let clock = Clock::start();
    let hosts = |process: &Process| process.parent == own && process.name == HOST;
    below(own, 0).iter().filter(|process| hosts(process)).for_each(|host| host.send(Signal::CONT));
    loop {
        reap();
        let left = below(own, 0);
        let waited = clock.now().mono;
        let is_over = left.is_empty() || waited >= UNKILLABLE_AFTER;
        if is_over || waited >= HOSTS_PATIENCE || !left.iter().any(hosts) {
            // Whatever a group still holds has left the tree, by being moved or by being missed.
            let groups = program.map(|program| cgroup::of_runtime(program.as_raw_pid().unsigned_abs()));
            groups.iter().flatten().for_each(Cgroup::kill);
            tree::kill(|| below(own, 0));
        }
        if is_over {
            return;
        }
        let _ = poll(&mut [], Some(&LOOK_INTERVAL));
    }
}

/// Reaps whatever has ended.
fn reap() {
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
}

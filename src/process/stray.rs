//! What a killed task host leaves behind: found and killed without it. Never reaps: these are
//! children of the keeper now, or of init where there is none.

use std::collections::HashSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::cgroup::{self, Cgroup};
use super::environment::TASK_ID;
use super::tree::{self, HOST, Process};
use super::{guard, orphan};
use crate::envelope::TaskId;

/// How long a killed process may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// What was started while the rest was killed is killed as well, so often.
const ATTEMPTS: usize = 3;

/// What was found without its host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strays {
    /// Names of the processes found.
    pub names: Vec<String>,
    /// Names of those that are still there.
    pub survivors: Vec<String>,
}

/// Kills every process that carries the id of a task whose host is gone, and what they started.
/// Blocks, for a few milliseconds as a rule and a few seconds at most.
#[must_use]
pub fn end_strays(task_id: &TaskId) -> Strays {
    Trace::marked(task_id).end()
}

/// What the tasks of a dead runtime may have left behind.
#[derive(Debug)]
pub struct Remains {
    /// The tasks, by the id their processes carry.
    pub tasks: Vec<TaskId>,
    /// When the runtime started, in clock ticks since this boot: what is older is not theirs.
    pub since: u64,
}

impl Remains {
    /// Gives their hosts time to end them, then ends what is left; what was found, by task. Blocks.
    #[must_use]
    pub fn end(&self, patience: Duration) -> Vec<Strays> {
        let trace = |id: &TaskId| Trace { since: self.since, ..Trace::marked(id) };
        let traces: Vec<Trace> = self.tasks.iter().map(trace).collect();
        let found: Vec<Vec<Process>> = traces.iter().map(Trace::look).collect();
        await_gone(&found.concat(), patience);
        let end = |(trace, found): (&Trace, Vec<Process>)| {
            let left = trace.end();
            let hosts = |process: &Process| process.name == HOST;
            // A host is no process of the command.
            let commands: Vec<Process> = found.into_iter().filter(|process| !hosts(process)).collect();
            let mut names = tree::names(&commands);
            names.extend(
                left.names
                    .into_iter()
                    .filter(|name| name != HOST && !commands.iter().any(|known| known.name == *name)),
            );
            Strays { names, survivors: left.survivors }
        };
        traces.iter().zip(found).map(end).collect()
    }
}

/// How the processes of a task are known when their host is gone.
#[derive(Debug)]
pub(super) struct Trace {
    /// The shell's session, while the shell is known to live: later its number may be another's.
    pub(super) session: Option<u32>,
    /// The value of `PILOTHOUSE_TASK_ID`.
    pub(super) task_id: Option<String>,
    /// Nothing older is meant, in clock ticks since boot.
    pub(super) since: u64,
    /// Whatever a task left to the keeper of this process is meant as well, marked or not.
    pub(super) adopted: bool,
}

impl Trace {
    fn marked(task_id: &TaskId) -> Self {
        Self { session: None, task_id: Some(task_id.as_str().to_owned()), since: 0, adopted: false }
    }

    /// Kills what is found.
    pub(super) fn end(&self) -> Strays {
        let names = tree::names(&tree::settled(|| self.look()));
        let groups = self.task_id.as_deref().map(cgroup::of_task).unwrap_or_default();
        groups.iter().for_each(Cgroup::kill);
        let mut left = names.clone();
        for _ in 0..ATTEMPTS {
            if left.is_empty() {
                break;
            }
            tree::kill(|| self.look());
            await_gone(&self.look(), PATIENCE);
            left = tree::names(&self.look());
        }
        Strays { names, survivors: left }
    }

    /// Lists the marked processes and all their descendants, but never this one.
    fn look(&self) -> Vec<Process> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all: Vec<Process> = tree::all().into_iter().filter(|found| found.pid != own).collect();
        let mut found: HashSet<i32> =
            all.iter().filter(|process| self.is_marked(process)).map(|process| process.pid).collect();
        if let Some(keeper) = guard::keeper().filter(|_| self.adopted) {
            found.extend(orphan::below(keeper.as_raw_pid(), own).iter().map(|process| process.pid));
        }
        loop {
            let is_child = |process: &&Process| found.contains(&process.parent);
            let children: Vec<i32> = all.iter().filter(is_child).map(|process| process.pid).collect();
            let before = found.len();
            found.extend(children);
            if found.len() == before {
                break;
            }
        }
        all.into_iter().filter(|process| found.contains(&process.pid) && !process.zombie).collect()
    }

    fn is_marked(&self, process: &Process) -> bool {
        if process.start < self.since {
            return false;
        }
        let in_session = self.session.is_some_and(|session| i64::from(process.session) == i64::from(session));
        in_session || self.task_id.as_deref().is_some_and(|task_id| carries(process.pid, task_id))
    }
}

fn carries(pid: i32, task_id: &str) -> bool {
    let mark = format!("{TASK_ID}={task_id}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// Waits until each process has ended, all together no longer than the patience for one allows.
fn await_gone(processes: &[Process], patience: Duration) {
    let handle = |process: &Process| pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok();
    let handles: Vec<OwnedFd> = processes.iter().filter_map(handle).collect();
    let limit = Timespec::try_from(patience).ok();
    for handle in &handles {
        let mut fds = [PollFd::new(handle, PollFlags::IN)];
        if !poll(&mut fds, limit.as_ref()).is_ok_and(|ready| ready == 1) {
            return;
        }
    }
}

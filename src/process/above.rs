//! Which managed task a process runs in, told from `/proc`.

use std::collections::BTreeMap;

use super::environment::TASK_ID;
use super::tree::{HOST, Process};

/// The longest chain of parents looked at.
const MAX_CHAIN: usize = 4096;
/// Says what a task holds: `agent` when that is an agent of its own.
const TASK_KIND: &str = "PILOTHOUSE_TASK_KIND";

/// The task that a process runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Above {
    /// Its id, as its host was given it.
    pub task: String,
    /// The task holds an agent.
    pub is_agent: bool,
}

/// What counts of one process.
#[derive(Debug, Clone, Default)]
struct Facts {
    parent: i32,
    is_host: bool,
    task: Option<String>,
    is_agent: bool,
}

/// Finds the task that a process runs in: that of the nearest host above it. Where its host was killed, its own
/// environment tells. None for a process of no task.
#[must_use]
pub fn task_above(pid: u32) -> Option<Above> {
    walk(i32::try_from(pid).ok()?, look)
}

fn walk(pid: i32, look: impl Fn(i32) -> Option<Facts>) -> Option<Above> {
    let (mut at, mut marked, mut is_agent) = (pid, None, false);
    for _ in 0..MAX_CHAIN {
        let Some(facts) = Some(at).filter(|at| *at > 1).and_then(&look) else { break };
        is_agent |= facts.is_agent;
        // A host carries the id of its task; below it the environment may have been changed.
        if facts.is_host {
            return facts.task.or(marked).map(|task| Above { task, is_agent });
        }
        marked = marked.or(facts.task);
        at = facts.parent;
    }
    marked.map(|task| Above { task, is_agent })
}

fn look(pid: i32) -> Option<Facts> {
    let process = Process::read(pid)?;
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let is_host = process.name == HOST || read("cmdline").split(|byte| *byte == 0).nth(1) == Some(b"__host");
    let environment = read("environ");
    let pairs = environment.split(|byte| *byte == 0).filter_map(|pair| {
        let at = memchr::memchr(b'=', pair)?;
        Some((pair.get(..at)?, pair.get(at + 1..)?))
    });
    let variables: BTreeMap<&[u8], &[u8]> = pairs.collect();
    let task = variables.get(TASK_ID.as_bytes()).map(|id| String::from_utf8_lossy(id).into_owned());
    let is_agent = variables.get(TASK_KIND.as_bytes()).is_some_and(|kind| *kind == b"agent");
    Some(Facts { parent: process.parent, is_host, task, is_agent })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 is a person's shell, 90 the host of a task below a runtime 80; 95 has cleared its environment, 96 says that it is
    /// an agent; 70 was left behind by a host that was killed.
    fn family(pid: i32) -> Option<Facts> {
        let task = |id: &str| Some(id.to_owned());
        Some(match pid {
            50 => Facts { parent: 1, ..Facts::default() },
            80 => Facts { parent: 50, ..Facts::default() },
            90 => Facts { parent: 80, is_host: true, task: task("task_of_host"), is_agent: false },
            91 => Facts { parent: 90, task: task("task_of_host"), ..Facts::default() },
            95 => Facts { parent: 91, ..Facts::default() },
            96 => Facts { parent: 91, task: task("task_of_another"), is_agent: true, ..Facts::default() },
            97 => Facts { parent: 96, ..Facts::default() },
            70 => Facts { parent: 1, task: task("task_of_the_past"), ..Facts::default() },
            _ => return None,
        })
    }

    #[test]
    fn the_nearest_host_tells_whatever_the_environment_says_below_it() {
        for (pid, task, is_agent) in [
            (91, Some("task_of_host"), false),
            (95, Some("task_of_host"), false),
            (96, Some("task_of_host"), true),
            (97, Some("task_of_host"), true),
            (70, Some("task_of_the_past"), false),
            (50, None, false),
            (80, None, false),
            (7, None, false),
        ] {
            let above = walk(pid, family);
            let told = above.as_ref().map(|above| (above.task.as_str(), above.is_agent));
            assert_eq!(told, task.map(|task| (task, is_agent)), "{pid}");
        }
    }

    #[test]
    fn a_loop_of_parents_ends() {
        assert_eq!(walk(7, |_| Some(Facts { parent: 7, ..Facts::default() })), None);
    }
}

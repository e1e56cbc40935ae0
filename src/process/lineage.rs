//! Whether a process comes out of a managed task of any runtime of this machine, told from `/proc`.

use std::fmt;

use super::environment::TASK_ID;
use super::guard::{KEEPER, LAUNCHER};
use super::tree::{HOST, Process};

/// The longest chain of parents looked at.
const MAX_CHAIN: usize = 4096;

/// How a process is known to come out of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// A task host is among those above it.
    Host,
    /// It, or one above it, was adopted by the keeper of a runtime.
    Adopted,
    /// It, or one above it in its session, carries the id of a task in its environment.
    Marked,
    /// It cannot be looked at.
    Unknown,
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "it was started by a managed task",
            Self::Adopted => "it was left behind by a managed task",
            Self::Marked => "PILOTHOUSE_TASK_ID in its environment says that a managed task started it",
            Self::Unknown => "where it comes from cannot be seen",
        })
    }
}

/// Tells how a process comes out of a task; `None` when it does not.
#[must_use]
pub fn lineage(pid: u32) -> Option<Lineage> {
    walk(i32::try_from(pid).unwrap_or(i32::MAX), look)
}

/// Returns the process of the task host that `pid` runs below: the topmost one, since a task may start runtimes
/// of its own. `None` when it runs below none, or cannot be looked at.
#[must_use]
pub fn task_host(pid: u32) -> Option<u32> {
    let host = topmost_host(i32::try_from(pid).ok()?, |pid| {
        Process::read(pid).map(|process| (process.parent, is_host(&process)))
    });
    host?.try_into().ok()
}

/// Walks up from `pid` by what `look` tells of each process: its parent, and whether it is a task host.
fn topmost_host(pid: i32, look: impl Fn(i32) -> Option<(i32, bool)>) -> Option<i32> {
    let (mut at, mut topmost) = (pid, None);
    for _ in 0..MAX_CHAIN {
        let Some((parent, is_host)) = look(at) else { break };
        topmost = is_host.then_some(at).or(topmost);
        at = parent;
    }
    topmost
}

fn is_host(process: &Process) -> bool {
    let words = std::fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    process.name == HOST || words.split(|byte| *byte == 0).nth(1) == Some(b"__host")
}

/// What counts of one process.
#[derive(Debug, Clone, Copy)]
struct Facts {
    parent: i32,
    session: i32,
    is_host: bool,
    is_guard: bool,
    /// `None` when its environment cannot be read.
    is_marked: Option<bool>,
}

/// Walks up from `pid` to the first process. A parent 0 lies outside of this pid namespace.
fn walk(pid: i32, look: impl Fn(i32) -> Option<Facts>) -> Option<Lineage> {
    let mut at = pid;
    let mut below: Option<Facts> = None;
    let mut session = None;
    for _ in 0..MAX_CHAIN {
        if at == 0 {
            return None;
        }
        let Some(facts) = look(at) else { return (at != 1).then_some(Lineage::Unknown) };
        if facts.is_host {
            return Some(Lineage::Host);
        }
        // What a guard has below it in another session came out of a task: see `orphan`.
        if facts.is_guard && below.is_some_and(|below| below.session != facts.session) {
            return Some(Lineage::Adopted);
        }
        if below.is_none() {
            // Its own environment can be read, unless it took care that it cannot.
            let Some(_) = facts.is_marked else { return Some(Lineage::Unknown) };
            session = Some(facts.session);
        }
        if session.is_some() && facts.is_marked == Some(true) {
            return Some(Lineage::Marked);
        }
        session = session.filter(|leader| *leader != at);
        below = Some(facts);
        at = facts.parent;
    }
    Some(Lineage::Unknown)
}

fn look(pid: i32) -> Option<Facts> {
    let process = Process::read(pid)?;
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok();
    let mark = format!("{TASK_ID}=");
    let is_marked = environment
        .map(|text| text.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes())));
    Some(Facts {
        parent: process.parent,
        session: process.session,
        is_host: is_host(&process),
        is_guard: [KEEPER, LAUNCHER].contains(&process.name.as_str()),
        is_marked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: i32 = 50;
    const PLAIN: Facts =
        Facts { parent: 1, session: SHELL, is_host: false, is_guard: false, is_marked: Some(false) };

    /// 50 is a person's shell, 60 its launcher, 70 the keeper, 80 the program, 90 a task host below it.
    fn family(pid: i32) -> Option<Facts> {
        let below = |parent: i32| Facts { parent, ..PLAIN };
        let strange = |parent: i32, session: i32| Facts { parent, session, ..PLAIN };
        Some(match pid {
            1 => Facts { session: 1, parent: 0, ..PLAIN },
            50 => PLAIN,
            60 => Facts { is_guard: true, ..below(50) },
            70 => Facts { is_guard: true, ..below(60) },
            80 => below(70),
            81 => below(80),
            90 => Facts { is_host: true, ..strange(80, 90) },
            91 => strange(90, 91),
            92 => strange(91, 92),
            // Adopted: a clipboard tool of the program, then what a killed host left, and its child.
            71 => below(70),
            72 => strange(70, 91),
            73 => strange(72, 73),
            // Marked itself; below a marked shell; below a shell that a marked terminal started.
            100 => Facts { is_marked: Some(true), ..strange(1, 100) },
            101 => strange(100, 100),
            102 => strange(101, 102),
            // Its environment is hidden.
            110 => Facts { is_marked: None, ..PLAIN },
            111 => below(110),
            120 => below(0),
            _ => return None,
        })
    }

    #[test]
    fn what_came_out_of_a_task_is_known_by_any_of_its_signs() {
        for (pid, expected) in [
            (50, None),
            (80, None),
            (81, None),
            (71, None),
            (90, Some(Lineage::Host)),
            (92, Some(Lineage::Host)),
            (72, Some(Lineage::Adopted)),
            (73, Some(Lineage::Adopted)),
            (100, Some(Lineage::Marked)),
            (101, Some(Lineage::Marked)),
            (102, None),
            (110, Some(Lineage::Unknown)),
            (111, None),
            (120, None),
            (0, None),
            (999, Some(Lineage::Unknown)),
        ] {
            assert_eq!(walk(pid, family), expected, "pid {pid}");
        }
    }

    #[test]
    fn a_keeper_that_is_the_first_process_adopts_as_well() {
        let contained = |pid: i32| {
            Some(match pid {
                1 => Facts { parent: 0, session: 1, is_guard: true, ..PLAIN },
                2 => Facts { parent: 1, session: 1, ..PLAIN },
                _ => Facts { parent: 1, session: 9, ..PLAIN },
            })
        };
        assert_eq!((walk(2, contained), walk(9, contained)), (None, Some(Lineage::Adopted)));
    }

    #[test]
    fn a_process_belongs_to_the_topmost_task_above_it() {
        // 93 is a runtime that the task of host 90 has started, 94 its task host.
        let look = |pid| match pid {
            93 => Some((91, false)),
            94 => Some((93, true)),
            _ => family(pid).map(|facts| (facts.parent, facts.is_host)),
        };
        for (pid, expected) in
            [(94, Some(90)), (93, Some(90)), (90, Some(90)), (81, None), (72, None), (999, None)]
        {
            assert_eq!(topmost_host(pid, look), expected, "pid {pid}");
        }
        assert_eq!(topmost_host(7, |pid| Some((if pid == 7 { 8 } else { 7 }, false))), None);
    }

    #[test]
    fn a_loop_of_parents_ends() {
        let round = |pid: i32| Some(Facts { parent: if pid == 7 { 8 } else { 7 }, ..PLAIN });
        assert_eq!(walk(7, round), Some(Lineage::Unknown));
    }

    #[test]
    fn this_process_can_be_looked_at() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let facts = look(own).expect("looks");
        assert!(facts.parent >= 0 && !facts.is_host && !facts.is_guard && facts.is_marked.is_some());
    }
}

//! Determines which managed task a process comes from, if any, of any runtime on this machine. Read from `/proc`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use super::environment::{TASK_ID, TASK_KIND};
use super::guard::{KEEPER, LAUNCHER};
use super::start::fork_server::HOST as HOST_ARGUMENT;
use super::task_mark::TaskMark;
use super::tree::{HOST, ProcessEntry, proc_file};

/// The longest chain of parents that is followed.
const MAX_CHAIN: usize = 4096;

/// The evidence that a process comes from a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// One of its ancestors is a task host.
    Host,
    /// It, or one of its ancestors, was adopted by the keeper of a runtime.
    Adopted,
    /// It, or one of its ancestors in the same session, carries a task id in its environment.
    Marked,
    /// What started it is hidden, and it has the limit of a task.
    Limited,
    /// It cannot be inspected.
    Unknown,
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "it was started by a managed task",
            Self::Adopted => "it was left behind by a managed task",
            Self::Marked => "PILOTHOUSE_TASK_ID in its environment says that a managed task started it",
            Self::Limited => {
                "/proc hides what started it, and its limit on file locks is that of a managed task; use a terminal in \
                 which `ulimit -Hx` prints `unlimited`"
            }
            Self::Unknown => "where it comes from cannot be seen; `pilothouse doctor` says why",
        })
    }
}

/// The task that a process runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnclosingTask {
    /// Its id, as given to its host.
    pub task: String,
    /// Whether the task runs an agent.
    pub is_agent: bool,
}

/// The results of reading the chain of a process's parents once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestry {
    /// The evidence that it comes from a task; `None` if it does not.
    pub lineage: Option<Lineage>,
    /// The process id of the task host above it: the topmost one, because a task may start runtimes of its own.
    /// `None` if there is none or the process cannot be inspected.
    pub task_host: Option<u32>,
    /// The task it runs in: that of the nearest host above it. If that host was killed, its own environment decides.
    /// `None` if it runs in no task.
    pub task: Option<EnclosingTask>,
    /// Its ancestors, the nearest first, as far as they are visible.
    pub parents: Vec<u32>,
}

/// Determines where a process comes from.
#[must_use]
pub fn ancestry(pid: u32) -> Ancestry {
    let pid = i32::try_from(pid).unwrap_or(i32::MAX);
    let seen = RefCell::new(BTreeMap::new());
    let look = |pid: i32| seen.borrow_mut().entry(pid).or_insert_with(|| inspect(pid)).clone();
    Ancestry {
        lineage: trace_lineage(pid, look, TaskMark::of),
        task_host: topmost_host(pid, look).and_then(|pid| pid.try_into().ok()),
        task: nearest_task(pid, look),
        parents: chain(pid, look).skip(1).filter_map(|(pid, _)| pid.try_into().ok()).collect(),
    }
}

/// Returns the parent of a process, if it is visible.
#[must_use]
pub fn parent(pid: u32) -> Option<u32> {
    let parent = ProcessEntry::read(i32::try_from(pid).ok()?)?.parent;
    u32::try_from(parent).ok().filter(|parent| *parent > 0)
}

/// Tells whether a process runs in a task that holds a command: the task of the nearest host above it, unless an
/// agent is in between. Cheap if there is no host.
#[must_use]
pub fn is_in_command(pid: u32) -> bool {
    let own = i32::try_from(pid).ok().and_then(ProcessEntry::read);
    let mut above = std::iter::successors(own, |at| ProcessEntry::read(at.parent)).skip(1).take(MAX_CHAIN);
    above.any(|at| at.name == HOST) && ancestry(pid).task.is_some_and(|task| !task.is_agent)
}

/// The relevant properties of one process in a chain of parents.
#[derive(Debug, Clone, Default)]
struct ParentLink {
    parent: i32,
    session: i32,
    is_host: bool,
    is_guard: bool,
    /// `None` if its environment cannot be read.
    variables: Option<TaskVariables>,
}

/// What a process's environment says about its task.
#[derive(Debug, Clone, Default)]
struct TaskVariables {
    task: Option<String>,
    is_agent: bool,
}

fn inspect(pid: i32) -> Option<ParentLink> {
    let process = ProcessEntry::read(pid)?;
    let arguments = proc_file(pid, "cmdline").unwrap_or_default();
    Some(ParentLink {
        parent: process.parent,
        session: process.session,
        is_host: process.name == HOST
            || arguments.split(|byte| *byte == 0).nth(1) == Some(HOST_ARGUMENT.as_bytes()),
        is_guard: [KEEPER, LAUNCHER].contains(&process.name.as_str()),
        variables: proc_file(pid, "environ").ok().map(|text| TaskVariables::parse(&text)),
    })
}

impl TaskVariables {
    fn parse(environment: &[u8]) -> Self {
        let value = |name: &str| {
            let variables = environment.split(|byte| *byte == 0);
            variables.filter_map(|text| text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).next_back()
        };
        let task = value(TASK_ID).map(|id| String::from_utf8_lossy(id).into_owned());
        Self { task, is_agent: value(TASK_KIND) == Some(b"agent") }
    }
}

/// Follows the parents of `pid`, starting with itself, for as long as they can be inspected.
fn chain(pid: i32, inspect: impl Fn(i32) -> Option<ParentLink>) -> impl Iterator<Item = (i32, ParentLink)> {
    let first = inspect(pid).map(|link| (pid, link));
    std::iter::successors(first, move |(_, link)| Some((link.parent, inspect(link.parent)?))).take(MAX_CHAIN)
}

fn topmost_host(pid: i32, inspect: impl Fn(i32) -> Option<ParentLink>) -> Option<i32> {
    chain(pid, inspect).filter(|(_, link)| link.is_host).last().map(|(pid, _)| pid)
}

fn nearest_task(pid: i32, inspect: impl Fn(i32) -> Option<ParentLink>) -> Option<EnclosingTask> {
    let (mut marked, mut is_agent) = (None, false);
    for (_, link) in chain(pid, inspect).take_while(|(pid, _)| *pid > 1) {
        let variables = link.variables.unwrap_or_default();
        is_agent |= variables.is_agent;
        // A host carries the id of its task; below it, the environment may have been changed.
        if link.is_host {
            return variables.task.or(marked).map(|task| EnclosingTask { task, is_agent });
        }
        marked = marked.or(variables.task);
    }
    marked.map(|task| EnclosingTask { task, is_agent })
}

/// Determines where a process comes from. If the chain of its parents is hidden, what it inherited decides: a command can
/// hide its own parent, and may have one of another user (`sg`, a namespace of subordinate ids).
fn trace_lineage(
    pid: i32,
    inspect: impl Fn(i32) -> Option<ParentLink>,
    mark: impl Fn(i32) -> TaskMark,
) -> Option<Lineage> {
    let hidden = match walk_up(pid, &inspect) {
        Ok(lineage) => return lineage,
        Err(HiddenParent(hidden)) => hidden,
    };
    // A process can never join a session, so it comes from where the leader comes from; the terminal is the session's.
    let leader = inspect(pid).and_then(|link| walk_up(link.session, &inspect).ok()?);
    leader.filter(|lineage| *lineage != Lineage::Unknown).or_else(|| match mark(pid) {
        TaskMark::Present => Some(Lineage::Limited),
        TaskMark::Absent => None,
        TaskMark::Unsure => (hidden != 1).then_some(Lineage::Unknown),
    })
}

/// The end of a chain of parents that cannot be inspected to the first process.
struct HiddenParent(i32);

/// Walks up from `pid` to the first process. A parent of 0 is outside this pid namespace.
fn walk_up(pid: i32, inspect: impl Fn(i32) -> Option<ParentLink>) -> Result<Option<Lineage>, HiddenParent> {
    let mut at = pid;
    let mut below: Option<ParentLink> = None;
    let mut session = None;
    for _ in 0..MAX_CHAIN {
        if at == 0 {
            return Ok(None);
        }
        let Some(link) = inspect(at) else {
            return if below.is_some() {
                Err(HiddenParent(at))
            } else {
                Ok((at != 1).then_some(Lineage::Unknown))
            };
        };
        if link.is_host {
            return Ok(Some(Lineage::Host));
        }
        // Anything below a guard in another session came from a task: see `orphans`.
        if link.is_guard && below.as_ref().is_some_and(|below| below.session != link.session) {
            return Ok(Some(Lineage::Adopted));
        }
        if below.is_none() {
            // A process can read its own environment, unless it has made itself uninspectable.
            let Some(_) = link.variables else { return Ok(Some(Lineage::Unknown)) };
            session = Some(link.session);
        }
        let is_marked = link.variables.as_ref().is_some_and(|variables| variables.task.is_some());
        if session.is_some() && is_marked {
            return Ok(Some(Lineage::Marked));
        }
        session = session.filter(|leader| *leader != at);
        at = link.parent;
        below = Some(link);
    }
    Ok(Some(Lineage::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: i32 = 50;

    /// An unmarked process below the first one.
    fn plain() -> ParentLink {
        ParentLink {
            parent: 1,
            session: SHELL,
            variables: Some(TaskVariables::default()),
            ..ParentLink::default()
        }
    }

    fn marked(task: &str, is_agent: bool) -> Option<TaskVariables> {
        Some(TaskVariables { task: Some(task.to_owned()), is_agent })
    }

    fn absent(_: i32) -> TaskMark {
        TaskMark::Absent
    }

    #[test]
    fn the_parents_of_a_process_are_read_with_the_rest() {
        let own = std::process::id();
        let parents = ancestry(own).parents;
        assert_eq!(parents.first().copied(), parent(own));
        assert!(parents.windows(2).all(|pair| parent(pair[0]) == Some(pair[1])), "{parents:?}");
    }

    /// 50 is a person's shell, 60 its launcher, 70 the keeper, 80 the program, 90 a task host below it.
    fn family(pid: i32) -> Option<ParentLink> {
        let below = |parent: i32| ParentLink { parent, ..plain() };
        let strange = |parent: i32, session: i32| ParentLink { parent, session, ..plain() };
        Some(match pid {
            1 => ParentLink { session: 1, parent: 0, ..plain() },
            50 => plain(),
            60 => ParentLink { is_guard: true, ..below(50) },
            70 => ParentLink { is_guard: true, ..below(60) },
            80 => below(70),
            81 => below(80),
            90 => ParentLink { is_host: true, ..strange(80, 90) },
            91 => strange(90, 91),
            92 => strange(91, 92),
            // Adopted: a clipboard tool of the program, then what a killed host left, and its child.
            71 => below(70),
            72 => strange(70, 91),
            73 => strange(72, 73),
            // Marked itself; below a marked shell; below a shell started by a marked terminal.
            100 => ParentLink { variables: marked("task_11111111", false), ..strange(1, 100) },
            101 => strange(100, 100),
            102 => strange(101, 102),
            // Its environment is hidden.
            110 => ParentLink { variables: None, ..plain() },
            111 => below(110),
            120 => below(0),
            _ => return None,
        })
    }

    #[test]
    fn a_process_of_a_task_is_recognised_by_its_host_its_adopter_or_its_mark() {
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
            assert_eq!(trace_lineage(pid, family, absent), expected, "pid {pid}");
        }
    }

    #[test]
    fn f64_a_hidden_chain_is_decided_by_session_and_mark() {
        use TaskMark::{Absent, Present, Unsure};
        let look = |pid: i32| match pid {
            // Below the hidden 299: in a session of its own, in a hidden one, in those of a task and of a marked process.
            200 => Some(ParentLink { parent: 299, session: 200, ..plain() }),
            201 => Some(ParentLink { parent: 299, session: 298, ..plain() }),
            202 => Some(ParentLink { parent: 299, session: 91, ..plain() }),
            203 => Some(ParentLink { parent: 299, session: 100, ..plain() }),
            // Below the first process, and with a visible sign of a task.
            204 => Some(ParentLink { session: 204, ..plain() }),
            205 => Some(ParentLink { parent: 299, variables: marked("task_11111111", false), ..plain() }),
            1 => None,
            pid => family(pid),
        };
        for (pid, mark, expected) in [
            (200, Absent, None),
            (200, Present, Some(Lineage::Limited)),
            (200, Unsure, Some(Lineage::Unknown)),
            (201, Absent, None),
            (201, Present, Some(Lineage::Limited)),
            (202, Absent, Some(Lineage::Host)),
            (203, Absent, Some(Lineage::Marked)),
            (204, Absent, None),
            (204, Present, Some(Lineage::Limited)),
            (204, Unsure, None),
            (205, Absent, Some(Lineage::Marked)),
            (298, Absent, Some(Lineage::Unknown)),
        ] {
            assert_eq!(trace_lineage(pid, look, |_| mark), expected, "pid {pid}, {mark:?}");
        }
        let unread = |_: i32| -> TaskMark { panic!("a chain that is visible needs no mark") };
        assert_eq!(trace_lineage(81, family, unread), None);
    }

    #[test]
    fn a_keeper_that_is_the_first_process_adopts_as_well() {
        let contained = |pid: i32| {
            Some(match pid {
                1 => ParentLink { parent: 0, session: 1, is_guard: true, ..plain() },
                2 => ParentLink { parent: 1, session: 1, ..plain() },
                _ => ParentLink { parent: 1, session: 9, ..plain() },
            })
        };
        assert_eq!(
            (trace_lineage(2, contained, absent), trace_lineage(9, contained, absent)),
            (None, Some(Lineage::Adopted))
        );
    }

    #[test]
    fn a_process_belongs_to_the_topmost_task_above_it() {
        // 93 is a runtime started by the task of host 90, 94 its task host.
        let look = |pid| match pid {
            93 => Some(ParentLink { parent: 91, ..plain() }),
            94 => Some(ParentLink { parent: 93, is_host: true, ..plain() }),
            _ => family(pid),
        };
        for (pid, expected) in
            [(94, Some(90)), (93, Some(90)), (90, Some(90)), (81, None), (72, None), (999, None)]
        {
            assert_eq!(topmost_host(pid, look), expected, "pid {pid}");
        }
        assert_eq!(topmost_host(7, round), None);
    }

    fn round(pid: i32) -> Option<ParentLink> {
        Some(ParentLink { parent: if pid == 7 { 8 } else { 7 }, ..plain() })
    }

    #[test]
    fn a_loop_of_parents_ends() {
        assert_eq!(trace_lineage(7, round, absent), Some(Lineage::Unknown));
        assert_eq!(nearest_task(7, |_| Some(ParentLink { parent: 7, ..plain() })), None);
    }

    #[test]
    fn this_process_can_be_inspected() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let link = inspect(own).expect("inspects");
        assert!(link.parent >= 0 && !link.is_host && !link.is_guard && link.variables.is_some());
    }

    /// 50 is a person's shell, 90 the host of a task below the runtime 80; 95 has cleared its environment, 96 is
    /// marked as an agent; 70 was left behind by a killed host.
    fn nested(pid: i32) -> Option<ParentLink> {
        Some(match pid {
            50 => ParentLink { parent: 1, ..ParentLink::default() },
            80 => ParentLink { parent: 50, ..ParentLink::default() },
            90 => ParentLink {
                parent: 80,
                is_host: true,
                variables: marked("task_of_host", false),
                ..ParentLink::default()
            },
            91 => {
                ParentLink { parent: 90, variables: marked("task_of_host", false), ..ParentLink::default() }
            }
            95 => ParentLink { parent: 91, ..ParentLink::default() },
            96 => {
                ParentLink { parent: 91, variables: marked("task_of_another", true), ..ParentLink::default() }
            }
            97 => ParentLink { parent: 96, ..ParentLink::default() },
            70 => ParentLink {
                parent: 1,
                variables: marked("task_of_the_past", false),
                ..ParentLink::default()
            },
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
            let found = nearest_task(pid, nested);
            let found = found.as_ref().map(|found| (found.task.as_str(), found.is_agent));
            assert_eq!(found, task.map(|task| (task, is_agent)), "{pid}");
        }
    }
}

//! Whether the kernel holds the ceilings of tasks: their control groups need controllers, which the group around them
//! hands on only while it contains no process itself, unless it is the root.
//!
//! A runtime therefore moves itself into a leaf of its own, `pilothouse-self`, if the group around it contains nothing
//! but itself. What else is in there is never moved.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;
use std::{fmt, fs};

use super::cgroup::{LEAF, cgroups};
use super::guard::{KEEPER, LAUNCHER};
use super::tree::{self, ProcessEntry};

/// The controllers that hold ceilings; without them there are none.
const NEEDED: [&str; 2] = ["memory", "pids"];
/// How often processes that are started meanwhile are moved again.
const ATTEMPTS: usize = 10;
/// How many processes in the way are named.
const NAMED: usize = 3;

/// Whether the kernel holds ceilings for this process; determined once.
static CLAIMED: OnceLock<Result<(), String>> = OnceLock::new();

/// Why the kernel cannot hold ceilings here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CeilingObstacle {
    /// This machine bounds memory with control groups of the first version: no other group helps.
    FirstVersion,
    /// Something about the group that this process is in, in plain words.
    Group(String),
}

/// Prepares the group around this runtime, once: moves the runtime and its guards into a leaf and hands the controllers on
/// to the groups of tasks. Takes some ten milliseconds if it moves anything.
///
/// # Errors
/// If the kernel cannot hold ceilings here, with the reason in plain words.
pub fn claim_controllers() -> Result<(), &'static str> {
    CLAIMED.get_or_init(claim).as_ref().copied().map_err(String::as_str)
}

/// Tells whether a runtime that is started here could have the kernel hold ceilings. Changes nothing.
///
/// # Errors
/// If it could not, with the reason in plain words.
pub fn can_claim_controllers() -> Result<(), CeilingObstacle> {
    HomeGroup::read(cgroups()?).step().map(drop)
}

fn claim() -> Result<(), String> {
    let home = cgroups()?;
    let step = HomeGroup::read(home).step().map_err(|obstacle| obstacle.to_string())?;
    if step == ClaimStep::Move {
        empty(home)?;
    }
    if step != ClaimStep::Nothing {
        let controllers = home.join("cgroup.subtree_control");
        for name in NEEDED {
            let enabled = fs::write(&controllers, format!("+{name}"));
            enabled.map_err(|error| format!("{name} cannot be enabled in {}: {error}", home.display()))?;
        }
        // Without it, only the share of the processor is not set.
        let _ = fs::write(&controllers, "+cpu");
    }
    Ok(())
}

/// Moves this process, its guards and what they have started into the leaf, until nothing else is in the group.
fn empty(home: &Path) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", home.display());
    let leaf = home.join(LEAF);
    if !leaf.is_dir() {
        fs::create_dir(&leaf).map_err(cannot)?;
    }
    for _ in 0..ATTEMPTS {
        let group = HomeGroup::read(home);
        group.is_ours_alone().map_err(|obstacle| obstacle.to_string())?;
        if group.processes.is_empty() {
            return Ok(());
        }
        for pid in group.processes {
            match fs::write(leaf.join("cgroup.procs"), pid.to_string()) {
                // It has ended.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                moved => moved.map_err(cannot)?,
            }
        }
    }
    Err("processes keep being started in this group".into())
}

/// What a runtime has to do so that the groups of its tasks have controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimStep {
    Nothing,
    Enable,
    Move,
}

/// The group in which the groups of tasks lie.
#[derive(Debug, Default)]
struct HomeGroup {
    is_root: bool,
    /// The controllers that it may hand on.
    available: HashSet<String>,
    /// Those that it hands on.
    enabled: HashSet<String>,
    /// Whether memory is bounded with control groups of the first version.
    is_first_version: bool,
    /// The processes in it.
    processes: Vec<i32>,
    /// The names of those that are neither this process nor its guards nor come from them.
    others: Vec<String>,
}

impl HomeGroup {
    fn read(home: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(home.join(name)).unwrap_or_default();
        let words = |name: &str| text(name).split_ascii_whitespace().map(str::to_owned).collect();
        let processes: Vec<i32> = text("cgroup.procs").lines().filter_map(|line| line.parse().ok()).collect();
        let family = family();
        let others = processes.iter().filter(|pid| !family.contains(pid));
        let name = |pid: &i32| {
            ProcessEntry::read(*pid).map_or_else(|| "a process outside this container".into(), |own| own.name)
        };
        Self {
            is_first_version: is_first_version(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default()),
            is_root: !home.join("cgroup.type").exists(),
            available: words("cgroup.controllers"),
            enabled: words("cgroup.subtree_control"),
            others: others.map(name).collect(),
            processes,
        }
    }

    fn step(&self) -> Result<ClaimStep, CeilingObstacle> {
        let has_all = |names: &HashSet<String>| NEEDED.iter().all(|name| names.contains(*name));
        if has_all(&self.enabled) {
            return Ok(ClaimStep::Nothing);
        }
        if !has_all(&self.available) {
            return Err(match self.is_first_version {
                true => CeilingObstacle::FirstVersion,
                false => CeilingObstacle::from("your group has no controllers of memory and processes"),
            });
        }
        if self.is_root {
            return Ok(ClaimStep::Enable);
        }
        self.is_ours_alone().map(|()| ClaimStep::Move)
    }

    fn is_ours_alone(&self) -> Result<(), CeilingObstacle> {
        let mut names: Vec<&str> = self.others.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(());
        }
        let more = if names.len() > NAMED { " and others" } else { "" };
        names.truncate(NAMED);
        Err(CeilingObstacle::Group(format!("your group also holds {}{more}", names.join(", "))))
    }
}

impl fmt::Display for CeilingObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstVersion => f.write_str("this machine bounds memory with control groups of version 1"),
            Self::Group(why) => f.write_str(why),
        }
    }
}

impl From<&str> for CeilingObstacle {
    fn from(why: &str) -> Self {
        Self::Group(why.to_owned())
    }
}

/// Tells whether memory is bounded with control groups of the first version, by the text of `/proc/self/cgroup`.
fn is_first_version(groups: &str) -> bool {
    let controllers = groups.lines().filter_map(|line| line.split(':').nth(1));
    controllers.flat_map(|names| names.split(',')).any(|name| name == "memory")
}

/// Lists this process, its guards, and everything below them.
fn family() -> HashSet<i32> {
    let mut top = std::process::id().cast_signed();
    while let Some(above) = ProcessEntry::read(top).and_then(|own| ProcessEntry::read(own.parent)) {
        if ![KEEPER, LAUNCHER].contains(&above.name.as_str()) {
            break;
        }
        top = above.pid;
    }
    tree::descendants(top).iter().map(|process| process.pid).chain([top]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(is_root: bool, available: &str, enabled: &str, others: &[&str]) -> HomeGroup {
        let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect();
        HomeGroup {
            is_first_version: false,
            is_root,
            available: words(available),
            enabled: words(enabled),
            processes: Vec::new(),
            others: others.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn the_kernel_holds_ceilings_in_the_root_or_where_a_runtime_is_alone() {
        let all = "cpuset cpu io memory pids";
        for (group, step) in [
            (group(true, all, "", &["bash", "init"]), Ok(ClaimStep::Enable)),
            (group(true, all, "memory pids", &["bash"]), Ok(ClaimStep::Nothing)),
            (group(false, all, "", &[]), Ok(ClaimStep::Move)),
            (group(false, all, "memory pids cpu", &[]), Ok(ClaimStep::Nothing)),
            (group(false, all, "", &["bash"]), Err("your group also holds bash")),
            (
                group(false, all, "memory", &["vim", "bash", "bash", "a", "z"]),
                Err("your group also holds a, bash, vim and others"),
            ),
            (group(false, "memory", "", &[]), Err("your group has no controllers of memory and processes")),
            (group(true, "", "", &[]), Err("your group has no controllers of memory and processes")),
        ] {
            assert_eq!(group.step(), step.map_err(CeilingObstacle::from));
        }
    }

    #[test]
    fn ceilings_are_not_held_where_memory_belongs_to_cgroup_version_1() {
        let hybrid = "9:name=systemd:/\n4:memory:/a\n1:cpu,cpuacct:/\n0::/\n";
        assert!(is_first_version(hybrid) && is_first_version("3:cpu,memory:/"));
        assert!(!is_first_version("0::/user.slice/memory\n") && !is_first_version(""));
        let group = HomeGroup { is_first_version: true, ..group(true, "", "", &[]) };
        assert_eq!(group.step(), Err(CeilingObstacle::FirstVersion));
    }

    #[test]
    fn this_process_belongs_to_its_own_family() {
        assert!(family().contains(&std::process::id().cast_signed()));
    }
}

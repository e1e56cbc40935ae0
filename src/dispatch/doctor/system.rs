//! Checks of the kernel features that the runtime needs.

use std::path::Path;

use super::finding::Area::System;
use super::finding::DoctorFinding;
use crate::dispatch::host::{Host, on_path};
use crate::process::CeilingObstacle;

/// The oldest kernel version that supports task hosts.
const KERNEL: (u32, u32) = (5, 9);
/// Starts a console in a control group of its own, which it may divide. A background runtime that systemd starts has one.
const OWN_SCOPE: &str = "systemd-run --user --scope -p Delegate=yes pilothouse";
/// Gives all controllers to control groups of the second version.
const UNIFIED: &str = "boot with systemd.unified_cgroup_hierarchy=1";
/// The limit on open files above which 256 tasks and their logs certainly fit.
const DESCRIPTORS: u64 = 2_048;

/// What is known about the system.
#[derive(Debug)]
pub(super) struct SystemFacts {
    release: String,
    unreadable: Vec<&'static str>,
    descriptors: Option<u64>,
    is_root: bool,
    /// Where each task gets a control group, or why it gets none.
    groups: Result<std::path::PathBuf, &'static str>,
    /// Whether the kernel could hold ceilings, or why not.
    ceilings: Result<(), CeilingObstacle>,
    has_systemd: bool,
    on_path: Option<std::path::PathBuf>,
}

impl SystemFacts {
    pub(super) fn gather(host: &dyn Host) -> Self {
        let needed = ["stat", "syscall", "wchan", "cmdline"];
        let is_readable = |name: &str| std::fs::read(Path::new("/proc/self").join(name)).is_ok();
        let children = std::fs::read_dir("/proc/self/task").ok().and_then(|mut threads| {
            let thread = threads.next()?.ok()?;
            std::fs::read(thread.path().join("children")).ok()
        });
        let mut unreadable: Vec<_> = needed.into_iter().filter(|name| !is_readable(name)).collect();
        if children.is_none() {
            unreadable.push("task/*/children");
        }
        Self {
            release: std::fs::read_to_string("/proc/sys/kernel/osrelease")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            unreadable,
            descriptors: rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum,
            is_root: rustix::process::geteuid().is_root(),
            groups: crate::process::cgroups().map(Path::to_owned),
            ceilings: crate::process::can_claim_controllers(),
            has_systemd: Path::new("/run/systemd/system").exists(),
            on_path: on_path(host, "pilothouse"),
        }
    }
}

/// Evaluates what is known.
pub(super) fn findings(known: &SystemFacts) -> Vec<DoctorFinding> {
    vec![
        kernel(known),
        proc(known),
        descriptors(known),
        rights(known),
        groups(known),
        ceilings(known),
        program(known),
    ]
}

fn kernel(known: &SystemFacts) -> DoctorFinding {
    let mut numbers = known.release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= KERNEL {
        return System.ok("kernel", known.release.as_str());
    }
    let fix = format!("run it on Linux {}.{} or newer", KERNEL.0, KERNEL.1);
    System.problem("kernel", format!("{} is too old", known.release), fix)
}

fn proc(known: &SystemFacts) -> DoctorFinding {
    if known.unreadable.is_empty() {
        return System.ok("/proc", "readable: waiting tasks and process trees can be detected");
    }
    let found = format!(
        "not readable: {}; waiting tasks or processes may go undetected",
        known.unreadable.join(", ")
    );
    System.problem("/proc", found, "mount -t proc proc /proc, and let this user read its own entries")
}

fn descriptors(known: &SystemFacts) -> DoctorFinding {
    match known.descriptors {
        Some(most) if most < DESCRIPTORS => System.problem(
            "open files",
            format!("at most {most}: too few for 256 tasks"),
            format!("ulimit -n {DESCRIPTORS}"),
        ),
        Some(most) => System.ok("open files", format!("at most {most}")),
        None => System.ok("open files", "no limit"),
    }
}

fn rights(known: &SystemFacts) -> DoctorFinding {
    if known.is_root {
        let found = "root: agents' commands can change anything; there is no sandbox";
        return System.note("user", found).fix("run it as another user");
    }
    System.ok("user", "not root; there is no sandbox")
}

fn groups(known: &SystemFacts) -> DoctorFinding {
    match &known.groups {
        Ok(home) => System.ok("control groups", format!("one for each task, in {}", home.display())),
        Err(why) => {
            let found = format!("none for tasks ({why}); their processes are ended one by one");
            with_systemd(known, System.note("control groups", found), OWN_SCOPE)
        }
    }
}

fn ceilings(known: &SystemFacts) -> DoctorFinding {
    match &known.ceilings {
        Ok(()) => System.ok("ceilings", "of memory and processes can be held by the kernel"),
        Err(why) => {
            let found = System.note("ceilings", format!("not held by the kernel, only polled: {why}"));
            let fix = if *why == CeilingObstacle::FirstVersion { UNIFIED } else { OWN_SCOPE };
            with_systemd(known, found, fix)
        }
    }
}

/// Adds a remedy that only systemd has.
fn with_systemd(known: &SystemFacts, finding: DoctorFinding, fix: &str) -> DoctorFinding {
    if known.has_systemd { finding.fix(fix) } else { finding }
}

fn program(known: &SystemFacts) -> DoctorFinding {
    match &known.on_path {
        Some(path) => System.ok("pilothouse", path.display().to_string()),
        None => System.problem(
            "pilothouse",
            "not on PATH: agents cannot start `pilothouse mcp`",
            "cargo install --path .",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::finding::FindingState;

    fn facts() -> SystemFacts {
        SystemFacts {
            release: "6.1.0-9-amd64".into(),
            unreadable: Vec::new(),
            descriptors: Some(1_048_576),
            is_root: false,
            groups: Ok("/sys/fs/cgroup/user.slice".into()),
            ceilings: Ok(()),
            has_systemd: true,
            on_path: Some("/usr/bin/pilothouse".into()),
        }
    }

    #[test]
    fn what_is_missing_is_a_problem_with_a_fix() {
        assert!(findings(&facts()).iter().all(|finding| finding.state == FindingState::Ok));
        let bad = SystemFacts {
            release: "5.8.18".into(),
            unreadable: vec!["syscall"],
            descriptors: Some(256),
            is_root: true,
            groups: Err("no cgroup v2 hierarchy holds this process"),
            ceilings: Err("your group also holds bash".into()),
            has_systemd: true,
            on_path: None,
        };
        let states: Vec<_> = findings(&bad).iter().map(|finding| finding.state).collect();
        use FindingState::{Note, Problem};
        assert_eq!(states, [Problem, Problem, Problem, Note, Note, Note, Problem]);
        assert!(findings(&bad).iter().all(|finding| finding.fix.is_some()));
    }
}

//! Checks of the kernel features that the runtime needs.

use std::os::unix::fs::MetadataExt as _;
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
/// The option of `/proc` that leaves out all but processes.
const ONLY_PROCESSES: &str = "subset=pid";
/// The limit on open files above which 256 tasks and their logs certainly fit.
const DESCRIPTORS: u64 = 2_048;

/// What is known about the system.
#[derive(Debug)]
pub(super) struct SystemFacts {
    release: String,
    unreadable: Vec<&'static str>,
    /// Whether other processes of this user can inspect this one.
    is_inspectable: bool,
    /// The mount options by which `/proc` hides things from this user.
    hiding: Vec<&'static str>,
    /// Whether a task is recognised although its parents are hidden.
    tasks_are_marked: bool,
    descriptors: Option<u64>,
    is_root: bool,
    /// Where each task gets a control group, or why it gets none.
    groups: Result<std::path::PathBuf, &'static str>,
    /// Whether the kernel could hold ceilings, or why not.
    ceilings: Result<(), CeilingObstacle>,
    has_systemd: bool,
    on_path: Option<std::path::PathBuf>,
    /// The folder of this program.
    folder: std::path::PathBuf,
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
            // Otherwise it belongs to root.
            is_inspectable: std::fs::metadata("/proc/self/environ")
                .is_ok_and(|own| own.uid() == rustix::process::geteuid().as_raw()),
            hiding: hiding_here(),
            tasks_are_marked: crate::process::are_task_marks_lasting(),
            descriptors: rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum,
            is_root: rustix::process::geteuid().is_root(),
            groups: crate::process::cgroups().map(Path::to_owned),
            ceilings: crate::process::can_claim_controllers(),
            has_systemd: Path::new("/run/systemd/system").exists(),
            on_path: on_path(host, "pilothouse"),
            folder: host.program().and_then(|program| Some(program.parent()?.to_owned())).unwrap_or_default(),
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
    if known.release.is_empty() {
        return System.note("kernel", "its version is not known: /proc does not show it");
    }
    if version >= KERNEL {
        return System.ok("kernel", known.release.as_str());
    }
    let fix = format!("run it on Linux {}.{} or newer", KERNEL.0, KERNEL.1);
    System.problem("kernel", format!("{} is too old", known.release), fix)
}

fn proc(known: &SystemFacts) -> DoctorFinding {
    if !known.unreadable.is_empty() {
        let found = format!(
            "not readable: {}; waiting tasks or processes may go undetected",
            known.unreadable.join(", ")
        );
        return System.problem(
            "/proc",
            found,
            "mount -t proc proc /proc, and let this user read its own entries",
        );
    }
    if !known.is_inspectable {
        let found =
            "this program cannot be inspected, as its user may not read its file: no console can attach";
        return System.problem("/proc", found, "chmod a+r \"$(readlink -f \"$(command -v pilothouse)\")\"");
    }
    if known.hiding.is_empty() {
        return System.ok("/proc", "readable: waiting tasks and process trees can be detected");
    }
    let mode = known.hiding.join(",");
    if known.hiding == [ONLY_PROCESSES] {
        let found = format!("{mode}: memory pressure, the boot and when processes started are not known");
        return System.note("/proc", found);
    }
    if !known.tasks_are_marked {
        let found = format!("{mode}: no console can attach, because it cannot be told from a task");
        return System.problem("/proc", found, "mount -o remount,hidepid=0 /proc");
    }
    let found = format!(
        "{mode}: what a command starts as another user (sudo) is not seen; a console is told from a task by its limit on \
         file locks"
    );
    System.note("/proc", found)
}

/// Returns the options by which `/proc` hides things from this process.
fn hiding_here() -> Vec<&'static str> {
    let mut options = hiding(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
    // Privileges and the group of `gid=` see everything.
    if std::fs::read("/proc/1/stat").is_ok() {
        options.retain(|option| *option == ONLY_PROCESSES);
    }
    options
}

/// Finds, in the text of `/proc/self/mountinfo`, the options by which `/proc` hides things, as people write them.
fn hiding(mounts: &str) -> Vec<&'static str> {
    // ID PARENT DEVICE ROOT MOUNT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS
    let last = mounts.lines().rfind(|line| line.split(' ').nth(4) == Some("/proc"));
    let options = last.and_then(|line| line.rsplit(' ').next()).unwrap_or_default();
    let name = |option| match option {
        "hidepid=1" | "hidepid=noaccess" => Some("hidepid=1"),
        "hidepid=2" | "hidepid=invisible" => Some("hidepid=2"),
        "hidepid=4" | "hidepid=ptraceable" => Some("hidepid=4"),
        ONLY_PROCESSES => Some(ONLY_PROCESSES),
        _ => None,
    };
    options.split(',').filter_map(name).collect()
}

fn descriptors(known: &SystemFacts) -> DoctorFinding {
    match known.descriptors {
        Some(most) if most < DESCRIPTORS => System.problem(
            "open files",
            format!("at most {most}: too few for 256 tasks"),
            // The program has raised its own soft limit already.
            format!("have the hard limit raised to {DESCRIPTORS}: `LimitNOFILE=` of systemd, or /etc/security/limits.conf"),
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
            format!("put the folder of this program on PATH: {}", known.folder.display()),
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
            is_inspectable: true,
            hiding: Vec::new(),
            tasks_are_marked: true,
            descriptors: Some(1_048_576),
            is_root: false,
            groups: Ok("/sys/fs/cgroup/user.slice".into()),
            ceilings: Ok(()),
            has_systemd: true,
            on_path: Some("/usr/bin/pilothouse".into()),
            folder: "/usr/bin".into(),
        }
    }

    #[test]
    fn a_missing_kernel_feature_is_a_finding_with_a_fix() {
        assert!(findings(&facts()).iter().all(|finding| finding.state == FindingState::Ok));
        let bad = SystemFacts {
            release: "5.8.18".into(),
            unreadable: vec!["syscall"],
            is_inspectable: true,
            hiding: Vec::new(),
            tasks_are_marked: false,
            descriptors: Some(256),
            is_root: true,
            groups: Err("no cgroup v2 hierarchy holds this process"),
            ceilings: Err("your group also holds bash".into()),
            has_systemd: true,
            on_path: None,
            folder: "/opt".into(),
        };
        let states: Vec<_> = findings(&bad).iter().map(|finding| finding.state).collect();
        use FindingState::{Note, Problem};
        assert_eq!(states, [Problem, Problem, Problem, Note, Note, Note, Problem]);
        assert!(findings(&bad).iter().all(|finding| finding.fix.is_some()));
    }

    #[test]
    fn f64_a_mount_that_hides_processes_is_named_with_what_it_costs() {
        let mount = |options: &str| {
            format!(
                "24 1 0:22 / /proc rw shared:5 - proc proc rw\n\
                 99 24 0:50 / /proc rw,nosuid - proc proc rw{options}\n\
                 30 25 0:28 / /proc/sys/fs/binfmt_misc rw - binfmt_misc b rw,hidepid=2\n"
            )
        };
        for (options, expected) in [
            ("", vec![]),
            (",hidepid=off,gid=4", vec![]),
            (",gid=4,hidepid=invisible", vec!["hidepid=2"]),
            (",hidepid=1", vec!["hidepid=1"]),
            (",hidepid=ptraceable,subset=pid", vec!["hidepid=4", "subset=pid"]),
        ] {
            assert_eq!(hiding(&mount(options)), expected, "{options}");
        }
        let found = |hiding: &[&'static str], tasks_are_marked| {
            let found = proc(&SystemFacts { hiding: hiding.to_vec(), tasks_are_marked, ..facts() });
            (found.state, found.found)
        };
        use FindingState::{Note, Problem};
        let unread = proc(&SystemFacts { is_inspectable: false, ..facts() });
        assert!(unread.state == Problem && unread.found.contains("no console can attach"), "{unread:?}");
        for (hiding, are_marked, state, cost) in [
            (&["hidepid=2"][..], true, Note, "another user (sudo) is not seen"),
            (&["hidepid=4", "subset=pid"], true, Note, "another user (sudo) is not seen"),
            (&["hidepid=1"], false, Problem, "no console can attach"),
            (&["subset=pid"], false, Note, "memory pressure"),
        ] {
            let (as_state, said) = found(hiding, are_marked);
            assert!(
                as_state == state && said.starts_with(&hiding.join(",")) && said.contains(cost),
                "{said}"
            );
        }
    }
}

//! The kernel: what the runtime reads and needs of it.

use std::path::Path;

use super::{Area, Finding};
use crate::dispatch::context::Host;

/// The oldest kernel that has what task hosts need.
const KERNEL: (u32, u32) = (5, 9);
/// Open files beyond which 256 tasks and their logs surely fit.
const DESCRIPTORS: u64 = 2_048;

/// What is known of the system.
#[derive(Debug)]
pub(super) struct Facts {
    release: String,
    unreadable: Vec<&'static str>,
    descriptors: Option<u64>,
    is_root: bool,
    /// Where each task gets a control group, or why it gets none.
    groups: Result<std::path::PathBuf, &'static str>,
    on_path: Option<std::path::PathBuf>,
}

impl Facts {
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
            on_path: super::agents::on_path(host, "pilothouse"),
        }
    }
}

/// Judges what is known.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    vec![kernel(facts), proc(facts), descriptors(facts), rights(facts), groups(facts), program(facts)]
}

fn kernel(facts: &Facts) -> Finding {
    let mut numbers = facts.release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= KERNEL {
        return Finding::ok(Area::System, "kernel", facts.release.as_str());
    }
    let fix = format!("run it on Linux {}.{} or newer", KERNEL.0, KERNEL.1);
    Finding::problem(Area::System, "kernel", format!("{} is too old", facts.release), fix)
}

fn proc(facts: &Facts) -> Finding {
    if facts.unreadable.is_empty() {
        return Finding::ok(Area::System, "/proc", "readable: waiting tasks and process trees are seen");
    }
    let found =
        format!("not readable: {}; waiting tasks or processes may be missed", facts.unreadable.join(", "));
    Finding::problem(
        Area::System,
        "/proc",
        found,
        "mount -t proc proc /proc, and let this user read its own entries",
    )
}

fn descriptors(facts: &Facts) -> Finding {
    match facts.descriptors {
        Some(most) if most < DESCRIPTORS => Finding::problem(
            Area::System,
            "open files",
            format!("at most {most}: too few for 256 tasks"),
            format!("ulimit -n {DESCRIPTORS}"),
        ),
        Some(most) => Finding::ok(Area::System, "open files", format!("at most {most}")),
        None => Finding::ok(Area::System, "open files", "no limit"),
    }
}

fn rights(facts: &Facts) -> Finding {
    if facts.is_root {
        let found = "root: commands of agents may change everything; there is no sandbox";
        return Finding::note(Area::System, "user", found).fix("run it as another user");
    }
    Finding::ok(Area::System, "user", "not root; there is no sandbox")
}

fn groups(facts: &Facts) -> Finding {
    match &facts.groups {
        Ok(home) => {
            Finding::ok(Area::System, "control groups", format!("one for each task, in {}", home.display()))
        }
        Err(why) => {
            let found = format!("none for tasks ({why}); their processes are ended one by one");
            Finding::note(Area::System, "control groups", found)
                .fix("systemd-run --user --scope -p Delegate=yes pilothouse")
        }
    }
}

fn program(facts: &Facts) -> Finding {
    match &facts.on_path {
        Some(path) => Finding::ok(Area::System, "pilothouse", path.display().to_string()),
        None => Finding::problem(
            Area::System,
            "pilothouse",
            "not on PATH: agents cannot start `pilothouse mcp`",
            "cargo install --path .",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn facts() -> Facts {
        Facts {
            release: "6.1.0-9-amd64".into(),
            unreadable: Vec::new(),
            descriptors: Some(1_048_576),
            is_root: false,
            groups: Ok("/sys/fs/cgroup/user.slice".into()),
            on_path: Some("/usr/bin/pilothouse".into()),
        }
    }

    #[test]
    fn what_is_missing_is_a_problem_with_a_fix() {
        assert!(findings(&facts()).iter().all(|finding| finding.state == State::Ok));
        let bad = Facts {
            release: "5.8.18".into(),
            unreadable: vec!["syscall"],
            descriptors: Some(256),
            is_root: true,
            groups: Err("no cgroup v2 hierarchy holds this process"),
            on_path: None,
        };
        let states: Vec<_> = findings(&bad).iter().map(|finding| finding.state).collect();
        use State::{Note, Problem};
        assert_eq!(states, [Problem, Problem, Problem, Note, Note, Problem]);
        assert!(findings(&bad).iter().all(|finding| finding.fix.is_some()));
    }
}

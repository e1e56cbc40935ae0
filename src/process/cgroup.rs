//! A control group (v2) per task, where one can be created: `cgroup.kill` kills at once what must otherwise be killed
//! step by step, and holds the command's ceilings if it has controllers. Groups are optional: without one, the tree is
//! killed process by process, and its ceilings are polled.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use rustix::fs::{Access, Mode, OFlags, access, open};
use rustix::process::Pid;

use super::group_counts::GroupCounts;
use crate::config::{Ceilings, USUAL_CPU_WEIGHT};

/// The leaf that a runtime moves itself into, so that the group around it hands its controllers on.
pub(super) const LEAF: &str = "pilothouse-self";

/// Where groups are created; determined once.
static HOME: OnceLock<Result<PathBuf, String>> = OnceLock::new();

/// Returns the folder in which each task gets a control group of its own.
///
/// # Errors
/// If none can be created here, with the reason in plain words.
pub fn cgroups() -> Result<&'static Path, &'static str> {
    HOME.get_or_init(find).as_deref().map_err(String::as_str)
}

fn find() -> Result<PathBuf, String> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let home = place(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
        .ok_or("no cgroup v2 hierarchy holds this process")?;
    let cannot = |error: io::Error| format!("{}: {error}", home.display());
    // Moving a process requires write access to both groups.
    access(home.join("cgroup.procs"), Access::WRITE_OK).map_err(|error| cannot(error.into()))?;
    let probe = home.join(format!("pilothouse-probe.{}", std::process::id()));
    fs::create_dir(&probe).map_err(cannot)?;
    let can_kill = probe.join("cgroup.kill").exists();
    fs::remove_dir(&probe).map_err(cannot)?;
    if can_kill { Ok(home) } else { Err("this kernel has no cgroup.kill".into()) }
}

/// Finds the folder of this process's group, or of that around its leaf: the mount of the hierarchy, and the path below
/// it.
fn place(mounts: &str, groups: &str) -> Option<PathBuf> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let own = own.strip_suffix(LEAF).map_or(own, |around| around.trim_end_matches('/'));
    // ID PARENT DEVICE ROOT MOUNT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        (after.starts_with("cgroup2 ") && root == "/").then_some(mount)
    })?;
    Some(Path::new(mount).join(own))
}

/// The group of one task; removed on drop if it contains no process.
#[derive(Debug)]
pub(super) struct Cgroup(PathBuf);

impl Cgroup {
    /// Returns the path for the group of a task of this runtime, if it can have one.
    pub(super) fn path(task_id: &str) -> Option<PathBuf> {
        cgroups().ok().map(|home| home.join(format!("{}{task_id}", prefix(std::process::id()))))
    }

    pub(super) fn make(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).ok().map(|()| Self(path))
    }

    /// Opens the group's folder, so that a process can be started in it. A process outside the group is found through
    /// its tree.
    pub(super) fn folder(&self) -> Option<OwnedFd> {
        open(&self.0, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
    }

    /// Has the kernel hold ceilings, as far as the group has controllers; returns those that it does not hold.
    pub(super) fn hold(&self, ceilings: &Ceilings) -> Ceilings {
        let set = |name: &str, value: &str| fs::write(self.0.join(name), value).is_ok();
        let memory = ceilings.memory.filter(|bytes| !set("memory.max", &bytes.to_string()));
        if memory.is_none() && ceilings.memory.is_some() {
            // Missing where the kernel does not count what is swapped out.
            set("memory.swap.max", "0");
            // Otherwise the largest process dies, and the shell goes on as if nothing had happened.
            set("memory.oom.group", "1");
        }
        let processes = ceilings.processes.filter(|most| !set("pids.max", &most.to_string()));
        if ceilings.cpu_weight != USUAL_CPU_WEIGHT {
            set("cpu.weight", &ceilings.cpu_weight.to_string());
        }
        Ceilings { memory, processes, ..*ceilings }
    }

    /// Tells whether a process, which was started for this group, is in it; where the kernel does not start processes in
    /// groups, it is moved now.
    pub(super) fn has(&self, pid: Pid) -> bool {
        let own = fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_pid())).unwrap_or_default();
        let name = self.0.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_in = own.lines().any(|line| line.starts_with("0::") && line.ends_with(name));
        is_in || fs::write(self.0.join("cgroup.procs"), pid.as_raw_pid().to_string()).is_ok()
    }

    /// Returns what the kernel has counted.
    pub(super) fn counts(&self) -> Option<GroupCounts> {
        GroupCounts::read(&self.0)
    }

    /// Kills every process in the group.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // That of a runtime that was started in it.
        let _ = fs::remove_dir(self.0.join(LEAF));
        let _ = fs::remove_dir(&self.0);
    }
}

fn prefix(runtime: u32) -> String {
    format!("pilothouse-{runtime}.")
}

/// Tells from the text of `/proc/PID/cgroup` whether a process is in the group of a task of any runtime.
pub(super) fn is_of_task(groups: &str) -> bool {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
    let mut names = own.split('/').filter_map(|name| name.strip_prefix("pilothouse-")?.split_once('.'));
    names.any(|(runtime, task)| runtime.parse::<u32>().is_ok() && task.starts_with("task_"))
}

/// Returns the kernel's id of the group of a task of this runtime, if it has one.
pub(super) fn id_of(task_id: &str) -> Option<u64> {
    fs::metadata(Cgroup::path(task_id)?).ok().map(|folder| folder.ino())
}

/// Finds the group of a task, whichever runtime created it.
pub(super) fn of_task(task_id: &str) -> Vec<Cgroup> {
    matching(|name| name.starts_with("pilothouse-") && name.ends_with(task_id))
}

/// Finds the groups of all tasks of a runtime.
pub(super) fn of_runtime(pid: u32) -> Vec<Cgroup> {
    matching(|name| name.starts_with(&prefix(pid)))
}

fn matching(is_meant: impl Fn(&str) -> bool) -> Vec<Cgroup> {
    let Ok(entries) = cgroups().map(fs::read_dir).and_then(|found| found.map_err(|_| "")) else {
        return Vec::new();
    };
    let meant = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(&is_meant));
    meant.map(|entry| Cgroup(entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_this_process_lies_below_the_mount_of_the_second_hierarchy() {
        let mounts = "24 1 0:22 / /proc rw - proc proc rw\n\
                      31 25 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n\
                      30 25 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:8 - cgroup2 cgroup2 rw\n";
        let groups = "4:memory:/x\n0::/user.slice/a.scope\n";
        let expected = Path::new("/sys/fs/cgroup/unified/user.slice/a.scope");
        assert_eq!(place(mounts, groups).as_deref(), Some(expected));
        for leaf in ["0::/user.slice/a.scope/pilothouse-self\n", "0::/user.slice/a.scope\n"] {
            assert_eq!(place(mounts, leaf).as_deref(), Some(expected), "{leaf}");
        }
        let root = Path::new("/sys/fs/cgroup/unified");
        assert_eq!(place(mounts, "0::/pilothouse-self\n").as_deref(), Some(root));
        assert_eq!(place(mounts, "0::/\n").as_deref(), Some(Path::new("/sys/fs/cgroup/unified/")));
        assert_eq!((place(mounts, "4:memory:/x\n"), place("", groups)), (None, None));
    }

    #[test]
    fn the_group_of_a_task_is_known_by_its_name() {
        let mine = format!("0::/user.slice/{}task_11111111/below\n", prefix(7));
        assert!(is_of_task(&mine));
        let others = ["", "0::/\n", "4:memory:/pilothouse-7.task_11111111\n", "0::/a/pilothouse-self\n"];
        assert!(others.iter().all(|groups| !is_of_task(groups)));
    }

    #[test]
    fn ceilings_that_the_kernel_cannot_hold_are_left_to_be_polled() {
        let folder = tempfile::tempdir().expect("temp dir");
        let group = Cgroup(folder.path().join("group"));
        fs::create_dir(&group.0).expect("made");
        let ceilings = Ceilings { memory: Some(1 << 20), processes: Some(9), cpu_weight: 50 };
        assert_eq!(group.hold(&ceilings), Ceilings { memory: None, processes: None, cpu_weight: 50 });
        let written = |name: &str| fs::read_to_string(group.0.join(name)).unwrap_or_default();
        let names = ["memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.weight"];
        assert_eq!(names.map(written), ["1048576", "0", "1", "9", "50"]);
        let nowhere = Cgroup(folder.path().join("no/such"));
        assert_eq!((nowhere.hold(&ceilings), nowhere.counts()), (ceilings, None));
    }

    #[test]
    fn making_a_group_in_a_missing_folder_gives_none() {
        let folder = tempfile::tempdir().expect("temp dir");
        assert!(Cgroup::make(folder.path().join("no/such")).is_none());
    }
}

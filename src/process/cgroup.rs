//! A control group (v2) per task, where one can be created: `cgroup.kill` kills at once what must otherwise be killed
//! step by step. Groups are optional: without one, the tree is killed process by process.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Access, Mode, OFlags, access, open};

/// Where groups are created; determined once.
static HOME: OnceLock<Result<PathBuf, String>> = OnceLock::new();

/// Returns the folder in which each task gets a control group of its own.
///
/// # Errors
/// If none can be created here, with the reason in plain words.
pub fn cgroups() -> Result<&'static Path, &'static str> {
    HOME.get_or_init(find).as_deref().map_err(String::as_str)
}

/// Tells whether the kernel holds the ceilings of commands.
///
/// # Errors
/// If it cannot, with the reason in plain words.
pub fn hard_ceilings() -> Result<(), &'static str> {
    cgroups().and(Err("control groups are not given limits"))
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

/// Finds the folder of this process's group: the mount of the hierarchy, and the path below it.
fn place(mounts: &str, groups: &str) -> Option<PathBuf> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
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

    /// Kills every process in the group.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn prefix(runtime: u32) -> String {
    format!("pilothouse-{runtime}.")
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
        assert_eq!(place(mounts, "0::/\n").as_deref(), Some(Path::new("/sys/fs/cgroup/unified/")));
        assert_eq!((place(mounts, "4:memory:/x\n"), place("", groups)), (None, None));
    }

    #[test]
    fn a_group_that_cannot_be_made_is_none() {
        let folder = tempfile::tempdir().expect("temp dir");
        assert!(Cgroup::make(folder.path().join("no/such")).is_none());
    }
}

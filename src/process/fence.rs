//! The isolation of a process: what a sandbox has put between it and others. Read from `/proc`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;

use super::tree::proc_file;

/// The namespaces in which a command would see a different environment.
const NAMESPACES: [&str; 4] = ["mnt", "pid", "user", "net"];
/// The lines of `/proc/PID/status` that describe a process's restrictions.
const RESTRICTIONS: [&str; 3] = ["Uid:", "NoNewPrivs:", "Seccomp:"];

/// The isolation of a process. Two processes with equal fences see and may do the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Device and inode of each namespace, and of the root folder.
    places: Vec<(u64, u64)>,
    restrictions: Vec<String>,
}

impl Fence {
    /// Returns the isolation of this process as of the first call: a runtime does not isolate itself.
    pub fn own() -> Option<&'static Self> {
        static OWN: OnceLock<Option<Fence>> = OnceLock::new();
        OWN.get_or_init(|| Self::of(std::process::id())).as_ref()
    }

    /// Returns the isolation of a process; `None` if it cannot be read, which counts as isolated.
    pub fn of(pid: u32) -> Option<Self> {
        let folder = format!("/proc/{pid}");
        let at =
            |name: String| fs::metadata(format!("{folder}/{name}")).map(|file| (file.dev(), file.ino())).ok();
        let namespaces = NAMESPACES.iter().map(|name| at(format!("ns/{name}")));
        let places = namespaces.chain([at("root".to_owned())]).collect::<Option<Vec<_>>>()?;
        let status = proc_file(i32::try_from(pid).ok()?, "status").ok()?;
        Some(Self { places, restrictions: restrictions(&String::from_utf8_lossy(&status)) })
    }
}

/// Tells whether this process runs in a sandbox of a program without privileges: it can gain none itself.
pub fn is_confined() -> bool {
    let status = proc_file(std::process::id().cast_signed(), "status").unwrap_or_default();
    restrictions(&String::from_utf8_lossy(&status)).iter().any(|line| line == "NoNewPrivs:\t1")
}

fn restrictions(status: &str) -> Vec<String> {
    let restricts = |line: &&str| RESTRICTIONS.iter().any(|name| line.starts_with(name));
    status.lines().filter(restricts).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_the_walls_of_its_parent_and_a_filter_is_a_wall() {
        let own = Fence::of(std::process::id());
        let parent = rustix::process::getppid().map_or(1, |pid| pid.as_raw_nonzero().get().unsigned_abs());
        assert!(own.is_some());
        assert_eq!(own, Fence::of(parent));
        assert_eq!(Fence::of(u32::MAX), None);
        let open = "Name:\ta\nUid:\t1\t1\t1\t1\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n";
        assert_eq!(restrictions(open).len(), 3);
        assert_ne!(restrictions(open), restrictions(&open.replace("Seccomp:\t0", "Seccomp:\t2")));
    }
}

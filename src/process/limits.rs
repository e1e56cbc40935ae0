//! Resource limits of processes. The descriptor limit is raised for the runtime and restored for the processes it
//! starts; no descriptors are inherited.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::tree::proc_file;

static ORIGINAL: OnceLock<Option<u64>> = OnceLock::new();

/// Raises this process's soft descriptor limit to the hard limit and returns it (`None` means no limit). Commands are
/// started with the previous limit.
///
/// # Errors
/// If the kernel refuses.
pub fn raise_descriptor_limit() -> io::Result<Option<u64>> {
    let limit = getrlimit(Resource::Nofile);
    ORIGINAL.get_or_init(|| limit.current);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    Ok(limit.maximum)
}

/// Sets close-on-exec on every descriptor above the standard streams, including inherited ones.
///
/// # Errors
/// If the kernel refuses.
pub fn keep_descriptors() -> io::Result<()> {
    super::sys::close_on_exec()
}

/// Returns the umask of this process.
#[must_use]
pub fn own_umask() -> Option<u32> {
    let status = proc_file(std::process::id().cast_signed(), "status").ok()?;
    let mask = std::str::from_utf8(&status).ok()?.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

/// Returns the soft limit a command gets, if this process raised its own.
pub(super) fn original() -> Option<u64> {
    ORIGINAL.get().copied().flatten()
}

/// Restores the given soft descriptor limit for this process, which is about to become the command.
pub(super) fn restore_descriptors(limit: Option<u64>) {
    if let Some(soft) = limit {
        lower(Resource::Nofile, soft);
    }
}

/// Sets the limits of a process that will become a command. If a limit cannot be set, that is ignored: the limits
/// protect the machine, not the command.
pub(super) fn apply() {
    lower(Resource::Core, 0);
    prefer_as_victim();
}

pub(super) fn lower(resource: Resource, soft: u64) {
    let limit = getrlimit(resource);
    let soft = limit.maximum.map_or(soft, |hard| hard.min(soft));
    let _ = setrlimit(resource, Rlimit { current: Some(soft), ..limit });
}

/// Makes the kernel prefer this command over the console when it runs out of memory.
fn prefer_as_victim() {
    const FILE: &str = "/proc/self/oom_score_adj";
    const SCORE: i32 = 500;
    let present = std::fs::read_to_string(FILE).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if present.is_some_and(|present| present < SCORE) {
        let _ = std::fs::write(FILE, SCORE.to_string());
    }
}

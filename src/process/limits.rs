//! Resource limits of processes. The descriptor limit is raised for the runtime and restored for the processes it
//! starts; no descriptors are inherited.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::tree::proc_file;

/// How much the kernel prefers a process when it runs out of memory, and the least for a victim.
const VICTIM_FILE: &str = "/proc/self/oom_score_adj";
const VICTIM: i32 = 500;

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

/// Keeps this process from dumping its memory, which may contain secrets, into a file or to a program when it crashes:
/// one byte is too little for a file, and is the only limit at which the kernel starts no program (core(5)).
pub fn forgo_core_dump() {
    lower(Resource::Core, 1);
}

/// Bounds the memory of this process, in bytes: what it cannot have, ends it.
pub fn bound_memory(bytes: u64) {
    lower(Resource::Data, bytes);
}

/// Sets close-on-exec on every descriptor above the standard streams, including inherited ones.
///
/// # Errors
/// If the kernel refuses.
pub fn keep_descriptors() -> io::Result<()> {
    super::sys::close_on_exec()
}

/// Returns the umask of this process.
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
/// protect the machine, not the command. When memory runs out, the kernel then prefers it over the console; with
/// `is_victim`, it does so already.
pub(super) fn apply(is_victim: bool) {
    lower(Resource::Core, 0);
    if !is_victim {
        let _ = std::fs::write(VICTIM_FILE, VICTIM.to_string());
    }
}

/// Tells whether the kernel prefers this process, and so what it starts, when memory runs out; true if that cannot be
/// read.
pub(super) fn is_victim() -> bool {
    let present = std::fs::read_to_string(VICTIM_FILE).ok().and_then(|text| text.trim().parse::<i32>().ok());
    present.is_none_or(|present| present >= VICTIM)
}

pub(super) fn lower(resource: Resource, soft: u64) {
    let limit = getrlimit(resource);
    let soft = limit.maximum.map_or(soft, |hard| hard.min(soft));
    let _ = setrlimit(resource, Rlimit { current: Some(soft), ..limit });
}

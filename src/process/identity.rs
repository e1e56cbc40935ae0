//! What tells a process from every other one there was or will be: pid, start and boot.

use std::fs;

use super::tree::Process;

/// A process, for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its process id, used again once it is gone.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start: u64,
    /// The boot those ticks count from.
    pub boot_id: String,
}

impl Identity {
    /// Returns the identity of this process.
    #[must_use]
    pub fn own() -> Self {
        let pid = std::process::id();
        let process = i32::try_from(pid).ok().and_then(Process::read);
        Self { pid, start: process.map_or(0, |process| process.start), boot_id: boot_id() }
    }
}

/// Returns the id of this boot of the machine; empty where the kernel does not tell.
#[must_use]
pub fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_start_in_this_boot() {
        let own = Identity::own();
        assert!(own.pid > 1 && own.start > 0 && own.boot_id.len() == 36, "{own:?}");
        assert_eq!(own, Identity::own());
    }
}

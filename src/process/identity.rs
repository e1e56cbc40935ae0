//! Process identity: what distinguishes a process from all others, past and future, and which process a person acted
//! through.

use std::fs;

use jiff::{SignedDuration, Timestamp};

use super::tree::{self, ProcessEntry};
use crate::model::ConsoleProcess;

/// Identifies a process permanently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its process id, which may be reused once it is gone.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start: u64,
    /// The boot that those ticks count from.
    pub boot_id: String,
}

impl Identity {
    /// Returns the identity of this process.
    pub fn own() -> Self {
        Self::of(std::process::id())
    }

    /// Returns the identity of a process; it started at 0 if there is none.
    pub fn of(pid: u32) -> Self {
        let process = i32::try_from(pid).ok().and_then(ProcessEntry::read);
        Self { pid, start: process.map_or(0, |process| process.start), boot_id: boot_id() }
    }
}

/// Returns the id of the machine's current boot; empty if the kernel does not provide it.
pub fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// Looks up the process through which a person acts.
pub fn console_process(pid: u32) -> ConsoleProcess {
    let process = i32::try_from(pid).ok().and_then(ProcessEntry::read);
    let started = process.as_ref().and_then(|process| start_time(process.start));
    let terminal = process.and_then(|process| terminal_name(process.terminal));
    ConsoleProcess { pid, started, terminal, from: None }
}

/// Looks up this process.
pub fn own_console_process() -> ConsoleProcess {
    console_process(std::process::id())
}

/// The initial UTS namespace of the machine; other UTS namespaces have other numbers.
const OWN_NAMES: &str = "4026531838";

/// Returns the container this process is in, identified by its UTS namespace; `None` outside of containers. A sandbox
/// that an agent creates for itself mostly keeps its creator's namespace.
pub fn container() -> Option<String> {
    let name = fs::read_link("/proc/self/ns/uts").ok()?;
    let number = name.to_str()?.strip_prefix("uts:[")?.strip_suffix(']')?;
    (number != OWN_NAMES).then(|| number.to_owned())
}

/// Returns the time that is `ticks` clock ticks after boot.
fn start_time(ticks: u64) -> Option<Timestamp> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    let since = i64::try_from(ticks.saturating_mul(1_000) / per_second).ok()?;
    Timestamp::from_second(boot).ok()?.checked_add(SignedDuration::from_millis(since)).ok()
}

/// Returns the name of the terminal with this device number, as found in `/proc/PID/stat`.
fn terminal_name(device: i64) -> Option<String> {
    Some(match tree::device_numbers(device)? {
        (major @ 136..=143, minor) => format!("/dev/pts/{}", (major - 136) * 256 + minor),
        (4, minor @ 0..=63) => format!("/dev/tty{minor}"),
        (4, minor) => format!("/dev/ttyS{}", minor - 64),
        (major, minor) => format!("terminal {major}:{minor}"),
    })
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

    #[test]
    fn terminals_are_named_by_their_device() {
        for (device, name) in [
            (0, None),
            (-1, None),
            (136 << 8, Some("/dev/pts/0")),
            ((136 << 8) | 3, Some("/dev/pts/3")),
            ((4 << 8) | 1, Some("/dev/tty1")),
            ((4 << 8) | 64, Some("/dev/ttyS0")),
            ((229 << 8) | 2, Some("terminal 229:2")),
        ] {
            assert_eq!(terminal_name(device).as_deref(), name, "{device}");
        }
    }

    #[test]
    fn this_process_started_before_now_and_after_its_machine() {
        let own = own_console_process();
        assert_eq!(own.pid, std::process::id());
        let started = own.started.expect("told");
        assert!(
            started <= crate::clock::Clock::start().now().wall && started > Timestamp::UNIX_EPOCH,
            "{own:?}"
        );
        let gone = console_process(u32::MAX);
        assert_eq!(gone.to_string(), format!("pid {} without a terminal", u32::MAX));
        let far = gone.carrying(Some("ada@laptop via ssh".into()));
        assert_eq!(far.to_string(), format!("ada@laptop via ssh (pid {})", u32::MAX));
    }
}

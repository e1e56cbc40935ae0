//! A mark that every process of a task inherits and cannot drop, whatever it does to its parents, session, name and
//! environment: a hard limit on file locks (`RLIMIT_LOCKS`), which Linux no longer applies. Only privileges raise a hard
//! limit again. It decides where `/proc` hides the chain of parents.

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, capability_is_in_bounding_set};

use super::cgroup;
use super::tree::proc_file;

/// The hard limit of processes of tasks, in locks. Others have none.
const MARK: u64 = 1 << 40;

/// Whether a process has the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskMark {
    Present,
    Absent,
    /// It cannot be read, or a task could have dropped it.
    Unsure,
}

impl TaskMark {
    /// Marks this process and all that it starts. Where that is not allowed, every mark is [`Self::Unsure`].
    pub(super) fn set() {
        let Rlimit { current, maximum } = getrlimit(Resource::Locks);
        let least = |limit: Option<u64>| Some(limit.map_or(MARK, |limit| limit.min(MARK)));
        let _ = setrlimit(Resource::Locks, Rlimit { current: least(current), maximum: least(maximum) });
    }

    /// Reads that of a process. Being in the control group of a task counts as well.
    pub(super) fn of(pid: i32) -> Self {
        let read = |name: &str| proc_file(pid, name).ok().and_then(|text| String::from_utf8(text).ok());
        if read("cgroup").is_some_and(|groups| cgroup::is_of_task(&groups)) {
            return Self::Present;
        }
        match read("limits").as_deref().and_then(has_limit) {
            Some(true) => Self::Present,
            Some(false) if is_lasting() => Self::Absent,
            _ => Self::Unsure,
        }
    }
}

/// Tells from the text of `/proc/PID/limits` whether the hard limit is that of a task.
fn has_limit(limits: &str) -> Option<bool> {
    let hard = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    match hard.split_ascii_whitespace().nth(1)? {
        "unlimited" => Some(false),
        number => number.parse::<u64>().ok().map(|hard| hard <= MARK),
    }
}

/// Tells whether tasks of this user are marked and stay so: it may set limits, and none of its processes may raise them.
#[must_use]
pub fn is_lasting() -> bool {
    let raising = CapabilitySet::SYS_RESOURCE;
    let has_it = capabilities(None).map_or(true, |own| own.permitted.contains(raising));
    // A program that root executes gets every capability that is not barred.
    let gets_it = geteuid().is_root() && capability_is_in_bounding_set(raising).unwrap_or(true);
    !has_it && !gets_it && setrlimit(Resource::Locks, getrlimit(Resource::Locks)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f64_a_limit_of_file_locks_is_the_mark() {
        let limits = |hard: &str| {
            format!(
                "Limit Soft Hard Units\nMax address space unlimited unlimited bytes\nMax file locks  7  {hard}  locks\n"
            )
        };
        for (hard, expected) in [
            ("unlimited", Some(false)),
            ("1099511627777", Some(false)),
            ("1099511627776", Some(true)),
            ("0", Some(true)),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(has_limit(&limits(hard)), expected, "{hard}");
        }
        assert_eq!(has_limit("Max processes 1 1 processes\n"), None);
    }
}

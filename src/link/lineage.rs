//! Whether a process descends from a managed task, told from `/proc`.

use std::path::PathBuf;

/// The longest chain of parents looked at.
const MAX_CHAIN: usize = 4096;

/// Tells whether `pid` runs beneath a task host of the runtime `runtime`. A process that cannot be
/// looked at counts as one that does.
pub(super) fn descends_from_task(pid: u32, runtime: u32) -> bool {
    beneath_host(pid, runtime, parent, is_host)
}

/// Walks up from `pid`: the last process before the runtime itself decides.
fn beneath_host(
    pid: u32,
    runtime: u32,
    parent: impl Fn(u32) -> Option<u32>,
    is_host: impl Fn(u32) -> bool,
) -> bool {
    let mut at = pid;
    for _ in 0..MAX_CHAIN {
        if at == runtime || at <= 1 {
            return false;
        }
        match parent(at) {
            Some(up) if up == runtime => return is_host(at),
            Some(up) => at = up,
            None => return true,
        }
    }
    true
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(proc(pid, "stat")).ok()?;
    // The second field is the name in parentheses and may hold anything, parentheses too.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn is_host(pid: u32) -> bool {
    std::fs::read(proc(pid, "cmdline"))
        .is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(b"__host"))
}

fn proc(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 is the runtime, 200 its task host, 300 its pager, 50 the shell that started it.
    fn family(pid: u32) -> Option<u32> {
        match pid {
            50 => Some(1),
            100 => Some(50),
            200 | 300 => Some(100),
            201 => Some(200),
            202 => Some(201),
            301 => Some(300),
            _ => None,
        }
    }

    #[test]
    fn only_what_runs_beneath_a_task_host_of_this_runtime_descends_from_a_task() {
        for (pid, expected) in
            [(100, false), (50, false), (200, true), (202, true), (301, false), (999, true)]
        {
            assert_eq!(beneath_host(pid, 100, family, |pid| pid == 200), expected, "pid {pid}");
        }
    }

    #[test]
    fn a_loop_of_parents_ends() {
        assert!(beneath_host(7, 100, |pid| Some(if pid == 7 { 8 } else { 7 }), |_| true));
    }

    #[test]
    fn this_process_has_a_parent_and_is_no_host() {
        let me = std::process::id();
        assert!(parent(me).is_some_and(|up| up > 0));
        assert!(!is_host(me));
        assert!(!descends_from_task(me, me));
    }
}

//! Processes that could not be ended: which ones are alive, and whose they are.

use std::fs::File;
use std::io::Read as _;

use super::tree::{ProcessEntry, proc_file, refuses_signals};
use crate::envelope::one_line;
use crate::model::UnendedProcess;
use crate::model::unended::NAME_CHARS;

/// The maximum number of processes that are remembered.
const MOST: usize = 1000;
/// The owner of a process, where it cannot be named.
const SOMEONE: &str = "another user";
/// The user that the kernel shows in place of one from outside of this user namespace.
const OVERFLOW: u32 = 65_534;
/// Enough bytes for any password file that is read.
const PASSWORDS: u64 = 4 << 20;

/// Describes those of the processes that are alive, at most a thousand.
pub(super) fn describe_unended<'a>(
    processes: impl IntoIterator<Item = &'a ProcessEntry>,
) -> Vec<UnendedProcess> {
    let describe = |process: &ProcessEntry| UnendedProcess {
        name: one_line(&process.name, NAME_CHARS),
        pid: Some(process.pid),
        start: process.start,
        owner: process.refuses_signals().then(|| owner(process.pid)),
    };
    processes.into_iter().filter(|process| process.is_alive()).take(MOST).map(describe).collect()
}

/// Returns those of the processes that are still alive.
pub fn still_alive<'a>(processes: impl IntoIterator<Item = &'a UnendedProcess>) -> Vec<UnendedProcess> {
    processes.into_iter().filter(|process| is_still_alive(process)).cloned().collect()
}

/// Tells whether a process that was to be ended is still alive.
pub fn is_still_alive(process: &UnendedProcess) -> bool {
    let Some(pid) = process.pid else { return false };
    match ProcessEntry::read(pid) {
        Some(now) => now.start == process.start && now.is_alive(),
        None => process.start == 0 && refuses_signals(pid),
    }
}

/// Names the user that a process belongs to.
fn owner(pid: i32) -> String {
    let status = proc_file(pid, "status").unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let real = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_ascii_whitespace().next());
    match real.and_then(|uid| uid.parse().ok()) {
        Some(OVERFLOW) | None => SOMEONE.to_owned(),
        Some(uid) => user_name(uid).unwrap_or_else(|| format!("user {uid}")),
    }
}

/// Returns the name of a user in the password file.
fn user_name(uid: u32) -> Option<String> {
    let mut text = Vec::new();
    File::open("/etc/passwd").ok()?.take(PASSWORDS).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| one_line(name, NAME_CHARS))
    });
    named.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_a_later_process_with_its_id_is_another_one() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let entry = ProcessEntry::read(own).expect("reads");
        let [process] = &describe_unended([&entry])[..] else { panic!("one process") };
        assert_eq!((is_still_alive(process), &process.owner), (true, &None));
        assert!(!is_still_alive(&UnendedProcess { start: process.start + 1, ..process.clone() }));
        assert!(!std::path::Path::new("/etc/passwd").exists() || user_name(0).is_some());
    }
}

//! Which failures are only an answer: `grep` that found nothing, `test` that was not true, `diff` that found a difference.
//! They are drawn dim, for red is what deserves a look. Pure.

use crate::consequence::rule_words::{Joint, joined_commands};
use crate::model::{TaskStatus, TaskView};

/// Programs whose exit code 1 means *no*, and whose troubles have another one.
const ANSWERING: [&str; 14] = [
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "test", "[", "[[", "diff", "cmp", "pgrep", "which", "expr",
];

/// The same for what follows one of these words.
const ANSWERING_PAIRS: [(&str, &str); 4] =
    [("git", "grep"), ("git", "diff"), ("git", "check-ignore"), ("command", "-v")];

/// Tells whether a task failed, but only says *no*: exit code 1 of a program that answers with it, and nothing on its
/// standard error.
pub(crate) fn answers_no(task: &TaskView) -> bool {
    let Some(ended) = task.ended.as_ref().filter(|_| task.status == TaskStatus::Failed) else { return false };
    let is_one = ended.exit_status == Some(1) && ended.signal.is_none() && ended.error.is_none();
    let is_silent = if task.tty { task.output.bytes == 0 } else { task.output.stderr_bytes == 0 };
    is_one && is_silent && !ended.timed_out && task.cmd_chars.is_none() && only_answers(&task.cmd)
}

/// Tells whether the exit code of a command line is that of a program that answers with it: of the last of its parts,
/// and of all that `&&` joins to it.
pub(crate) fn only_answers(cmd: &str) -> bool {
    let Some(parts) = joined_commands(cmd) else { return false };
    let from = parts.iter().rposition(|(joint, _)| !matches!(joint, Joint::And | Joint::Pipe)).unwrap_or(0);
    let parts = parts.get(from..).unwrap_or_default();
    // In a pipeline, the last command decides.
    let deciding = parts
        .iter()
        .enumerate()
        .filter(|(at, _)| parts.get(at + 1).is_none_or(|(joint, _)| *joint != Joint::Pipe));
    let mut words = deciding.map(|(_, (_, words))| words.as_slice());
    let mut is_answered = false;
    words.all(|words| {
        let is_answer = is_answer(words);
        is_answered |= is_answer;
        // What follows comes only if this has succeeded; where it has not, it says why.
        is_answer || words.first().is_some_and(|first| first == "cd")
    }) && is_answered
}

fn is_answer(words: &[String]) -> bool {
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let words = words.strip_prefix(["!".to_owned()].as_slice()).unwrap_or(words);
    let Some((first, rest)) = words.split_first() else { return false };
    let first = name(first);
    let second = rest.first().map(String::as_str).unwrap_or_default();
    ANSWERING.contains(&first.as_str()) || ANSWERING_PAIRS.contains(&(first.as_str(), second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_only_answers_no_is_told_from_one_that_fails() {
        for cmd in [
            "grep -rn 'a && b' src",
            "/usr/bin/test -f x",
            "[ -d target ]",
            "cd /repo && grep x y",
            "make; rg x",
            "cat a | grep -q x",
            "git diff --quiet",
            "test -f a && grep x a",
            "! grep x y",
            "cat x || grep x y",
        ] {
            assert!(only_answers(cmd), "{cmd}");
        }
        for cmd in [
            "cargo test",
            "cargo test && grep x y",
            "grep x y | sort",
            "grep x y && cargo test",
            "cd /repo",
            "git push",
            "grep $(false) x",
            "echo \"$(false)\" | grep x",
            "(grep x y)",
            "grep x y 2>&1",
            "grep 'x",
            "",
        ] {
            assert!(!only_answers(cmd), "{cmd}");
        }
    }
}

//! The lines of `state.md`: a log of events, appended as they happen. Pure.

use std::path::PathBuf;

use jiff::Timestamp;

/// A line of a `state.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLine {
    /// The folder of the used program that it belongs to; `None` for the run's own.
    pub of: Option<PathBuf>,
    /// The line.
    pub text: String,
    /// How often the file contains it.
    pub times: usize,
}

/// Returns the header lines.
pub fn header(run: &str, program: &str) -> String {
    format!("# run:{run} {program}\n\n")
}

/// Returns the line for a completed statement.
pub fn completion(number: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{number}→ {name} ✓"),
        None => format!("{number}→ ✓"),
    }
}

/// Returns the line for the start of branches.
pub fn fork(number: &str, names: &[String]) -> String {
    format!("{number}→ ∥start {}", names.join(","))
}

/// Returns the line for the join of branches.
pub fn join(number: &str) -> String {
    format!("{number}→ ∥done")
}

/// Returns the line for the start of a loop iteration, or for leaving the loop for a reason.
pub fn pass(number: &str, pass: u32, max: Option<u32>, left: Option<&str>) -> String {
    let max = max.map_or_else(|| "-".to_owned(), |max| max.to_string());
    let left = left.map(|reason| format!(" exit({reason})")).unwrap_or_default();
    format!("{number}→ loop:{pass}/{max}{left}")
}

/// Returns the line for the call of a block.
pub fn call(number: &str, block: &str, id: u32) -> String {
    format!("{number}→ block:{block}#{id}")
}

/// Returns the line for the return from a block call.
pub fn call_end(number: &str, id: u32) -> String {
    format!("{number}→ #{id} done")
}

/// Returns the line for a failed statement.
pub fn failure(number: &str, message: &str) -> String {
    format!("{number}→ ✗ {}", one_line(message))
}

/// Returns the line for the retry of a session.
pub fn retry(number: &str, attempt: u32, max: u32) -> String {
    format!("{number}→ retry:{attempt}/{max}")
}

/// Returns the line for an event at a gate. (The language's specification has no line for it.)
pub fn gate(number: &str, gate: &str, what: &str) -> String {
    format!("{number}→ gate:{gate} {what}")
}

/// Returns the line for the end of the program.
pub fn end(at: Timestamp) -> String {
    format!("---end {at:.0}")
}

/// Returns the line for an error that ended the program.
pub fn error(at: Timestamp, message: &str) -> String {
    format!("---error {at:.0} {}", one_line(message))
}

/// Returns the line for resuming an interrupted program. (Not in the language's specification.)
pub fn resumption(at: Timestamp) -> String {
    format!("---resumed {at:.0}")
}

/// Reduces a message to one line, because each line of the file is one event.
fn one_line(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(400).collect()
}

/// Returns the letters of a branch: `a` for the first, `aa` after `z`.
pub fn letter(branch: usize) -> String {
    let mut letters = Vec::new();
    let mut left = branch + 1;
    while left > 0 {
        left -= 1;
        letters.push(char::from(b'a' + u8::try_from(left % 26).unwrap_or(0)));
        left /= 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_as_the_language_says() {
        // docs/prose-rules.md#rule-32: what is counted, and how branches are lettered.
        assert_eq!(header("20260115-143052-a7b3c9", "x.prose"), "# run:20260115-143052-a7b3c9 x.prose\n\n");
        assert_eq!(completion("1", Some("research")), "1→ research ✓");
        assert_eq!(completion("5", None), "5→ ✓");
        assert_eq!(fork("2", &["a".into(), "b".into()]), "2→ ∥start a,b");
        assert_eq!(join("2"), "2→ ∥done");
        assert_eq!(pass("3", 2, Some(5), None), "3→ loop:2/5");
        assert_eq!(pass("3", 3, None, Some("**done**")), "3→ loop:3/- exit(**done**)");
        assert_eq!(
            (call("4", "process", 43), call_end("4", 43)),
            ("4→ block:process#43".into(), "4→ #43 done".into())
        );
        assert_eq!(failure("5", "exit code 7:\n why"), "5→ ✗ exit code 7: why");
        let at: Timestamp = "2026-01-15T14:35:22.9Z".parse().expect("a time");
        assert_eq!(end(at), "---end 2026-01-15T14:35:22Z");
        assert_eq!(error(at, "timeout"), "---error 2026-01-15T14:35:22Z timeout");
    }

    #[test]
    fn branches_are_lettered_beyond_the_alphabet() {
        let letters = [0, 1, 25, 26, 27, 51, 52, 701, 702].map(letter);
        assert_eq!(letters, ["a", "b", "z", "aa", "ab", "az", "ba", "zz", "aaa"]);
    }
}

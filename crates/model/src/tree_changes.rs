//! What differs in the workspace's tree since a command began, or since an agent's first one: counts, and files with
//! what they held before and after. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use pilothouse_envelope::TaskId;

/// What differs in the tree since a command began, in files. It is not all the work of that command: whatever else
/// wrote meanwhile is counted too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TreeChanges {
    /// Files that were not there.
    pub added: u64,
    /// Files with other contents or another mode.
    pub modified: u64,
    /// Files that are no longer there.
    pub deleted: u64,
    /// Those of all these that are as in the commit to which git has moved meanwhile.
    #[serde(default, skip_serializing_if = "crate::timeline::is_zero")]
    pub by_git: u64,
    /// Commands that ran at the same time: whose a change is, nobody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<TaskId>,
    /// Commands that are one entry, this one among them: they followed each other at once, and no look fitted between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<TaskId>,
    /// It was undone since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// Why the list may miss something, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

impl TreeChanges {
    /// Returns how many files differ.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.added.saturating_add(self.modified).saturating_add(self.deleted)
    }

    /// Tells whether it is not known if anything differs: nothing was seen, and something may have been missed.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.total() == 0 && self.incomplete.is_some()
    }
}

/// `+3 ~12 -1`; what is zero is left out, `none` says that nothing differs, and `not known` that this is not known.
impl fmt::Display for TreeChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [('+', self.added), ('~', self.modified), ('-', self.deleted)];
        let words =
            counts.iter().filter(|(_, count)| *count > 0).map(|(mark, count)| format!("{mark}{count}"));
        let words: Vec<String> = words.collect();
        if words.is_empty() {
            return f.write_str(if self.is_unknown() { "not known" } else { "none" });
        }
        f.write_str(&words.join(" "))
    }
}

/// What is asked of an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoRequest {
    /// The task whose changes are meant.
    pub task: TaskId,
    /// Bring back what an undo of it has taken.
    pub is_redo: bool,
    /// Only tell what would be done.
    pub is_dry: bool,
}

/// What an undo would do or has done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UndoReport {
    /// A line for each file: `put back a`, `remove b`.
    pub steps: Vec<String>,
    /// Why nothing can be undone, a line for each file or one for all.
    pub refused: Vec<String>,
    /// Whether it was done.
    pub is_done: bool,
    /// If nothing is left to be undone: what an undo has taken and can bring back, a line for each file.
    pub redo: Vec<String>,
    /// The commands that are undone together, if it is more than the one that was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<TaskId>,
}

impl UndoReport {
    /// What is not covered, in one sentence.
    pub const LIMITS: &str =
        "Not covered: ignored files, empty folders, times, anything outside the workspace, other processes.";
}

/// What differs, file by file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangesReport {
    /// In numbers.
    pub changes: TreeChanges,
    /// The files, by path; those beyond the bounds of a reply are left out.
    pub files: Vec<ChangedFile>,
    /// How many files were left out.
    pub left_out: u64,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path below the workspace; what is no text is escaped.
    pub path: String,
    /// Whether it was there before.
    pub was: bool,
    /// Whether it is there after.
    pub is: bool,
    /// Its text before, if it is known, is text, and not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its text after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What else is to be said of it, such as why its text is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ChangedFile {
    /// Returns its mark: `+`, `~` or `-`.
    #[must_use]
    pub fn mark(&self) -> char {
        match (self.was, self.is) {
            (false, _) => '+',
            (true, true) => '~',
            (true, false) => '-',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_leave_out_what_is_zero() {
        let counts = |added, modified, deleted| {
            TreeChanges { added, modified, deleted, ..TreeChanges::default() }.to_string()
        };
        assert_eq!(counts(3, 12, 1), "+3 ~12 -1");
        assert_eq!(counts(0, 2, 0), "~2");
        assert_eq!(counts(0, 0, 0), "none");
        let unknown = TreeChanges { incomplete: Some("it began too early".into()), ..TreeChanges::default() };
        assert_eq!(unknown.to_string(), "not known");
    }
}

//! What can be wrong with a recording, and how that is described.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place where a recording is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The first affected line.
    pub first: u64,
    /// The last affected line.
    pub last: u64,
    /// The file.
    pub segment: String,
    /// The byte offset in the file.
    pub offset: u64,
}

/// A kind of problem with a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The lines were changed.
    Changed,
    /// The lines are missing.
    Missing,
    /// The line does not follow from the one before it.
    Unlinked,
    /// A line that does not belong in this place.
    Foreign,
    /// The end is torn: a line was being written when the writer died.
    Torn,
    /// The line was written by a newer program; nothing after it is read.
    Version,
    /// The file cannot be read.
    Unreadable,
    /// Lines that were synced are missing at the end.
    CutOff,
    /// The line is repeated although no segment takes over from its predecessor here.
    Repeated,
    /// The file does not have the number that follows the one before it.
    Renumbered,
    /// `head.json` is missing or broken, so whether the end was cut off cannot be determined.
    Unsealed,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, first, last, segment, offset } = self;
        let rows = if first == last { format!("row {first}") } else { format!("rows {first} to {last}") };
        let what = match kind {
            ProblemKind::Changed => format!("{rows}: changed since written"),
            ProblemKind::Missing => format!("{rows}: missing"),
            ProblemKind::Unlinked => format!("{rows}: does not follow from the row before"),
            ProblemKind::Foreign => format!("{rows}: a line that does not belong there"),
            ProblemKind::Torn => format!("{rows}: torn, the writer died while it was written"),
            ProblemKind::Version => format!("{rows}: written by a newer program, not read"),
            ProblemKind::Unreadable => format!("{rows}: the file cannot be read"),
            ProblemKind::CutOff => format!("{rows}: cut off the end"),
            ProblemKind::Repeated => format!("{rows}: appears a second time"),
            ProblemKind::Renumbered => {
                return write!(
                    f,
                    "{segment} does not follow the file before it: removed or renamed (row {first})"
                );
            }
            ProblemKind::Unsealed => {
                return write!(
                    f,
                    "{segment} is missing or broken: rows after row {first} may have been cut off"
                );
            }
        };
        write!(f, "{what} ({segment}, byte {offset})")
    }
}

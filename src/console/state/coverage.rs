//! What an answer showed of the output of commands, and the transcripts to compare it with.

use crate::envelope::TaskId;
use crate::runtime::OutputStream;

/// The transcript of a stream, from the log as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamTranscript {
    /// The complete text.
    pub all: String,
    /// The text up to where the reading began.
    pub before: String,
    /// The text up to where the reading ended, if that is on record.
    pub until: Option<String>,
}

/// A command, with the parts of its output that an answer showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandCoverage {
    /// Its name among several: `[2] wc -l src/run.rs`. Empty when it is the only one.
    pub name: String,
    /// Its streams, or why they cannot be shown.
    pub streams: Result<Vec<(CoveredStream, StreamTranscript)>, String>,
}

/// A command whose output is shown in an answer, at least in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredCommand {
    /// Its name among several: `[2] wc -l src/run.rs`. Empty when it is the only one.
    pub name: String,
    /// The task whose log has all of its output, or why there is none.
    pub task: Result<TaskId, &'static str>,
    /// The parts of its output that were sent.
    pub streams: Vec<CoveredStream>,
}

/// A stream of which an answer shows a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredStream {
    pub stream: OutputStream,
    /// The text that was sent; `None` if it was blank.
    pub sent: Option<String>,
    /// Whether something in the middle was left out.
    pub is_cut: bool,
    /// Whether an agent gave it to its model in its own way, with lines of its own.
    pub is_native: bool,
    /// The log offset at which the reading began.
    pub from: u64,
    /// The log offset at which it ended, if that is on record.
    pub to: Option<u64>,
}

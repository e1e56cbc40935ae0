//! The progress of `exec`, as it is reported.

use serde::{Deserialize, Serialize};

/// The progress of a stream of commands (the call `exec`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamView {
    /// The input: a file's name, or `stdin`.
    pub source: String,
    /// Whether commands are only reported, not executed.
    pub dry_run: bool,
    /// Number of lines answered.
    pub done: u64,
    /// Number of these that failed.
    pub failed: u64,
    /// The last lines, oldest first, ending with the one in progress.
    pub lines: Vec<StreamLine>,
    /// Whether the stream has ended.
    pub is_over: bool,
}

/// One line of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLine {
    /// The line number, starting at 1.
    pub line: u64,
    /// The path of its command, if it could be parsed.
    pub cmd: String,
    /// A short description.
    pub note: String,
    /// `ok`, or its error code; null while in progress.
    pub state: Option<String>,
    /// Milliseconds it took.
    pub duration_ms: Option<u64>,
}

impl StreamView {
    /// Describes the progress in one line.
    pub fn progress_line(&self) -> String {
        let Self { source, done, failed, lines, is_over, dry_run } = self;
        let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
        let dry = if *dry_run { " (dry run)" } else { "" };
        let at = lines.last().filter(|line| line.state.is_none() && !is_over);
        let at = at.map(|line| format!("; line {} {} {}", line.line, line.cmd, line.note));
        format!("{source}{dry}: {done} done{failed}{}", at.unwrap_or_default()).trim_end().to_owned()
    }
}

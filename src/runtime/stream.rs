//! A stream of commands as others see it: how far `exec` is, told by itself.

use serde::{Deserialize, Serialize};

/// A stream of commands on its way: the state of `exec` as it tells it (the call `exec`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamView {
    /// What it is read from: a file's name, or `stdin`.
    pub source: String,
    /// It only tells what would be done.
    pub dry_run: bool,
    /// Lines answered.
    pub done: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// The last lines, oldest first; the one in flight stands at the end.
    pub lines: Vec<StreamLine>,
    /// No more will come.
    pub is_over: bool,
}

/// One line of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLine {
    /// Its number, from 1.
    pub line: u64,
    /// The path of its command, where it could be read.
    pub cmd: String,
    /// What it is about, in a few words.
    pub note: String,
    /// `ok`, or the code of its error; null while in flight.
    pub state: Option<String>,
    /// Milliseconds it took.
    pub duration_ms: Option<u64>,
}

impl StreamView {
    /// Says in one line how far it is.
    #[must_use]
    pub fn standing(&self) -> String {
        let Self { source, done, failed, lines, is_over, dry_run } = self;
        let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
        let dry = if *dry_run { " (dry run)" } else { "" };
        let at = lines.last().filter(|line| line.state.is_none() && !is_over);
        let at = at.map(|line| format!("; line {} {} {}", line.line, line.cmd, line.note));
        format!("{source}{dry}: {done} done{failed}{}", at.unwrap_or_default()).trim_end().to_owned()
    }
}

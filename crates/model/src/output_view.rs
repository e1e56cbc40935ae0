//! How much a task has written.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::timeline;

/// Counts of what a task wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutputView {
    /// Bytes written by the task, all streams.
    pub bytes: u64,
    /// Those of them from its standard error; 0 if it has a PTY, which carries both.
    #[serde(default, skip_serializing_if = "timeline::is_zero")]
    pub stderr_bytes: u64,
    /// Line feeds among them.
    pub lines: u64,
    /// Bytes not kept (between head and tail).
    pub dropped_bytes: u64,
    /// When the last byte arrived.
    pub last_at: Option<Timestamp>,
}

impl OutputView {
    /// Returns how many lines were written; an unfinished line counts where it is the only one.
    pub fn line_count(&self) -> u64 {
        self.lines.max(u64::from(self.bytes > 0))
    }
}

//! A ceiling that a task met, or the machine's own, described in the same words to agents, in the record and in the
//! console.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ceiling that a task reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CeilingKind {
    /// The task exceeded its memory ceiling.
    MemoryLimit,
    /// The system ran out of memory and killed the task.
    SystemOom,
    /// The task reached its process ceiling.
    ProcessLimit,
}

/// A ceiling that a task reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingHit {
    /// The kind: `memory_limit`, `process_limit`, or `system_oom` for the system's own.
    pub kind: CeilingKind,
    /// The ceiling in bytes, or in processes and threads; null for the system's own.
    pub limit: Option<u64>,
    /// Whether polling enforced it: the task ended shortly after exceeding it. Otherwise the kernel enforced it.
    pub soft: bool,
    /// The observed peak in bytes, or in processes and threads; null if unknown.
    pub peak: Option<u64>,
}

impl CeilingHit {
    /// Tells whether it ended the task. Where the kernel holds the number of processes, only the start of one more
    /// fails.
    pub fn is_end(&self) -> bool {
        self.soft || self.kind != CeilingKind::ProcessLimit
    }
}

//! A ceiling that a task met, or the machine's own, described in the same words to agents, in the record and in the
//! console.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use pilothouse_envelope::units::{Bytes, size};

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

    /// Says the most that was seen: `peak 530 MiB`, `peak 300`.
    pub fn peak_in_words(&self) -> Option<String> {
        let peak = self.peak?;
        Some(match self.kind {
            CeilingKind::ProcessLimit => format!("peak {peak}"),
            CeilingKind::MemoryLimit | CeilingKind::SystemOom => format!("peak {}", size(peak)),
        })
    }
}

impl fmt::Display for CeilingHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit.unwrap_or_default();
        let soft = if self.soft { ", soft" } else { "" };
        match self.kind {
            CeilingKind::MemoryLimit => {
                write!(f, "ended by its memory ceiling ({}{soft})", Bytes(limit))?;
                self.peak_in_words().map_or(Ok(()), |peak| write!(f, "; {peak}"))
            }
            CeilingKind::SystemOom => f.write_str("ended by the system, which ran out of memory"),
            CeilingKind::ProcessLimit if self.soft => {
                write!(f, "ended by its process ceiling ({limit}{soft})")?;
                self.peak_in_words().map_or(Ok(()), |peak| write!(f, "; {peak}"))
            }
            CeilingKind::ProcessLimit => write!(f, "could not start more processes: limit {limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_is_told_in_words() {
        let hit = |kind, limit, soft, peak| CeilingHit { kind, limit, soft, peak };
        let memory = |soft, peak| hit(CeilingKind::MemoryLimit, Some(512 << 20), soft, peak);
        for (hit, words, is_end) in [
            (
                memory(true, Some(530 << 20 | 7)),
                "ended by its memory ceiling (512 MiB, soft); peak 530 MiB",
                true,
            ),
            (memory(false, Some(512 << 20)), "ended by its memory ceiling (512 MiB); peak 512 MiB", true),
            (memory(false, None), "ended by its memory ceiling (512 MiB)", true),
            (
                hit(CeilingKind::SystemOom, None, false, None),
                "ended by the system, which ran out of memory",
                true,
            ),
            (
                hit(CeilingKind::ProcessLimit, Some(256), false, None),
                "could not start more processes: limit 256",
                false,
            ),
            (
                hit(CeilingKind::ProcessLimit, Some(256), true, Some(300)),
                "ended by its process ceiling (256, soft); peak 300",
                true,
            ),
        ] {
            assert_eq!((hit.to_string().as_str(), hit.is_end()), (words, is_end));
        }
    }
}

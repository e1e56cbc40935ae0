//! Which ceiling a task met.

use std::fmt;

use pilothouse_envelope::units::{Bytes, size};

use crate::{CeilingHit, CeilingKind};

impl CeilingKind {
    /// Says that it ended a task.
    pub fn word(self) -> &'static str {
        match self {
            Self::MemoryLimit => "over memory",
            Self::SystemOom => "system oom",
            Self::ProcessLimit => "fork limit",
        }
    }
}

impl CeilingHit {
    /// Says the most that was seen: `peak 530 MiB`, `peak 300`.
    pub fn peak_in_words(&self) -> Option<String> {
        let peak = self.peak?;
        Some(match self.kind {
            CeilingKind::ProcessLimit => format!("peak {peak}"),
            CeilingKind::MemoryLimit | CeilingKind::SystemOom => format!("peak {}", size(peak)),
        })
    }

    /// Says what its caller can do about it.
    pub fn advice(&self) -> &'static str {
        match self.kind {
            CeilingKind::MemoryLimit => {
                "Let it use less memory, as with fewer jobs at once: only the operator can raise the ceiling."
            }
            CeilingKind::SystemOom => "Let it use less memory, or run it when less else runs.",
            CeilingKind::ProcessLimit => {
                "Let it start fewer processes at once: only the operator can raise the ceiling."
            }
        }
    }
}

/// Says who enforced it: Pilothouse, which polls, or the kernel.
impl fmt::Display for CeilingHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit.unwrap_or_default();
        let by = if self.soft { "Pilothouse" } else { "the kernel" };
        let (kind, limit) = match self.kind {
            CeilingKind::MemoryLimit => ("memory", Bytes(limit).to_string()),
            CeilingKind::ProcessLimit if self.soft => ("process", limit.to_string()),
            CeilingKind::SystemOom => {
                return f.write_str("ended by the kernel: the machine ran out of memory");
            }
            CeilingKind::ProcessLimit => return write!(f, "could not start more processes: limit {limit}"),
        };
        write!(f, "ended by {by} at its {kind} ceiling ({limit})")?;
        self.peak_in_words().map_or(Ok(()), |peak| write!(f, "; {peak}"))
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
                "ended by Pilothouse at its memory ceiling (512 MiB); peak 530 MiB",
                true,
            ),
            (
                memory(false, Some(512 << 20)),
                "ended by the kernel at its memory ceiling (512 MiB); peak 512 MiB",
                true,
            ),
            (memory(false, None), "ended by the kernel at its memory ceiling (512 MiB)", true),
            (
                hit(CeilingKind::SystemOom, None, false, None),
                "ended by the kernel: the machine ran out of memory",
                true,
            ),
            (
                hit(CeilingKind::ProcessLimit, Some(256), false, None),
                "could not start more processes: limit 256",
                false,
            ),
            (
                hit(CeilingKind::ProcessLimit, Some(256), true, Some(300)),
                "ended by Pilothouse at its process ceiling (256); peak 300",
                true,
            ),
        ] {
            assert_eq!((hit.to_string().as_str(), hit.is_end()), (words, is_end));
        }
    }
}

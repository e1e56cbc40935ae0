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

//! The measured size of a task's tree, and the ceiling that it has passed. Pure.

use crate::config::Ceilings;
use crate::envelope::TaskId;
use crate::model::{CeilingHit, CeilingKind};
use crate::process::TreeSize;

/// The measured size of one task's tree.
#[derive(Debug)]
pub(in crate::runtime) struct MeasuredTask {
    pub(super) id: TaskId,
    pub(super) size: TreeSize,
    pub(super) hit: Option<CeilingHit>,
}

impl MeasuredTask {
    /// Compares the size of a task's tree with its ceilings.
    pub(super) fn of(id: TaskId, size: TreeSize, ceilings: Ceilings) -> Self {
        Self { id, size, hit: hit(ceilings, size) }
    }
}

/// Returns the ceiling that a tree of this size has passed.
fn hit(ceilings: Ceilings, size: TreeSize) -> Option<CeilingHit> {
    let passed = |kind, limit: Option<u64>, peak: u64| {
        let limit = limit.filter(|limit| peak > *limit)?;
        Some(CeilingHit { kind, limit: Some(limit), soft: true, peak: Some(peak) })
    };
    let memory = passed(CeilingKind::MemoryLimit, ceilings.memory, size.memory);
    memory.or_else(|| {
        passed(CeilingKind::ProcessLimit, ceilings.processes.map(u64::from), size.processes.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_passed_a_ceiling_when_it_is_larger() {
        let ceilings = Ceilings { memory: Some(100), processes: Some(5), ..Ceilings::default() };
        let kind = |memory, processes| hit(ceilings, TreeSize { memory, processes }).map(|hit| hit.kind);
        assert_eq!((kind(100, 5), kind(0, 0)), (None, None));
        assert_eq!(kind(101, 6), Some(CeilingKind::MemoryLimit));
        assert_eq!(kind(1, 6), Some(CeilingKind::ProcessLimit));
        assert_eq!(hit(Ceilings::default(), TreeSize { memory: u64::MAX, processes: u32::MAX }), None);
    }
}

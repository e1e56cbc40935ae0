//! Resource usage of tasks, measured only on request.

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;
use crate::process::Usage;

/// The resource usage of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// The task.
    pub task: TaskId,
    /// The usage of its processes, where it can be measured.
    pub tree: Option<Usage>,
    /// Number of bytes typed into it.
    pub typed_bytes: u64,
}

/// A live task whose processes have not been measured yet.
#[derive(Debug)]
pub(in crate::runtime) struct UnmeasuredTask {
    pub(super) task: TaskId,
    pub(super) host: Option<u32>,
    pub(super) typed_bytes: u64,
}

impl UnmeasuredTask {
    /// Measures the task's processes. Blocks.
    pub(in crate::runtime) fn look(self) -> TaskUsage {
        let Self { task, host, typed_bytes } = self;
        TaskUsage { task, tree: host.and_then(Usage::below), typed_bytes }
    }
}

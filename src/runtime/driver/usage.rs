//! Resource usage of tasks, measured only on request.

use serde::{Deserialize, Serialize};

use super::Driver;
use crate::envelope::TaskId;
use crate::process::{HostHandle, Usage};

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
    task: TaskId,
    host: Option<u32>,
    typed_bytes: u64,
}

impl Driver {
    /// Returns what is known of live tasks without measuring their processes.
    pub(super) fn known(&self, tasks: &[TaskId]) -> Vec<UnmeasuredTask> {
        let known = |id: &TaskId| {
            let live = self.live.get(id)?;
            let host = live.host.as_ref().and_then(HostHandle::pid);
            Some(UnmeasuredTask { task: id.clone(), host, typed_bytes: live.typed_bytes })
        };
        tasks.iter().filter_map(known).collect()
    }
}

impl UnmeasuredTask {
    /// Measures the task's processes. Blocks.
    pub(in crate::runtime) fn look(self) -> TaskUsage {
        let Self { task, host, typed_bytes } = self;
        TaskUsage { task, tree: host.and_then(Usage::below), typed_bytes }
    }
}

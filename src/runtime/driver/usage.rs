//! Resource usage of tasks, measured only on request.

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;
use crate::process::{ProcessUsage, Usage};

/// The resource usage of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    pub task: TaskId,
    /// The usage of its processes, where it can be measured.
    pub tree: Option<Usage>,
    /// Number of bytes typed into it.
    pub typed_bytes: u64,
    /// Its processes one by one, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessUsage>,
}

/// A live task whose processes have not been measured yet.
#[derive(Debug)]
pub(in crate::runtime) struct UnmeasuredTask {
    pub(super) task: TaskId,
    pub(super) host: Option<u32>,
    pub(super) typed_bytes: u64,
}

impl UnmeasuredTask {
    /// Measures the task's processes; lists them one by one if it is the `listed` task. Blocks.
    pub(in crate::runtime) fn look(self, listed: Option<&TaskId>) -> TaskUsage {
        let Self { task, host, typed_bytes } = self;
        let processes = host.filter(|_| listed == Some(&task)).map(ProcessUsage::below).unwrap_or_default();
        TaskUsage { task, tree: host.and_then(Usage::below), typed_bytes, processes }
    }
}

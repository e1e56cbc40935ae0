//! Tasks: supervisor (pure), driver, byte path, output log, lease, waiting, metrics, snapshots.

mod view;

pub use view::{
    AgentView, CallSummary, Ended, Lease, Metrics, Notice, OutputView, Snapshot, StopView, TaskEvent,
    TaskStatus, TaskView, Waiting,
};

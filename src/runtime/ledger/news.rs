//! What the ledger tells the runtime.

use tokio::sync::oneshot;

use crate::envelope::{Actor, TaskId};
use crate::model::TreeChanges;

/// What the ledger tells the runtime.
#[derive(Debug)]
pub(in crate::runtime) enum LedgerNews {
    /// What differs since a command began, which has ended.
    Entry(LedgerEntry),
    /// What differed since commands began was undone, together; or brought back.
    Undone { tasks: Vec<TaskId>, by: Actor, files: u64, is_redo: bool, is_on_record: oneshot::Sender<()> },
    /// There is no ledger any more, for this reason.
    Off(String),
}

/// What differs since a command began.
#[derive(Debug)]
pub(in crate::runtime) struct LedgerEntry {
    pub(in crate::runtime) task: TaskId,
    pub(in crate::runtime) changes: TreeChanges,
    /// The ids of the trees before and after.
    pub(in crate::runtime) trees: [String; 2],
    /// The first paths that differ.
    pub(in crate::runtime) paths: Vec<String>,
}

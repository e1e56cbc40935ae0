//! What the tree was at the beginning and at the end of a command.

use std::sync::Arc;

use jiff::Timestamp;

use super::undo_record::UndoRecord;
use crate::envelope::TaskId;
use crate::ledger::{Found, TreeSnapshot, UndoFacts};

/// What the tree was when a command began.
#[derive(Debug, Clone)]
pub(super) struct TreeBase {
    pub(super) snapshot: Arc<TreeSnapshot>,
    /// What had changed after that snapshot, before the command began.
    pub(super) between: Arc<Found>,
    /// The commit that was checked out.
    pub(super) head: Option<String>,
    /// Whether the tree was read for the first time after the command had begun.
    pub(super) is_first: bool,
    /// When the command began, less what times of files lag behind; or why it is not exactly known what the tree was then, in
    /// a clause.
    pub(super) quiet_at: Result<Timestamp, String>,
}

/// What the tree was at another time.
#[derive(Debug, Clone)]
pub(super) struct TreeEnd {
    pub(super) snapshot: Arc<TreeSnapshot>,
    pub(super) head: Option<String>,
}

impl TreeBase {
    /// Returns what an undo needs, or why there can be none.
    pub(super) fn undo_record(&self, end: &TreeEnd, found: &Found, together: &[TaskId]) -> UndoRecord {
        match &self.quiet_at {
            Ok(began) => UndoRecord::Possible {
                facts: UndoFacts::of(*began, found, &self.snapshot, &end.snapshot),
                together: together.to_vec(),
            },
            Err(why) => UndoRecord::Impossible(why.clone()),
        }
    }

    /// Returns the id of its tree.
    pub(super) fn tree(&self) -> &str {
        &self.snapshot.tree
    }
}

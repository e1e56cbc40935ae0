//! Which tasks are listed, in which order, and which one is selected.

mod agents;
pub mod columns;
pub mod filter;
pub mod headed;
pub mod heads;
pub mod rows;
pub mod short;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::console::state::listing::filter::Filters;
use crate::console::state::listing::rows::{
    Basis, Grouping, ListOrder, ListRows, Memo, SnapshotIdentity, Sort, work_out,
};
use crate::envelope::TaskId;
use crate::model::Snapshot;

/// A row of the list that is no task's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointedRow {
    /// A batch to approve, by its ticket.
    Batch(u64),
    /// An agent at work, by its label.
    Agent(String),
    /// None: no task matches the filters.
    Nothing,
}

/// The task list.
#[derive(Debug, Clone, Default)]
pub struct ListState {
    pub selected: Option<TaskId>,
    /// The row that is pointed at instead of a task.
    pub pointed: Option<PointedRow>,
    /// Whether the user has moved the selection, so that it no longer follows the newest live task.
    pub is_held: bool,
    /// First row shown.
    pub top: usize,
    pub filters: Filters,
    /// The sort order, grouping and columns.
    pub listing: ListOrder,
    /// Calls of unfolded batches, whose tasks have rows of their own.
    pub unfolded: BTreeSet<u64>,
    /// Whether the short tasks have rows of their own.
    pub shows_short: bool,
    /// The rows computed last.
    pub(in crate::console) memo: Memo,
}

impl ListState {
    /// Returns the contents of the list. On screens other than the tasks screen, this is every task, newest
    /// first.
    pub(crate) fn list_rows(
        &self,
        (snapshot, cleared): (&Arc<Snapshot>, &BTreeSet<TaskId>),
        is_list: bool,
        now: Timestamp,
    ) -> Arc<ListRows> {
        let basis = Basis {
            snapshot: SnapshotIdentity(Arc::clone(snapshot)),
            is_list,
            selected: self.selected.clone().filter(|_| self.pointed != Some(PointedRow::Nothing)),
            filters: if is_list { self.filters.clone() } else { Filters::default() },
            order: if is_list {
                (self.listing.sort, self.listing.groups)
            } else {
                (Sort::default(), Grouping::default())
            },
            unfolded: self.unfolded.clone(),
            shows_short: self.shows_short,
            cleared: cleared.clone(),
        };
        let mut memo = self.memo.0.borrow_mut();
        if let Some((_, listed)) = memo.as_ref().filter(|(known, _)| *known == basis) {
            return Arc::clone(listed);
        }
        let listed = Arc::new(work_out(&basis, now));
        *memo = Some((basis, Arc::clone(&listed)));
        listed
    }
}

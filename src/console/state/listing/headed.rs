//! Which tasks the headings above a row of the list are about: those that live, those that have ended, or both. Pure.

use std::sync::Arc;

use crate::console::state::listing::rows::{ListRow, ListRows};
use crate::model::TaskView;

/// Which tasks a row of headings is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadedTasks {
    Live,
    Ended,
    /// Both, in any order.
    Mixed,
}

impl ListRows {
    /// Returns which tasks the headings above the row at `top` are about.
    pub(crate) fn headed_tasks(&self, top: usize, tasks: &[Arc<TaskView>]) -> HeadedTasks {
        let is_over = |row: &ListRow| match row {
            ListRow::Task { at, .. } => tasks.get(*at).map(|task| task.status.is_terminal()),
            ListRow::Agent(_) | ListRow::Head(_) | ListRow::Held(_) | ListRow::Ended => None,
        };
        let from = match self.rows.contains(&ListRow::Ended) {
            true => self.rows.get(top..).unwrap_or_default(),
            false => &self.rows,
        };
        let mut kinds = from.iter().map_while(|row| match row {
            ListRow::Ended => None,
            row => Some(is_over(row)),
        });
        let Some(first) = kinds.by_ref().flatten().next() else { return HeadedTasks::Mixed };
        match (first, kinds.flatten().all(|other| other == first)) {
            (_, false) => HeadedTasks::Mixed,
            (true, true) => HeadedTasks::Ended,
            (false, true) => HeadedTasks::Live,
        }
    }
}

//! The width a task is displayed at: reflowed as a terminal as wide as its pane would show it, where
//! possible, or at the program's own width once the user has panned to the right. Affects only the display;
//! the program keeps its size.

use crate::console::features::pane::timestamps;
use crate::console::state::{Pane, State};
use crate::envelope::TaskId;

/// Returns the width to display a task at in its pane: that of the pane, less the timestamps; or the
/// program's own if the user has panned to the right.
pub(in crate::console) fn columns(state: &State, pane: &Pane) -> u16 {
    let is_panned = state.reading.pan > 0 && state.at_hand().is_some_and(|task| task.id == pane.task);
    if is_panned {
        return own_columns(state, &pane.task);
    }
    let gutter = if state.reading.timestamps.are_shown { timestamps::columns(pane) } else { 0 };
    pane.size().cols().saturating_sub(gutter)
}

/// Returns the width of a task's own terminal.
pub(in crate::console) fn own_columns(state: &State, task: &TaskId) -> u16 {
    state.view.task(task).map_or(0, |task| task.size.cols())
}

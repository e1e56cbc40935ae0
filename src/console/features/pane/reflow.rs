//! The width a task is displayed at: reflowed as a terminal as wide as its pane would show it, where
//! possible, or at the program's own width once the user has panned to the right. Affects only the display;
//! the program keeps its size.

use crate::console::effect::Effect;
use crate::console::features::pane::timestamps;
use crate::console::state::{Anchor, Layout, Pane, State, words};
use crate::envelope::TaskId;
use crate::terminal::Size;

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

/// Requests a page of the log of a pane's task, with at most this many rows.
pub(in crate::console) fn ask_for_page(state: &mut State, pane: &Pane, anchor: Anchor, rows: u16) {
    let size = Size::clamped(columns(state, pane), rows);
    state.effects.push(Effect::Page { task: pane.task.clone(), anchor, size });
}

/// Rereads the page of a scrolled-back pane whose width has changed.
pub(in crate::console) fn read_at_width(state: &mut State, layout: &Layout) {
    let Some(scroll) = &state.reading.scroll else { return };
    let Some(pane) = layout.pane(&scroll.task) else { return };
    let columns = columns(state, pane);
    let is_other = scroll.columns != columns;
    let Some(page) = scroll.page.as_ref().filter(|_| is_other) else { return };
    let anchor = Anchor::From(page.first_line);
    if let Some(scroll) = &mut state.reading.scroll {
        (scroll.wanted, scroll.columns) = (anchor, columns);
    }
    ask_for_page(state, pane, anchor, pane.size().rows());
}

/// Pans the current pane by columns, as far as what it shows or, where lines are wrapped, the task's own terminal.
pub(in crate::console) fn pan(state: &mut State, by: i16) {
    let Some(task) = state.at_hand().map(|task| task.id.clone()) else { return };
    let page =
        state.reading.scroll.as_ref().and_then(|scroll| scroll.page.as_ref()).map(|page| &page.picture);
    let widest = page.or(state.view.pictures.get(&task)).map_or(0, |picture| picture.size().0);
    let shown = state.layout().pane(&task).map_or(0, |pane| pane.cells.width);
    // Wrapped lines fit the pane: panning to the right shows them as the program wrote them.
    let widest = if widest > shown { widest } else { own_columns(state, &task) };
    let before = state.reading.pan;
    state.reading.pan = before.saturating_add_signed(by).min(widest.saturating_sub(shown));
    if before == state.reading.pan {
        state.decline(words::edge(by));
    }
}

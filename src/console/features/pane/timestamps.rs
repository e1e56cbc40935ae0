//! Timestamps beside each line of the current pane: when its first byte arrived, according to the log. The
//! pane then shows the log, even while it follows; programs on the alternate screen and tasks that are being
//! typed into keep their live screen.

use crate::console::state::{Mode, PageView, Pane, State, cut_left};
use crate::console::text::{StyledPiece, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Width of a timestamp and the gap after it, in columns.
const COLUMNS: u16 = 9;

/// Returns the page with timestamps that a pane shows instead of its screen.
pub(in crate::console) fn stamped_page<'a>(state: &'a State, pane: &Pane) -> Option<&'a PageView> {
    let (task, page) =
        state.reading.timestamps.page.as_ref().filter(|_| state.reading.timestamps.are_shown)?;
    (*task == pane.task && page.lines > 0 && shows_log(state, pane)).then_some(page)
}

/// Returns the width of a pane's timestamps in columns.
pub(in crate::console) fn stamp_columns(state: &State, pane: &Pane) -> u16 {
    let is_scrolled =
        state.reading.scroll.as_ref().is_some_and(|scroll| scroll.task == pane.task && scroll.page.is_some());
    let has_times = state.reading.timestamps.are_shown && is_scrolled || stamped_page(state, pane).is_some();
    if has_times { columns(pane) } else { 0 }
}

/// Tells whether a pane can show lines of the log: nobody is typing into it, and no program uses the
/// alternate screen.
pub(in crate::console) fn shows_log(state: &State, pane: &Pane) -> bool {
    let is_at_hand = state.at_hand().is_some_and(|task| task.id == pane.task);
    let is_busy = matches!(state.focus.mode, Mode::Input(_) | Mode::Copy(_));
    let has_screen = state.view.pictures.get(&pane.task).is_some_and(|shown| shown.modes.alternate_screen);
    is_at_hand && !is_busy && !has_screen
}

pub(in crate::console) fn columns(pane: &Pane) -> u16 {
    if pane.cells.width > 4 * COLUMNS { COLUMNS } else { 0 }
}

/// Draws the timestamps of a page, if they are shown; returns the pane without their columns.
pub(in crate::console) fn draw(painter: &mut Painter<'_>, pane: &Pane, page: &PageView) -> Pane {
    let gutter = if painter.state.reading.timestamps.are_shown { columns(pane) } else { 0 };
    let (times, cells) = cut_left(pane.cells, gutter);
    let mut last = None;
    for (y, (line, time)) in (0..times.height).zip(page.rows.iter().zip(&page.times)) {
        // Only the first row of a wrapped line has a timestamp.
        let time = time.filter(|_| last != Some(*line)).map(|time| painter.time(time));
        let row: Vec<StyledPiece> = time.map(|time| piece(time, Role::Faint)).into_iter().collect();
        painter.row(times, y, &row);
        last = Some(*line);
    }
    Pane { cells, ..pane.clone() }
}

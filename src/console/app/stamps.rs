//! The time beside each line of the pane at hand: when its first byte came, out of the log. The pane shows the log then, also
//! while it follows; a program that has the whole screen, and a task that is typed into, have their live screen.

use crate::envelope::TaskId;
use crate::terminal::Size;

use super::{App, Layout, Mode, Painter, Pane, cut_left};
use crate::console::msg::{Anchor, PageView};
use crate::console::text::{Piece, piece};
use crate::console::theme::Role;

/// Columns of a time, and the gap after it.
const COLUMNS: u16 = 9;

/// Whether times are shown, and the page they stand beside while the pane follows.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    /// They are.
    pub are_shown: bool,
    page: Option<(TaskId, PageView)>,
    /// What was asked for last: the task, how much it had written, the size; and whether that has not come yet.
    asked: Option<((TaskId, u64, Size), bool)>,
}

impl App {
    /// Shows times beside lines, or does not any more.
    pub(super) fn toggle_stamps(&mut self) {
        self.stamps = Stamps { are_shown: !self.stamps.are_shown, ..Stamps::default() };
    }

    /// Has the end of the log read again when there is more of it: one read at a time.
    pub(super) fn read_stamped(&mut self, layout: &Layout) {
        let pane = self.at_hand().and_then(|task| layout.pane(&task.id)).filter(|pane| self.shows_log(pane));
        let Some(pane) = pane.filter(|_| self.stamps.are_shown && self.scroll.is_none()) else { return };
        let (task, size) = (pane.task.clone(), Size::clamped(self.columns(pane), pane.size().rows()));
        let written = self.view.task(&task).map_or(0, |task| task.output.bytes);
        let wanted = (task.clone(), written, size);
        if let Some((asked, is_under_way)) = &self.stamps.asked
            && (*asked == wanted || *is_under_way && asked.0 == task)
        {
            return;
        }
        self.stamps.asked = Some((wanted, true));
        self.ask_for_page(pane, Anchor::Stamped, size.rows());
    }

    /// Takes in a page that was read for that.
    pub(super) fn take_stamped(&mut self, task: TaskId, page: PageView) {
        if let Some((asked, is_under_way)) = &mut self.stamps.asked
            && asked.0 == task
        {
            *is_under_way = false;
            self.stamps.page = Some((task, page));
        }
    }

    /// Returns the page with times that a pane shows in place of its screen.
    pub(super) fn stamped(&self, pane: &Pane) -> Option<&PageView> {
        let (task, page) = self.stamps.page.as_ref().filter(|_| self.stamps.are_shown)?;
        (*task == pane.task && page.lines > 0 && self.shows_log(pane)).then_some(page)
    }

    /// Returns how many columns of a pane its times take.
    pub(super) fn stamp_columns(&self, pane: &Pane) -> u16 {
        let is_scrolled =
            self.scroll.as_ref().is_some_and(|scroll| scroll.task == pane.task && scroll.page.is_some());
        let has_times = self.stamps.are_shown && is_scrolled || self.stamped(pane).is_some();
        if has_times { columns(pane) } else { 0 }
    }

    /// Lines of the log can stand in a pane: nobody types into it, and no program has the whole screen.
    fn shows_log(&self, pane: &Pane) -> bool {
        let is_at_hand = self.at_hand().is_some_and(|task| task.id == pane.task);
        let is_busy = matches!(self.mode, Mode::Input(_) | Mode::Copy(_));
        let has_screen = self.view.pictures.get(&pane.task).is_some_and(|shown| shown.modes.alternate_screen);
        is_at_hand && !is_busy && !has_screen
    }
}

pub(super) fn columns(pane: &Pane) -> u16 {
    if pane.cells.width > 4 * COLUMNS { COLUMNS } else { 0 }
}

/// Draws the times of a page, if they are shown; returns the pane without their columns.
pub(super) fn draw(painter: &mut Painter<'_>, pane: &Pane, page: &PageView) -> Pane {
    let gutter = if painter.app.stamps.are_shown { columns(pane) } else { 0 };
    let (times, cells) = cut_left(pane.cells, gutter);
    let mut last = None;
    for (y, (line, time)) in (0..times.height).zip(page.rows.iter().zip(&page.times)) {
        // Of a line that is wrapped the first row has the time.
        let time = time.filter(|_| last != Some(*line)).map(|time| painter.time(time));
        let row: Vec<Piece> = time.map(|time| piece(time, Role::Faint)).into_iter().collect();
        painter.row(times, y, &row);
        last = Some(*line);
    }
    Pane { cells, ..pane.clone() }
}

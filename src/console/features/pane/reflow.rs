//! The width a task is displayed at: reflowed as a terminal as wide as its pane would show it, where
//! possible, or at the program's own width once the user has panned to the right. Affects only the display;
//! the program keeps its size.

use crate::console::effect::Effect;
use crate::console::features::pane::stamps;
use crate::console::state::State;
use crate::console::state::layout::{Layout, Pane};
use crate::console::state::page::Anchor;
use crate::envelope::TaskId;
use crate::terminal::Size;

impl State {
    /// Returns the width to display a task at in its pane: that of the pane, less the timestamps; or the
    /// program's own if the user has panned to the right.
    pub(in crate::console) fn columns(&self, pane: &Pane) -> u16 {
        let is_panned = self.pan > 0 && self.at_hand().is_some_and(|task| task.id == pane.task);
        if is_panned {
            return self.own_columns(&pane.task);
        }
        let gutter = if self.stamps.are_shown { stamps::columns(pane) } else { 0 };
        pane.size().cols().saturating_sub(gutter)
    }

    /// Returns the width of a task's own terminal.
    pub(in crate::console) fn own_columns(&self, task: &TaskId) -> u16 {
        self.view.task(task).map_or(0, |task| task.size.cols())
    }

    /// Requests a page of the log of a pane's task, with at most this many rows.
    pub(in crate::console) fn ask_for_page(&mut self, pane: &Pane, anchor: Anchor, rows: u16) {
        let size = Size::clamped(self.columns(pane), rows);
        self.effects.push(Effect::Page { task: pane.task.clone(), anchor, size });
    }

    /// Rereads the page of a scrolled-back pane whose width has changed.
    pub(in crate::console) fn read_at_width(&mut self, layout: &Layout) {
        let Some(scroll) = &self.scroll else { return };
        let Some(pane) = layout.pane(&scroll.task) else { return };
        let columns = self.columns(pane);
        let is_other = scroll.columns != columns;
        let Some(page) = scroll.page.as_ref().filter(|_| is_other) else { return };
        let anchor = Anchor::From(page.first_line);
        if let Some(scroll) = &mut self.scroll {
            (scroll.wanted, scroll.columns) = (anchor, columns);
        }
        self.ask_for_page(pane, anchor, pane.size().rows());
    }
}

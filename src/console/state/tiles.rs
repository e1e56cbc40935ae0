//! The layout of the tasks screen: the list, and the panes beside or below it, based on the size of the
//! terminal or the user's choice.

use ratatui::layout::Rect;

use crate::console::state::State;
use crate::console::state::areas::{cut_bottom, cut_left, cut_top};
use crate::console::state::layout::{Breakpoint, Layout, Pane};
use crate::console::state::tiling::{ListPlace, Panes, Tiling};

const STACKED_LIST_ROWS: u16 = 8;

/// Width of the list beside panes, in columns.
const LIST_COLUMNS: u16 = 34;

/// Maximum number of panes at once.
pub(in crate::console) const MOST_PANES: usize = 4;

/// A pane is not made narrower than this to make room for another one.
const PANE_COLUMNS: u16 = 80;

/// The smallest pane of a chosen layout, in columns and rows including its title.
const LEAST: (u16, u16) = (38, 4);

/// Width of the receipt and envelope beside panes, in columns.
const SIDE_COLUMNS: u16 = 54;

impl Layout {
    pub(in crate::console) fn tasks(&mut self, state: &State, body: Rect) {
        if state.tasks().is_empty() {
            // Places and their state are listed even if none of them has a task.
            if !state.listed().rows.is_empty() {
                (self.list, self.stage) = (body, Rect::ZERO);
            }
            return;
        }
        if state.division.is_zoomed || self.breakpoint == Breakpoint::Small {
            return self.one_pane(state);
        }
        match (state.division.tilings.now, self.breakpoint) {
            (Some(tiling), _) => self.tiled(state, body, tiling),
            (None, Breakpoint::Full) => self.full(state, body),
            (None, breakpoint) => {
                (self.list, self.stage) = list_apart(body, ListPlace::Top, state.division.split);
                match breakpoint {
                    Breakpoint::Wide if !state.division.pins.is_empty() => {
                        self.place(state, Panes::TwoStacked, 2)
                    }
                    _ => self.one_pane(state),
                }
            }
        }
    }

    /// Lays out the list on the left, the panes with the timeline below them, and receipt and envelope where
    /// the panes keep their width.
    fn full(&mut self, state: &State, body: Rect) {
        let (left, rest) = self.ruled_left(body, list_columns(state.division.split, body.width));
        let has_side = rest.width > SIDE_COLUMNS + PANE_COLUMNS;
        let (stage, side) = if has_side { self.ruled_right(rest, SIDE_COLUMNS) } else { (rest, Rect::ZERO) };
        let (stage, timeline) = cut_bottom(stage, 12);
        let (receipt, envelope) = cut_top(side, side.height * 3 / 5);
        (self.list, self.stage, self.timeline) = (left, stage, timeline);
        (self.receipt, self.envelope, self.item_rows) = (receipt, envelope, 2);
        if stage.width > 2 * PANE_COLUMNS {
            return self.place(state, Panes::FourGrid, MOST_PANES);
        }
        self.place(state, Panes::FourStacked, (state.division.pins.len() + 1).clamp(2, MOST_PANES));
    }

    /// Lays out the list and panes as chosen, as far as there is room.
    fn tiled(&mut self, state: &State, body: Rect, tiling: Tiling) {
        (self.list, self.stage) = list_apart(body, tiling.list, state.division.split);
        if self.list.height == body.height {
            self.item_rows = 2;
            self.rules.push(Rect { x: self.list.right(), width: 1, ..body });
        }
        match divided(self.stage, tiling.panes) {
            Panes::One => self.one_pane(state),
            panes => self.place(state, panes, panes.count()),
        }
    }

    /// Lays out panes for the shown tasks, at most this many; a pane uses the room of missing ones.
    fn place(&mut self, state: &State, panes: Panes, most: usize) {
        self.room = most;
        let shown = state.pane_tasks(most);
        let count = u16::try_from(shown.len()).unwrap_or(u16::MAX);
        let stage = self.stage;
        let areas = match (panes, count) {
            (_, 0 | 1) => vec![stage],
            (Panes::TwoBeside, _) => self.beside(stage),
            (Panes::FourGrid, 3..) => {
                let (above, below) = cut_top(stage, stage.height / 2);
                let below = if count == 3 { vec![below] } else { self.beside(below) };
                [self.beside(above), below].concat()
            }
            _ => stacked(stage, count),
        };
        self.panes = shown.into_iter().zip(areas).map(|(task, area)| Pane::of(task, area)).collect();
    }

    fn beside(&mut self, area: Rect) -> Vec<Rect> {
        let (left, right) = self.ruled_left(area, area.width.saturating_sub(1) / 2);
        vec![left, right]
    }
}

/// Divides an area into this many areas of equal height, from top to bottom; the last one gets what is left
/// over.
fn stacked(area: Rect, count: u16) -> Vec<Rect> {
    let rows = area.height / count.max(1);
    let mut rest = area;
    let mut areas = Vec::new();
    for _ in 1..count {
        let (above, below) = cut_top(rest, rows);
        areas.push(above);
        rest = below;
    }
    areas.push(rest);
    areas
}

/// Returns the closest arrangement of panes that fits into an area, with each pane large enough to be read.
pub(in crate::console) fn divided(area: Rect, wanted: Panes) -> Panes {
    let is_wide = area.width > 2 * LEAST.0;
    let is_tall = |count: u16| area.height >= count * LEAST.1;
    match wanted {
        Panes::TwoBeside | Panes::FourGrid if !is_wide => divided(area, Panes::TwoStacked),
        Panes::FourGrid if !is_tall(2) => divided(area, Panes::TwoBeside),
        Panes::FourStacked if !is_tall(4) => divided(area, Panes::TwoStacked),
        Panes::TwoBeside if !is_tall(1) => Panes::One,
        Panes::TwoStacked if !is_tall(2) => Panes::One,
        fits => fits,
    }
}

/// Splits off the list; returns the list and the stage. If there is no room for a pane beside the list, it
/// goes on top.
pub(in crate::console) fn list_apart(body: Rect, list: ListPlace, split: i16) -> (Rect, Rect) {
    let columns = list_columns(split, body.width);
    if list == ListPlace::Left && body.width > columns + LEAST.0 {
        let (list, rest) = cut_left(body, columns);
        return (list, cut_left(rest, 1).1);
    }
    let usual = STACKED_LIST_ROWS.max(body.height / 3).min(body.height / 2);
    let most = (body.height * 2 / 3).max(usual);
    cut_top(body, usual.saturating_add_signed(split).clamp(usual.min(3), most))
}

/// Returns the width of the list beside panes, as set by the user.
fn list_columns(split: i16, width: u16) -> u16 {
    const STEP: i16 = 4;
    let most = width.saturating_sub(60).max(LIST_COLUMNS);
    LIST_COLUMNS.saturating_add_signed(split.saturating_mul(STEP)).clamp(20, most)
}

//! The layout of the tasks screen: the list above, the panes below it, and receipt and envelope beside them where there
//! is room; or as the user chose.

use ratatui::layout::Rect;

use crate::console::state::areas::{cut_bottom, cut_left, cut_top};
use crate::console::state::grid::StageGrid;
use crate::console::state::layout::{Breakpoint, Layout, Pane};
use crate::console::state::seats::SeatWishes;
use crate::console::state::tiling::{ListPlace, Panes, Tiling};
use crate::console::state::{PointedRow, State};
use crate::envelope::Actor;

/// Rows of the list in a chosen layout, with its header.
const STACKED_LIST_ROWS: u16 = 8;

/// Rows that the list may take, however low the screen is, with its header.
const LIST_ROWS: u16 = 9;

/// Width of the list beside panes, in columns.
const LIST_COLUMNS: u16 = 34;

/// From these widths on, panes stand side by side: two, then three.
const TWO_BESIDE: u16 = 100;
const THREE_BESIDE: u16 = 240;

/// From this width on, panes stand in two rows even if these are low.
const TWO_ROWS: u16 = 160;

/// Height that a stage needs for two rows of panes: anywhere, and where it is wide.
const HIGH: u16 = 30;
const LOW: u16 = 16;

/// Height that a stage needs for a pane and what another task asks.
const PRESSED: u16 = 9;

/// From this width on, the receipt may stand beside the panes.
const WITH_RECEIPT: u16 = 200;

/// A pane is not made narrower than this to make room for a receipt.
const PANE_COLUMNS: u16 = 72;

/// Width of a receipt and of an envelope beside panes, in columns.
const SIDE_COLUMNS: u16 = 54;

/// The smallest pane of a chosen layout, in columns and rows including its title.
const LEAST: (u16, u16) = (38, 4);

/// The division of the tasks screen, before it is known who has a pane.
#[derive(Debug, Clone, Copy)]
struct TasksDivision {
    list: Rect,
    stage: Rect,
    grid: StageGrid,
    /// Free places go to any live task.
    fills: bool,
    /// One place is only there for what waits beside the task that the user chose.
    is_pressed: bool,
}

impl State {
    /// Returns what decides who has a pane on the tasks screen, if several tasks can have one.
    pub(in crate::console) fn stage_wishes(&self) -> Option<SeatWishes> {
        let (columns, rows) = self.outer.size;
        let frame = Layout::frame(Rect::new(0, 0, columns, rows));
        let is_alone = matches!(frame.breakpoint, Breakpoint::Small | Breakpoint::Sentence);
        if is_alone || self.division.is_zoomed {
            return None;
        }
        let divided = self.tasks_division(frame.stage);
        Some(self.seat_wishes(divided.grid.room(), divided.fills))
    }

    fn tasks_division(&self, body: Rect) -> TasksDivision {
        if let Some(Tiling { panes, list }) = self.division.tiling {
            let (list, stage) = list_apart(body, list, self.division.split);
            let grid = fit_panes(stage, panes).grid();
            return TasksDivision { list, stage, grid, fills: true, is_pressed: false };
        }
        let most = LIST_ROWS.max(body.height / 3).min(body.height / 2);
        let rows = u16::try_from(self.list_rows().rows.len()).unwrap_or(u16::MAX).saturating_add(1);
        let rows = rows.min(most).saturating_add_signed(self.division.split);
        let (list, stage) = cut_top(body, rows.clamp(3.min(most), (body.height * 2 / 3).max(most)));
        let (mut grid, least) = (automatic(body.width, body.height - most), body.height - most);
        let fills = grid.room() > 2;
        let is_pressed = grid.room() == 1 && least >= PRESSED && self.unselected_waiter().is_some();
        if is_pressed {
            grid.rows = 2;
        }
        TasksDivision { list, stage, grid, fills, is_pressed }
    }

    /// Tells whether anybody was told anything about a task: then there are receipts.
    fn has_receipts(&self) -> bool {
        let mut calls = self.view.snapshot.calls.iter();
        calls.any(|call| call.status.is_some() && call.task.is_some() && call.actor != Actor::Operator)
    }
}

impl Layout {
    pub(in crate::console) fn tasks(&mut self, state: &State, body: Rect) {
        let has_match = state.list.pointed != Some(PointedRow::Nothing);
        if state.tasks().is_empty() && has_match {
            // Places and agents are listed even if there is no task; below the agents, it is said how to begin.
            let rows = state.list_rows().rows.len();
            if rows > 0 {
                let rows = u16::try_from(rows + 1).ok().filter(|_| !state.is_fleet());
                (self.list, self.stage) = cut_top(body, rows.unwrap_or(body.height));
            }
            return;
        }
        if state.division.is_zoomed || self.breakpoint == Breakpoint::Small {
            if !has_match {
                self.list = body;
            }
            return self.one_pane(state);
        }
        let TasksDivision { list, stage, mut grid, fills, is_pressed } = state.tasks_division(body);
        (self.list, self.stage) = (list, stage);
        if self.list.height == body.height {
            self.item_rows = 2;
            self.rules.push(Rect { x: self.list.right(), width: 1, ..body });
        }
        let seats = state.seats(&state.seat_wishes(grid.room(), fills));
        let taken: Vec<bool> = seats.iter().map(Option::is_some).collect();
        if state.division.tiling.is_none() {
            // There is a third column only if a task has a place in it.
            let paired = 2 * usize::from(grid.rows);
            grid.columns =
                if taken.iter().skip(paired).any(|taken| *taken) { 3 } else { grid.columns.min(2) };
            let panes = taken.iter().filter(|taken| **taken).count();
            self.set_beside(state, if grid.columns > 2 { usize::MAX } else { panes });
        }
        let low = state.waiter().filter(|_| is_pressed);
        let low = low.and_then(|task| seats.iter().position(|seat| seat.as_ref() == Some(&task.id)));
        let divided = grid.divide(self.stage, &taken, low);
        self.rules.extend(divided.rules);
        let seated = |(at, area): (usize, Rect)| Some(Pane::of(seats.get(at)?.clone()?, area));
        self.panes = divided.areas.into_iter().filter_map(seated).collect();
    }

    /// Sets apart what stands beside so many panes: the receipt of the selected task, and the envelope, if no pane
    /// needs their room; below them the timeline of all tasks, on request.
    fn set_beside(&mut self, state: &State, panes: usize) {
        let width = self.stage.width;
        let side = match panes {
            ..=2 if (WITH_RECEIPT..THREE_BESIDE).contains(&width) => SIDE_COLUMNS,
            ..=4 if width >= THREE_BESIDE => (width - 2 * PANE_COLUMNS - 2).min(2 * SIDE_COLUMNS + 1),
            _ => 0,
        };
        if side > 0 && state.has_receipts() {
            let (stage, side) = self.ruled_right(self.stage, side);
            (self.stage, self.receipt) = (stage, side);
            if side.width > SIDE_COLUMNS {
                (self.receipt, self.envelope) = self.ruled_left(side, (side.width - 1) / 2);
            }
        }
        if state.division.is_overall && self.breakpoint == Breakpoint::Full {
            (self.stage, self.timeline) = cut_bottom(self.stage, 12);
        }
    }
}

/// Returns how many panes the automatic layout has room for on a stage of at least this height.
fn automatic(width: u16, height: u16) -> StageGrid {
    let columns = match width {
        ..TWO_BESIDE => 1,
        TWO_BESIDE..THREE_BESIDE => 2,
        _ => 3,
    };
    let rows = if height >= HIGH || width >= TWO_ROWS && height >= LOW { 2 } else { 1 };
    StageGrid { columns, rows }
}

/// Returns the closest arrangement of panes that fits into an area, with each pane large enough to be read.
pub(in crate::console) fn fit_panes(area: Rect, wanted: Panes) -> Panes {
    let is_wide = area.width > 2 * LEAST.0;
    let is_tall = |count: u16| area.height >= count * LEAST.1;
    match wanted {
        Panes::TwoBeside | Panes::FourGrid if !is_wide => fit_panes(area, Panes::TwoStacked),
        Panes::FourGrid if !is_tall(2) => fit_panes(area, Panes::TwoBeside),
        Panes::FourStacked if !is_tall(4) => fit_panes(area, Panes::TwoStacked),
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

//! The cells of a task's screen, and marks where there is more of them.

use std::ops::Range;

use ratatui::layout::Rect;

use crate::console::state::{Pane, Picture};
use crate::console::text;
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// A pane, the size of the task's screen in columns and rows, and which row and column of it the first cell shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownScreen {
    pub(in crate::console) pane: Pane,
    pub(in crate::console) size: (u16, u16),
    pub(in crate::console) from: (u16, u16),
}

impl ShownScreen {
    /// Returns where some rows of the screen are in a frame; of those that are not shown, nothing.
    pub fn rows(&self, rows: &Range<u16>) -> Rect {
        let (cells, top) = (self.pane.cells, self.from.0);
        let y = |row: u16| cells.y + row.saturating_sub(top).min(cells.height);
        Rect { y: y(rows.start), height: y(rows.end) - y(rows.start), ..cells }
    }
}

/// Draws the part of a screen that begins at this row and column.
pub(in crate::console) fn cells(
    painter: &mut Painter<'_>,
    area: Rect,
    picture: &Picture,
    (top, pan): (u16, u16),
) {
    let area = area.intersection(painter.buf.area);
    for y in 0..area.height {
        let mut x = 0;
        // What is blank here is blank in the frame.
        let end = picture.end(top + y).saturating_sub(pan).min(area.width);
        while x < end {
            let Some(cell) = picture.cell(top + y, pan + x) else { break };
            let wide = match cell.symbol() {
                symbol if symbol.len() == 1 => 1,
                symbol => u16::try_from(text::width(symbol)).unwrap_or(1).clamp(1, 2),
            };
            if let Some(slot) = painter.buf.cell_mut((area.x + x, area.y + y)) {
                *slot = cell.clone();
                if x + wide > area.width {
                    text::cell::fill(slot, " ", 1);
                }
            }
            x += wide;
        }
        marks(painter, area, picture, (top + y, y), pan);
    }
}

/// Marks a row that continues to the left or right of what is shown.
fn marks(painter: &mut Painter<'_>, area: Rect, picture: &Picture, (row, y): (u16, u16), pan: u16) {
    let (style, [left, right]) = (painter.style(Role::Accent), painter.glyphs().more);
    if area.width < 2 {
        return;
    }
    if pan > 0 && (0..pan).any(|column| picture.cell(row, column).is_some_and(|cell| cell.symbol() != " ")) {
        painter.text(area, (0, y), left, style);
    }
    if picture.goes_on(row, pan + area.width) {
        painter.text(area, (area.width - 1, y), right, style);
    }
}

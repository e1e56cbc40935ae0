//! Splitting areas: cutting off a side, centring a box, the inside of a box.

use ratatui::layout::{Margin, Rect};

/// Returns the row at which whatever lies over the screen begins, on a screen with this many rows: always the same, so that
/// the eye finds it and what it is about stays in sight below.
pub fn stand(lines: u16) -> u16 {
    lines / 12
}

/// Returns a box over the screen: at most this many columns wide and as high as its rows plus a border, leaving at least
/// `free` lines uncovered. Only one that would not fit below where all begin stands higher.
pub fn over_screen((columns, lines): (u16, u16), most_columns: u16, rows: usize, free: u16) -> Rect {
    let width = most_columns.min(columns.saturating_sub(2)).max(columns.min(4));
    let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2);
    let height = wanted.min(lines.saturating_sub(free)).max(lines.min(3));
    Rect { x: (columns - width) / 2, y: stand(lines).min((lines - height) / 2), width, height }
}

/// Returns the inside of a box, with one column of padding at either side.
pub fn inside(area: Rect) -> Rect {
    area.inner(Margin::new(2, 1))
}

/// Cuts rows off the top; returns the cut part and the rest.
pub fn cut_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let top = Rect { height: rows, ..area };
    (top, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Cuts rows off the bottom; returns the rest and the cut part.
pub fn cut_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    cut_top(area, area.height.saturating_sub(rows))
}

/// Cuts columns off the left; returns the cut part and the rest.
pub fn cut_left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let left = Rect { width: columns, ..area };
    (left, Rect { x: area.x + columns, width: area.width - columns, ..area })
}

//! What all tasks use together, as a graph of the last minutes.

use ratatui::layout::Rect;

use crate::console::state::cut_top;
use crate::console::text::{piece, size};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Below this width, in columns, and this height, in rows, there is no graph.
const LEAST: (u16, u16) = (24, 5);

/// The most rows of the graph.
const MOST_ROWS: u16 = 8;

/// Steps of one row of the graph.
const STEPS: u64 = 8;

/// Draws the CPU use of the last seconds, newest at the right. A full column is the highest of them, at least one CPU.
pub(crate) fn draw(painter: &mut Painter<'_>, area: Rect) {
    let load = &painter.state.view.usage.load;
    if area.width < LEAST.0 || area.height < LEAST.1 || load.percents.is_empty() {
        return;
    }
    let room = usize::from(area.width - 2).min(load.percents.len());
    let shown: Vec<u64> = load.percents.iter().skip(load.percents.len() - room).copied().collect();
    let now = shown.last().copied().unwrap_or(0);
    let highest = shown.iter().copied().max().unwrap_or(0).max(100);
    let says = format!("  {now} %  {}", size(load.memory));
    painter.row(area, 0, &[piece(" LOAD", Role::Title), piece(says, Role::Text)]);
    let graph = cut_top(area, 1).1;
    let rows = MOST_ROWS.min(graph.height - 1);
    let levels = painter.glyphs().levels;
    let full = u64::from(rows) * STEPS;
    let pad = " ".repeat(usize::from(area.width - 2) - room);
    for row in 0..rows {
        let floor = u64::from(rows - 1 - row) * STEPS;
        let cell = |percent: &u64| {
            let height = (u128::from(*percent) * u128::from(full)).div_ceil(u128::from(highest));
            let above = u64::try_from(height).unwrap_or(full).saturating_sub(floor).min(STEPS);
            above.checked_sub(1).map_or(" ", |level| levels[usize::try_from(level).unwrap_or(7)])
        };
        let bars: String = shown.iter().map(cell).collect();
        painter.row(graph, row, &[piece(format!(" {pad}{bars}"), Role::Graph)]);
    }
    let says = format!(" last {room} s, up to {highest} %");
    painter.row(graph, rows, &[piece(says, Role::Faint)]);
}

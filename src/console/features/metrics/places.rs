//! What each place has done, as a table.

use ratatui::layout::Rect;

use crate::console::state::cut_top;
use crate::console::text::{self, column, piece, width};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::console::widgets::place_state::link_state;

/// Draws the state of each place and what it has done; returns the number of rows used.
pub(in crate::console) fn table(painter: &mut Painter<'_>, area: Rect) -> u16 {
    let state = painter.state;
    let places = &state.view.snapshot.places;
    if places.is_empty() || area.height < 2 {
        return 0;
    }
    let names = places.iter().map(|place| width(&place.name.name)).max().unwrap_or(0).clamp(5, 24);
    let head =
        ["LIVE", "WAITING", "RUN", "FAILED", "CALLS", "OUTPUT"].map(|label| text::apart(label, 9)).concat();
    painter.row(area, 0, &[piece(format!(" {} {head}", column("PLACE", names + 2, "")), Role::Title)]);
    let rows = cut_top(area, 1).1;
    let only = state.list.filters.place.as_ref();
    painter.list(rows, places.iter(), |painter, place| {
        let metrics = &place.snapshot.metrics;
        let failed = metrics.tasks_ended.get("failed").copied().unwrap_or(0);
        let calls = metrics.tool_calls.values().flat_map(|statuses| statuses.values());
        let calls = calls.fold(0_u64, |sum, more| sum.saturating_add(*more));
        let counts =
            [place.live_tasks() as u64, place.waiting() as u64, metrics.shell_commands(), failed, calls];
        let counts = counts.map(|many| text::apart(&text::count(many), 9)).concat();
        let mark = painter.marker(only == Some(&place.name.id));
        let mut row = vec![
            piece(format!(" {mark} "), Role::Accent),
            piece(column(&place.name.name, names, painter.glyphs().cut), Role::Text),
            piece(counts, Role::Strong),
            piece(text::apart(&text::size(metrics.output_bytes_in), 9), Role::Text),
        ];
        row.extend(link_state(painter, &place.name.id));
        (row, false)
    });
    u16::try_from(places.len() + 1).unwrap_or(u16::MAX).min(area.height)
}

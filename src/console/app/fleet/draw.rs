//! Drawing of places: the state of each, what each has done, and rows whose state is not up to date.

use ratatui::layout::Rect;

use crate::console::app::{Painter, cut_left, cut_top};
use crate::console::text::{self, Piece, column, piece, visible, width};
use crate::console::theme::Role;
use crate::model::{PlaceId, PlaceLink, TaskView};

/// Describes the state of a place, unless it is the usual one.
pub(in crate::console::app) fn standing(painter: &mut Painter<'_>, id: &PlaceId) -> Vec<Piece> {
    let Some(place) = painter.app.place(id).cloned() else { return Vec::new() };
    let (told, role) = match &place.link {
        PlaceLink::Live => return Vec::new(),
        PlaceLink::Connecting => ("connecting".to_owned(), Role::Faint),
        PlaceLink::ReadOnly(why) => (format!("read-only: {}", visible::one_line(why)), Role::Strong),
        PlaceLink::Lost { since, why } => {
            (format!("lost {}: {}", painter.ago(*since), visible::one_line(why)), Role::Interrupted)
        }
        PlaceLink::Gone { since } => {
            (format!("its runtime ended {}", painter.ago(*since)), Role::Interrupted)
        }
    };
    vec![piece(format!("  {told}"), role)]
}

/// Describes the state of a task's place, if what is shown of the task may be out of date.
pub(in crate::console::app) fn stale(painter: &mut Painter<'_>, task: &TaskView) -> Vec<Piece> {
    match task.place.as_ref().filter(|_| painter.app.is_stale(task)) {
        Some(place) => standing(painter, &place.id),
        None => Vec::new(),
    }
    .into_iter()
    .map(|told| Piece { text: told.text.trim().to_owned(), ..told })
    .collect()
}

/// Draws the state of each place and what it has done; returns the number of rows used.
pub(in crate::console::app) fn table(painter: &mut Painter<'_>, area: Rect) -> u16 {
    let app = painter.app;
    let places = &app.view.snapshot.places;
    if places.is_empty() || area.height < 2 {
        return 0;
    }
    let names = places.iter().map(|place| width(&place.name.name)).max().unwrap_or(0).clamp(5, 24);
    let head =
        ["LIVE", "WAITING", "RUN", "FAILED", "CALLS", "OUTPUT"].map(|label| text::right(label, 9)).concat();
    painter.row(area, 0, &[piece(format!(" {} {head}", column("PLACE", names + 2, "")), Role::Title)]);
    let rows = cut_top(area, 1).1;
    let only = app.list.filters.place.as_ref();
    painter.list(rows, places.iter(), |painter, place| {
        let metrics = &place.snapshot.metrics;
        let failed = metrics.tasks_ended.get("failed").copied().unwrap_or(0);
        let calls = metrics.tool_calls.values().flat_map(|statuses| statuses.values());
        let calls = calls.fold(0_u64, |sum, more| sum.saturating_add(*more));
        let counts =
            [place.live_tasks() as u64, place.waiting() as u64, metrics.shell_commands(), failed, calls];
        let counts = counts.map(|many| text::right(&text::count(many), 9)).concat();
        let mark = painter.marker(only == Some(&place.name.id));
        let mut row = vec![
            piece(format!(" {mark} "), Role::Accent),
            piece(column(&place.name.name, names, painter.glyphs().cut), Role::Text),
            piece(counts, Role::Strong),
            piece(text::right(&text::bytes(metrics.output_bytes_in), 9), Role::Text),
        ];
        row.extend(standing(painter, &place.name.id));
        (row, false)
    });
    u16::try_from(places.len() + 1).unwrap_or(u16::MAX).min(area.height)
}

/// Greys out a row that may be out of date.
pub(in crate::console::app) fn grey(painter: &mut Painter<'_>, area: Rect) {
    let style = painter.style(Role::Faint);
    painter.restyle(area, |cell| {
        cell.set_style(ratatui::style::Style::reset()).set_style(style);
    });
}

/// Draws the screen of a fleet that has no places yet.
pub(in crate::console::app) fn no_places(painter: &mut Painter<'_>, area: Rect) {
    let rows = [
        vec![piece("No runtime of yours runs here.", Role::Title)],
        Vec::new(),
        vec![piece("One that starts appears by itself: of a console, an agent or a script,", Role::Text)],
        vec![piece("or in a workspace with ", Role::Text), piece("pilothouse serve", Role::Strong)],
    ];
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    painter.rows(inside, &rows);
}

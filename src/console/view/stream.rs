//! A stream of commands that is not over yet: a row for each of its last lines, where its receipt will stand.

use ratatui::layout::Rect;

use crate::runtime::{StreamLine, StreamView};

use super::super::app::App;
use super::super::looks::theme::Role;
use super::super::text::document::{Piece, piece};
use super::super::text::visible;
use super::super::text::{column, count, millis, right};
use super::brush::{Brush, cut};

/// Columns of a line's number and of its command.
const NUMBER: usize = 5;
const CMD: usize = 12;
/// Columns of a duration.
const TOOK: usize = 8;

/// Returns the stream under way that the call shown is.
pub(super) fn under_way(app: &App) -> Option<&StreamView> {
    app.shown_call().filter(|call| call.status.is_none())?.stream.as_ref()
}

pub(super) fn draw(brush: &mut Brush<'_>, area: Rect) {
    let Some(stream) = under_way(brush.app) else { return };
    let rows = usize::from(area.height.saturating_sub(2));
    brush.row(area, 0, &[piece(format!(" {}", visible::one_line(&head(stream))), Role::Text)]);
    let hidden = stream.lines.len().saturating_sub(rows);
    for (y, line) in (2..area.height).zip(stream.lines.iter().skip(hidden)) {
        let row = row(brush, line);
        let row = cut(&row, usize::from(area.width), brush.glyphs().cut);
        brush.row(area, y, &row);
    }
}

fn head(stream: &StreamView) -> String {
    let StreamView { source, done, failed, dry_run, .. } = stream;
    let dry = if *dry_run { ", dry run" } else { "" };
    format!("{source}{dry}  {} done, {} failed", count(*done), count(*failed))
}

fn row(brush: &Brush<'_>, line: &StreamLine) -> Vec<Piece> {
    let glyphs = brush.glyphs();
    let (glyph, code, role) = match line.state.as_deref() {
        None => (glyphs.states[1], None, Role::Running),
        Some("ok") => (glyphs.states[4], None, Role::Completed),
        Some(code) => (glyphs.states[5], Some(code), Role::Failed),
    };
    let took = right(&line.duration_ms.map(millis).unwrap_or_default(), TOOK);
    let mut row = vec![
        piece(format!("{} ", right(&count(line.line), NUMBER)), Role::Faint),
        piece(glyph, role),
        piece(format!("{took}  "), Role::Faint),
        piece(format!("{} ", column(&visible::one_line(&line.cmd), CMD, glyphs.cut)), Role::Text),
    ];
    row.extend(code.map(|code| piece(format!("{}  ", visible::one_line(code)), role)));
    row.push(piece(visible::one_line(&line.note), Role::Faint));
    row
}

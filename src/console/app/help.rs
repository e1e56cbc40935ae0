//! help.

use ratatui::layout::Rect;

use super::App;
use super::layout::cut_top;
use super::painter::Painter;
use crate::console::keys::keymap::Context;
use crate::console::looks::theme::Role;
use crate::console::text::column;
use crate::console::text::document::{Piece, piece};

/// The rows of draw_help: the keys of a context, then those of typing.
fn help_lines(app: &App, about: Context) -> Vec<Vec<Piece>> {
    let mut rows = Vec::new();
    let dots = app.setup.theme.glyphs.cut;
    let sections = [
        (name(about), about),
        ("while typing into a task", Context::Input),
        ("while writing a line", Context::Line),
        ("while searching", Context::Search),
        ("while copying", Context::Copy),
    ];
    for (title, context) in sections {
        if !rows.is_empty() {
            rows.push(Vec::new());
        }
        rows.push(vec![piece(title, Role::Title)]);
        for (action, keys) in app.setup.keymap.list(context) {
            let can = context != about || app.can(action);
            let role = if can { Role::Text } else { Role::Faint };
            rows.push(vec![
                piece(column(&keys.join(" "), 19, dots), if can { Role::Key } else { Role::Faint }),
                piece(column(action.about(), 36, dots), role),
                piece(action.equivalent(), Role::Faint),
            ]);
        }
    }
    rows
}

fn name(context: Context) -> &'static str {
    match context {
        Context::Focus => "one task",
        Context::Receipts => "receipts",
        Context::Text => "a text",
        Context::Replay => "replay",
        Context::Metrics => "metrics",
        Context::Program => "a program",
        _ => "tasks",
    }
}

/// Returns the number of rows that help has.
pub(crate) fn help_rows(app: &App, about: Context) -> usize {
    help_lines(app, about).len()
}

pub(super) fn draw_help(painter: &mut Painter<'_>, about: Context, top: usize) {
    let screen = painter.buf.area;
    let area = Rect { y: screen.y + 1, height: screen.height.saturating_sub(2), ..screen };
    let width = area.width.min(84);
    let area = Rect { x: (area.width - width) / 2, width, ..area };
    painter.clear(Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area });
    let rows = help_lines(painter.app, about);
    let shown = usize::from(area.height.saturating_sub(2));
    let inside = painter.boxed(area, "help");
    for (y, row) in (0..inside.height).zip(rows.iter().skip(top)) {
        painter.row(inside, y, row);
    }
    let below = rows.len().saturating_sub(top + shown);
    if below > 0 {
        let foot = cut_top(area, area.height.saturating_sub(1)).1;
        let foot = Rect { width: foot.width.saturating_sub(2), ..foot };
        painter.row_right(foot, 0, &[piece(format!(" +{below} rows "), Role::Strong)]);
    }
}

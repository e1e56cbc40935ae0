//! Help: the keys of a screen.

use ratatui::layout::Rect;

use crate::console::keys::{Action, Context};
use crate::console::state::{State, cut_top};
use crate::console::text::{Piece, column, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Returns the rows of the help dialog: the keys of a context, then those for typing.
pub(in crate::console) fn help_lines(
    state: &State,
    about: Context,
    can: &dyn Fn(Action) -> bool,
) -> Vec<Vec<Piece>> {
    let mut rows = Vec::new();
    let dots = state.setup.theme.glyphs.cut;
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
        for (action, keys) in state.setup.keymap.list(context) {
            let can = context != about || can(action);
            let role = if can { Role::Text } else { Role::Faint };
            rows.push(vec![
                piece(column(&keys.join(" "), 19, dots), if can { Role::Key } else { Role::Faint }),
                piece(column(action.about(), 37, dots), role),
                piece(action.equivalent(), Role::Faint),
            ]);
        }
    }
    rows
}

pub(in crate::console) fn name(context: Context) -> &'static str {
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

pub(in crate::console) fn draw(painter: &mut Painter<'_>, about: Context, top: usize) {
    let screen = painter.buf.area;
    let area = Rect { y: screen.y + 1, height: screen.height.saturating_sub(2), ..screen };
    let width = area.width.min(84);
    let area = Rect { x: (area.width - width) / 2, width, ..area };
    let rows = help_lines(painter.state, about, &|action| painter.can(action));
    let shown = usize::from(area.height.saturating_sub(2));
    let inside = painter.boxed(area, "help");
    painter.rows(inside, rows.iter().skip(top));
    let below = rows.len().saturating_sub(top + shown);
    if below > 0 {
        let foot = cut_top(area, area.height.saturating_sub(1)).1;
        let foot = Rect { width: foot.width.saturating_sub(2), ..foot };
        painter.row_right(foot, 0, &[piece(format!(" +{below} rows "), Role::Strong)]);
    }
}

//! Help: the keys of a screen.

use ratatui::layout::Rect;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::{State, cut_top};
use crate::console::text::{StyledPiece, column, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Returns the rows of the help dialog: the keys of a context, then those for typing.
pub(in crate::console) fn help_lines(
    state: &State,
    about: KeyContext,
    can: &dyn Fn(Action) -> bool,
) -> Vec<Vec<StyledPiece>> {
    let mut rows = Vec::new();
    let dots = state.setup.theme.glyphs.cut;
    let sections = [
        (name(about), about),
        ("while typing into a task", KeyContext::Input),
        ("while writing a line", KeyContext::Line),
        ("while searching", KeyContext::Search),
        ("while copying", KeyContext::Copy),
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

pub(in crate::console) fn name(context: KeyContext) -> &'static str {
    match context {
        KeyContext::Focus => "one task",
        KeyContext::Receipts => "receipts",
        KeyContext::Text => "a text",
        KeyContext::Replay => "replay",
        KeyContext::Metrics => "metrics",
        KeyContext::Program => "a program",
        _ => "tasks",
    }
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, about: KeyContext, top: usize) {
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

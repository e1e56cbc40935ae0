//! What is shown before anything happened: the ways to begin, to be pasted as they stand.

use ratatui::layout::Rect;

use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::plan::{cut_left, cut_top};
use super::super::text;
use super::super::text::document::{Piece, piece};
use super::super::text::visible;
use super::brush::Brush;

pub(super) fn tasks(brush: &mut Brush<'_>, area: Rect) {
    let app = brush.app;
    if app.setup.recording.is_some() {
        return recorded(brush, area, "No tasks in this recording.");
    }
    let key = app.setup.keymap.key(Context::Tasks, Action::Start).unwrap_or_default();
    let socket = app.snapshot.socket.display().to_string();
    let room = usize::from(area.width.saturating_sub(14));
    let socket = text::cut_middle(&visible::one_line(&socket), room, brush.glyphs().cut);
    let way = |name: &str, what: &str| vec![label(name), piece(what, Role::Strong)];
    let also = |what: &str| vec![label(""), piece(what, Role::Faint)];
    let rows = [
        vec![piece("No tasks yet.", Role::Title), piece(" Four ways to begin:", Role::Text)],
        Vec::new(),
        way("agent", "pilothouse mcp"),
        also("the MCP server to give it; pilothouse mcp config claude prints how"),
        way("script", "pilothouse command run \"make test\""),
        also("in any terminal of this workspace"),
        vec![label("you"), piece(key, Role::Key), piece(" starts a command here", Role::Text)],
        Vec::new(),
        way("look", "pilothouse demo"),
        also("a scripted agent at work, nothing to set up"),
        Vec::new(),
        vec![label("socket"), piece(socket, Role::Faint)],
    ];
    let top = area.height.saturating_sub(rows.len() as u16) / 3;
    let inside = cut_left(cut_top(area, top).1, 3).1;
    for (y, row) in (0..inside.height).zip(&rows) {
        brush.row(inside, y, row);
    }
}

/// Nothing will come of a recording that is over.
fn recorded(brush: &mut Brush<'_>, area: Rect, text: &str) {
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    brush.row(inside, 0, &[piece(text, Role::Title)]);
}

pub(super) fn calls(brush: &mut Brush<'_>, area: Rect) {
    if brush.app.setup.recording.is_some() {
        return recorded(brush, area, "No calls in this recording.");
    }
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    let text = " Each call of an agent will stand here: what it asked, the receipt it got, the envelope.";
    brush.row(inside, 0, &[piece("No calls yet.", Role::Title), piece(text, Role::Text)]);
}

fn label(name: &str) -> Piece {
    piece(text::column(name, 9, ""), Role::Accent)
}

//! What stands where there is nothing to show yet.

use ratatui::layout::Rect;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::{cut_left, cut_top};
use crate::console::text;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

pub(in crate::console) fn no_tasks(painter: &mut Painter<'_>, area: Rect) {
    let state = painter.state;
    if state.setup.recording.is_some() {
        return nothing(painter, area, "No tasks in this recording.", "");
    }
    let key = state.setup.keymap.key(KeyContext::Tasks, Action::Start).unwrap_or_default();
    let socket = state.view.snapshot.socket.display().to_string();
    let room = usize::from(area.width.saturating_sub(14));
    let socket = text::cut_middle(&visible::one_line(&socket), room, painter.glyphs().cut);
    let way = |name: &str, what: &str| vec![label(name), piece(what, Role::Strong)];
    let also = |what: &str| vec![label(""), piece(what, Role::Faint)];
    let rows = [
        vec![piece("No tasks yet.", Role::Title), piece(" Four ways to begin:", Role::Text)],
        Vec::new(),
        way("agent", "pilothouse claude"),
        also("your agent, unchanged; to give it tools: pilothouse mcp install"),
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
    painter.rows(inside, &rows);
}

/// Draws the text of an empty screen.
pub(in crate::console) fn nothing(painter: &mut Painter<'_>, area: Rect, title: &str, text: &str) {
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    painter.row(inside, 0, &[piece(title, Role::Title), piece(text, Role::Text)]);
}

pub(in crate::console) fn no_calls(painter: &mut Painter<'_>, area: Rect) {
    if painter.state.setup.recording.is_some() {
        return nothing(painter, area, "No calls in this recording.", "");
    }
    let text = " Each call of an agent will stand here: what it asked, the receipt it got, the envelope.";
    nothing(painter, area, "No calls yet.", text);
}

pub(in crate::console) fn label(name: &str) -> StyledPiece {
    piece(text::column(name, 9, ""), Role::Accent)
}

/// Draws the screen of a fleet that has no places yet.
pub(in crate::console) fn no_places(painter: &mut Painter<'_>, area: Rect) {
    let rows = [
        vec![piece("No runtime of yours runs here.", Role::Title)],
        Vec::new(),
        vec![piece("One that starts appears by itself: of a console, an agent or a script,", Role::Text)],
        vec![piece("or in a workspace with ", Role::Text), piece("pilothouse serve", Role::Strong)],
    ];
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    painter.rows(inside, &rows);
}

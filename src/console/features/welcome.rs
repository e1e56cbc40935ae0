//! What stands where there is nothing to show yet.

use ratatui::layout::Rect;

use crate::config::STARTER_COMMAND;
use crate::console::keys::{Action, KeyContext};
use crate::console::options::{FIRST_PLACE, FIRST_WAY};
use crate::console::state::{cut_left, cut_top};
use crate::console::text::{self, StyledPiece, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Draws the ways to begin.
pub(in crate::console) fn no_tasks(painter: &mut Painter<'_>, area: Rect) {
    let state = painter.state;
    if state.setup.recording.is_some() {
        return nothing(painter, area, "No tasks in this recording.", "");
    }
    let key = state.setup.keymap.key(KeyContext::Tasks, Action::Start).unwrap_or_default();
    let inside = cut_left(area, 3).1;
    let ways = [
        (begin(&state.setup.agents), Role::Strong, FIRST_PLACE.to_owned()),
        (key, Role::Key, "a command of your own, here".to_owned()),
        ("pilothouse demo".to_owned(), Role::Strong, "an agent at work, nothing to set up".to_owned()),
    ];
    let broad = ways.iter().map(|(way, ..)| text::width(way)).max().unwrap_or_default() + 3;
    let mut rows = vec![vec![piece("No tasks yet.", Role::Title)], Vec::new()];
    for (way, role, what) in ways {
        rows.push(vec![piece(text::column(&way, broad, ""), role), piece(what, Role::Text)]);
    }
    if state.setup.agents.len() > 1 {
        let room = usize::from(inside.width).saturating_sub(broad);
        let found = format!("found here: {}", state.setup.agents.join(", "));
        let found = piece(text::cut(&found, room, painter.glyphs().cut), Role::Faint);
        rows.insert(3, vec![piece(" ".repeat(broad), Role::Text), found]);
    }
    if state.view.snapshot.gate.rules == 0 && !state.setup.is_fleet {
        rows.extend([Vec::new(), no_rules()]);
    }
    let top = area.height.saturating_sub(rows.len() as u16) / 3;
    painter.rows(cut_top(inside, top).1, &rows);
}

/// Says that no rule asks about anything, and where there are some to begin with.
fn no_rules() -> Vec<StyledPiece> {
    let [before, command, after] = ["No rules ask you first: ", STARTER_COMMAND, " offers some"];
    vec![piece(before, Role::Faint), piece(command, Role::Strong), piece(after, Role::Faint)]
}

/// Returns the command that starts an agent: the usual one, unless only others were found on this machine.
fn begin(found: &[&'static str]) -> String {
    let usual = FIRST_WAY.rsplit(' ').next().unwrap_or_default();
    match found.first() {
        Some(other) if !found.contains(&usual) => FIRST_WAY.replace(usual, other),
        _ => FIRST_WAY.to_owned(),
    }
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

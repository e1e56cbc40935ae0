//! What is shown before anything happened: the ways to begin, to be pasted as they stand.
//! The screen, drawn from the state alone: same state, same time, same cells. No clock, no I/O.

use super::painter::{Drawn, Painter};
use super::{
    bar, dialog, metrics, pane, program, reader, receipts, replay, status, task_list, timeline, toasts,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::layout::{Breakpoint, Layout, cut_left, cut_top};
use super::{App, Screen};
use crate::console::keys::{Action, Context};
use crate::console::text::{self, Piece, piece, visible, wrapped};
use crate::console::theme::Role;

pub(super) fn no_tasks(painter: &mut Painter<'_>, area: Rect) {
    let app = painter.app;
    if app.setup.recording.is_some() {
        return recorded(painter, area, "No tasks in this recording.");
    }
    let key = app.setup.keymap.key(Context::Tasks, Action::Start).unwrap_or_default();
    let socket = app.view.snapshot.socket.display().to_string();
    let room = usize::from(area.width.saturating_sub(14));
    let socket = text::cut_middle(&visible::one_line(&socket), room, painter.glyphs().cut);
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
    painter.rows(inside, &rows);
}

/// Nothing will come of a recording that is over.
fn recorded(painter: &mut Painter<'_>, area: Rect, text: &str) {
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    painter.row(inside, 0, &[piece(text, Role::Title)]);
}

pub(super) fn no_calls(painter: &mut Painter<'_>, area: Rect) {
    if painter.app.setup.recording.is_some() {
        return recorded(painter, area, "No calls in this recording.");
    }
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    let text = " Each call of an agent will stand here: what it asked, the receipt it got, the envelope.";
    painter.row(inside, 0, &[piece("No calls yet.", Role::Title), piece(text, Role::Text)]);
}

fn label(name: &str) -> Piece {
    piece(text::column(name, 9, ""), Role::Accent)
}

/// Draws the console and tells where the cursor stands and when to draw again.
pub fn draw(app: &App, buf: &mut Buffer) -> Drawn {
    let layout = Layout::of(app);
    let mut painter = Painter { app, buf, drawn: Drawn::default() };
    if layout.breakpoint == Breakpoint::Sentence {
        sentence(&mut painter);
        return painter.drawn;
    }
    bar::draw(&mut painter, layout.bar);
    for rule in &layout.rules {
        let style = painter.style(Role::Rule);
        let glyph = painter.glyphs().rules[1];
        for y in 0..rule.height {
            painter.text(*rule, (0, y), glyph, style);
        }
    }
    match app.screen {
        _ if app.reader.is_some() || app.replay.is_some() => {}
        Screen::Tasks | Screen::Focus if app.view.snapshot.tasks.is_empty() => {
            no_tasks(&mut painter, layout.stage)
        }
        Screen::Receipts if app.view.snapshot.calls.is_empty() => no_calls(&mut painter, layout.stage),
        Screen::Metrics => metrics::draw(&mut painter, layout.stage),
        Screen::Program => program::draw(&mut painter, &layout),
        Screen::Tasks | Screen::Focus => {
            task_list::draw(&mut painter, &layout);
            for pane in &layout.panes {
                pane::draw(&mut painter, &layout, pane);
            }
            timeline::draw(&mut painter, &layout);
            receipts::draw::draw(&mut painter, &layout);
        }
        Screen::Receipts => receipts::draw::draw(&mut painter, &layout),
    }
    if let Some(reader) = &app.reader {
        reader::draw(&mut painter, layout.stage, reader);
    } else if let Some(replay) = &app.replay {
        replay::draw::draw(&mut painter, layout.stage, replay);
    }
    status::notice(&mut painter, layout.notice);
    status::draw(&mut painter, layout.status);
    toasts::toasts(&mut painter, &layout);
    if !app.layers.is_empty() {
        // Only a dialog that is written in has a cursor.
        painter.drawn.cursor = None;
    }
    dialog::draw(&mut painter);
    if painter.is_still() {
        painter.drawn.cursor = painter.drawn.cursor.map(|(at, shape)| (at, shape.to_steady()));
    }
    painter.drawn
}

fn sentence(painter: &mut Painter<'_>) {
    let area = painter.buf.area;
    let text = format!("pilothouse needs 40x8, this is {}x{}", area.width, area.height);
    painter.rows(area, &wrapped(&[vec![piece(text, Role::Text)]], usize::from(area.width)));
}

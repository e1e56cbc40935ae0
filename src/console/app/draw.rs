//! Draws the console from its state alone (same state and time, same cells; no clock, no I/O): the drawing
//! order, the top bar and the empty screens.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::envelope::Actor;
use crate::model::{AgentView, TaskStatus, TaskView, Waiting};

use super::chooser::Kind;
use super::painter::Drawn;
use super::{
    App, Breakpoint, Layer, Layout, Painter, Screen, attention, columns, cut_left, cut_top, dialog, fleet,
    joined, metrics, pane, program, reader, receipts, replay, status, task_list, timeline, toasts,
};
use crate::console::keys::{Action, Context};
use crate::console::text::{self, Piece, piece, visible, wrapped};
use crate::console::theme::Role;

fn no_tasks(painter: &mut Painter<'_>, area: Rect) {
    let app = painter.app;
    if app.setup.recording.is_some() {
        return nothing(painter, area, "No tasks in this recording.", "");
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

/// Draws the text of an empty screen.
fn nothing(painter: &mut Painter<'_>, area: Rect, title: &str, text: &str) {
    let inside = cut_left(cut_top(area, area.height / 4).1, 3).1;
    painter.row(inside, 0, &[piece(title, Role::Title), piece(text, Role::Text)]);
}

fn no_calls(painter: &mut Painter<'_>, area: Rect) {
    if painter.app.setup.recording.is_some() {
        return nothing(painter, area, "No calls in this recording.", "");
    }
    let text = " Each call of an agent will stand here: what it asked, the receipt it got, the envelope.";
    nothing(painter, area, "No calls yet.", text);
}

fn label(name: &str) -> Piece {
    piece(text::column(name, 9, ""), Role::Accent)
}

/// Draws the console; returns the cursor and when to draw again.
pub fn draw(app: &App, buf: &mut Buffer) -> Drawn {
    let layout = Layout::of(app);
    let mut painter = Painter { app, buf, drawn: Drawn::default() };
    if layout.breakpoint == Breakpoint::Sentence {
        sentence(&mut painter);
        return painter.drawn;
    }
    bar(&mut painter, layout.bar);
    for rule in &layout.rules {
        let style = painter.style(Role::Rule);
        let glyph = painter.glyphs().rules[1];
        for y in 0..rule.height {
            painter.text(*rule, (0, y), glyph, style);
        }
    }
    match app.screen {
        _ if app.reader.is_some() || app.replay.is_some() => {}
        Screen::Tasks | Screen::Focus if app.has_nothing() => {
            fleet::draw::no_places(&mut painter, layout.stage)
        }
        Screen::Tasks | Screen::Focus if app.view.snapshot.tasks.is_empty() && !app.is_fleet() => {
            no_tasks(&mut painter, layout.stage)
        }
        Screen::Receipts if app.view.snapshot.calls.is_empty() => no_calls(&mut painter, layout.stage),
        Screen::Metrics => metrics::draw(&mut painter, layout.stage),
        Screen::Program => program::draw(&mut painter, &layout),
        Screen::Tasks | Screen::Focus => {
            task_list::draw::draw(&mut painter, &layout);
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
    if let Some(at) = app.clear_at {
        painter.wake_at(at);
    }
    // A list or help may be as high as the screen. Anything else over it is read and answered: nothing covers that.
    let is_covered = match app.layers.last() {
        Some(Layer::List(list)) => list.kind != Kind::Messages,
        layer => matches!(layer, Some(Layer::Help { .. })),
    };
    if !is_covered {
        toasts::toasts(&mut painter, &layout);
    }
    if !app.layers.is_empty() {
        // Only dialogs with a text input have a cursor.
        painter.drawn.cursor = None;
    }
    dialog::draw(&mut painter);
    if is_covered {
        toasts::toasts(&mut painter, &layout);
    }
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

fn bar(painter: &mut Painter<'_>, area: Rect) {
    let whole = area;
    let name = painter.app.workspace_name();
    let name = text::cut(&visible::one_line(&name), 20, painter.glyphs().cut);
    let left = [piece(" pilothouse ", Role::Title), piece(name, Role::Text)];
    let x = columns(&left) + 3;
    // Agents take precedence over the clock and static information.
    for is_short in [false, true] {
        let right = right(painter, whole.width, is_short);
        let area = Rect { width: whole.width.saturating_sub(columns(&right) + 2), ..whole };
        let agents = agents(painter, area.width.saturating_sub(x));
        if agents.is_empty() && !is_short {
            continue;
        }
        painter.row_right(whole, 0, &right);
        painter.row(area, 0, &left);
        painter.row_from(area, (x, 0), &agents);
        return;
    }
}

fn right(painter: &mut Painter<'_>, width: u16, is_short: bool) -> Vec<Piece> {
    let gap = piece("  ", Role::Text);
    let mut groups = vec![counts(painter)];
    let waiting = attention::items(painter.app).len();
    if painter.app.view.snapshot.questions.iter().any(|question| question.needs_somebody()) {
        groups.push(vec![piece(format!("{waiting} FOR YOU"), Role::Waiting)]);
    }
    if painter.app.view.is_lost {
        groups.push(vec![piece("RUNTIME GONE", Role::Interrupted)]);
    }
    if painter.app.setup.recording.is_some() {
        groups.push(vec![piece("READ-ONLY RECORDING", Role::Strong)]);
    }
    if painter.app.view.snapshot.record.degraded.is_some() {
        groups.push(vec![piece("NOT ON RECORD", Role::Interrupted)]);
    }
    groups.extend(gate(painter));
    if painter.app.setup.is_root {
        groups.push(vec![piece("ROOT", Role::Strong)]);
    }
    if is_short {
        groups.push(vec![piece("", Role::Text)]);
        return joined(groups, &gap);
    }
    groups.push(vec![piece("NO SANDBOX", Role::Faint)]);
    if width >= 100
        && let Some(call) = painter.app.view.newest_calls().next()
    {
        groups.push(vec![piece(format!("call {}", painter.app.call_name(call.seq)), Role::Faint)]);
        // Noted down elsewhere, it can later show whether the record still contains this row.
        let head = &painter.app.view.snapshot.record.head;
        groups.extend((width >= 120 && !head.is_empty()).then(|| vec![piece(head.clone(), Role::Faint)]));
    }
    if painter.app.setup.ui.clock && !painter.is_still() {
        let clock = painter.app.now.to_zoned(painter.app.setup.zone.clone()).strftime("%H:%M ").to_string();
        painter.wake_at(text::next_minute(painter.app.now));
        groups.push(vec![piece(clock, Role::Text)]);
    } else {
        groups.push(vec![piece("", Role::Text)]);
    }
    joined(groups, &gap)
}

/// Returns whether agents are paused, with the number of places unless it is everywhere, and how many calls are held.
fn gate(painter: &Painter<'_>) -> Option<Vec<Piece>> {
    let gate = &painter.app.view.snapshot.gate;
    let held = (!gate.held.is_empty()).then(|| format!("{} held", gate.held.len()));
    let paused = match painter.app.view.snapshot.paused_places() {
        (0, _) => None,
        (paused, all) if paused < all => Some(format!("PAUSED {paused}/{all}")),
        _ => Some("PAUSED".to_owned()),
    };
    let words: Vec<String> = paused.into_iter().chain(held).collect();
    (!words.is_empty()).then(|| vec![piece(words.join(" "), Role::Waiting)])
}

fn counts(painter: &Painter<'_>) -> Vec<Piece> {
    let states = painter.glyphs().states;
    let snapshot = &painter.app.view.snapshot;
    let count = |status| snapshot.count(status);
    let waits = |task: &&Arc<TaskView>| {
        task.status == TaskStatus::Running && task.waiting.as_ref().is_some_and(Waiting::is_certain)
    };
    let waiting = snapshot.tasks.iter().filter(waits).count() as u64;
    let groups = [
        (states[1], Role::Running, count(TaskStatus::Running).saturating_sub(waiting)),
        (states[2], Role::Waiting, waiting),
        (states[3], Role::Cancelling, count(TaskStatus::Cancelling) + count(TaskStatus::Cancelled)),
        (states[5], Role::Failed, count(TaskStatus::Failed)),
        (states[6], Role::Interrupted, count(TaskStatus::Interrupted)),
        (states[4], Role::Completed, count(TaskStatus::Completed)),
    ];
    let shown = groups
        .into_iter()
        .filter(|(.., count)| *count > 0)
        .map(|(glyph, role, count)| vec![piece(format!("{glyph}{count}"), role)]);
    joined(shown.collect(), &piece(" ", Role::Text))
}

/// Returns as many agents as fit, or else only their number.
fn agents(painter: &mut Painter<'_>, room: u16) -> Vec<Piece> {
    let agents = painter.app.view.snapshot.agents.clone();
    if agents.is_empty() {
        let none = vec![piece("no agent yet", Role::Faint)];
        return if columns(&none) <= room { none } else { Vec::new() };
    }
    let everyone: fn(&AgentView) -> bool = |_| true;
    let kept = painter.drawn;
    for shown in [everyone, |agent| agent.connected] {
        let each: Vec<_> =
            agents.iter().filter(|agent| shown(agent)).map(|agent| one(painter, agent)).collect();
        let all = joined(each, &piece("  ", Role::Text));
        if columns(&all) > 0 && columns(&all) <= room {
            return all;
        }
        // Ages that end up not being shown must not schedule a redraw.
        painter.drawn = kept;
    }
    let connected = agents.iter().filter(|agent| agent.connected).count();
    let [here, gone] = painter.glyphs().link;
    let glyph = if connected > 0 { here } else { gone };
    let short = vec![piece(format!("{glyph} {connected} of {} agents", agents.len()), Role::Text)];
    if columns(&short) <= room { short } else { Vec::new() }
}

fn one(painter: &mut Painter<'_>, agent: &AgentView) -> Vec<Piece> {
    let [here, gone] = painter.glyphs().link;
    let label = text::cut(&visible::one_line(&agent.label), 16, painter.glyphs().cut);
    let (glyph, role) = if agent.connected { (here, Role::Accent) } else { (gone, Role::Faint) };
    let colour = painter.app.role_of(&Actor::Agent(agent.label.clone()));
    let mut pieces = vec![piece(format!("{glyph} "), role), piece(label, colour)];
    if let Some(last) = agent.last_call {
        pieces.push(piece(format!(" {}", painter.age(last)), Role::Faint));
    }
    if !agent.unread.is_empty() {
        pieces.push(piece(format!(" {} unread", agent.unread.len()), Role::Waiting));
    }
    pieces
}

//! Draws the console from its state alone (same state and time, same cells; no clock, no I/O): what is drawn, and in which
//! order.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::features::approval::card;
use crate::console::features::attention::{left, list};
use crate::console::features::export::drawing;
use crate::console::features::status::{self, StatusFacts};
use crate::console::features::stop::{self, restart};
use crate::console::features::{
    away, message, metrics, pane, paste, program, question, reader, receipts, replay, task_list, timeline,
    toasts, top_bar, undo, welcome,
};
use crate::console::state::{Availability, Breakpoint, Layout, Screen};
use crate::console::text::{piece, wrap_lines};
use crate::console::theme::Role;
use crate::console::widgets::cells::ShownScreen;
use crate::console::widgets::painter::FrameFocus;
use crate::console::widgets::{FrameExtras, ListKind, Painter, chooser};
use crate::terminal::CellDrawing;

/// Draws the console; returns the cursor and when to draw again.
pub fn draw(app: &App, buf: &mut Buffer) -> FrameExtras {
    let state = &app.state;
    let layout = state.layout();
    let word = match app.layers.last() {
        Some(Layer::Why(_)) => Some("DETAILS"),
        Some(Layer::Away(_)) => Some("AWAY"),
        Some(Layer::List(list)) if matches!(list.kind, ListKind::Help(_)) => Some("HELP"),
        Some(Layer::Approval(card)) if card.rule().is_some() => Some("ALLOW MORE?"),
        _ => None,
    };
    let availability = |action| app.availability(action);
    let mut painter = painter(app, buf, word, &availability);
    if layout.breakpoint == Breakpoint::Sentence {
        sentence(&mut painter);
        return painter.drawn;
    }
    top_bar::draw(&mut painter, layout.bar, app.attention.items(state).len());
    for rule in &layout.rules {
        let style = painter.style(Role::Rule);
        let glyph = painter.glyphs().rules[1];
        for y in 0..rule.height {
            painter.text(*rule, (0, y), glyph, style);
        }
    }
    screen(&mut painter, app, &layout);
    let facts = status_facts(app);
    status::notice(&mut painter, layout.notice, &facts);
    status::draw(&mut painter, layout.status, &facts);
    pane::typing::draw(&mut painter, &layout);
    let stage = state.division.stage.until.filter(|at| *at > state.clock.now);
    stage.into_iter().for_each(|at| painter.wake_at(at));
    // Also with motion off: once clearing can no longer be undone, the runtime must be told.
    painter.drawn.wake = painter.drawn.wake.into_iter().chain(state.view.clear_at).min();
    // A list may be as high as the screen. Anything else over it is read and answered: nothing covers that.
    let is_covered = matches!(app.layers.last(), Some(Layer::List(list)) if list.kind != ListKind::Messages);
    if !is_covered {
        toasts::draw(&mut painter, &layout);
    }
    if let Some(layer) = app.layers.last() {
        // Only dialogs with a text input have a cursor.
        painter.drawn.cursor = None;
        dialog(&mut painter, app, layer);
    }
    if is_covered {
        toasts::draw(&mut painter, &layout);
    }
    if !app.layers.is_empty() || !state.toasts.list().is_empty() {
        painter.drawn.typed = None;
    }
    finish(painter)
}

/// Draws what has changed of the screen that is typed into over the frame that shows it: an answer to a key, which does
/// not wait for all the rest. Returns nothing if it can only be drawn with a whole frame.
pub fn draw_answer(
    app: &App,
    buf: &mut Buffer,
    shown: &ShownScreen,
    rows: &Range<u16>,
) -> Option<FrameExtras> {
    let availability = |action| app.availability(action);
    let mut painter = painter(app, buf, None, &availability);
    pane::draw::answer(&mut painter, shown, rows).then(|| finish(painter))
}

fn painter<'a>(
    app: &'a App,
    buf: &'a mut Buffer,
    word: Option<&'static str>,
    availability: Availability<'a>,
) -> Painter<'a> {
    let has_dialog = !app.layers.is_empty();
    let focus = FrameFocus { context: app.context(), has_dialog, word, availability };
    Painter { state: &app.state, focus, buf, drawn: FrameExtras::default() }
}

fn finish(mut painter: Painter<'_>) -> FrameExtras {
    if painter.is_still() {
        painter.drawn.cursor = painter.drawn.cursor.map(|(at, shape)| (at, shape.to_steady()));
    }
    painter.drawn
}

fn screen(painter: &mut Painter<'_>, app: &App, layout: &Layout) {
    let state = &app.state;
    if let Some(reader) = &state.reader {
        return reader::draw(painter, layout.stage, reader, state.calls.finding.as_ref());
    }
    if let Some(replay) = &state.replay {
        return replay::draw(painter, layout.stage, replay);
    }
    match state.focus.screen {
        Screen::Tasks | Screen::Focus if state.has_nothing() => welcome::no_places(painter, layout.stage),
        Screen::Tasks | Screen::Focus if state.view.snapshot.tasks.is_empty() && !state.is_fleet() => {
            task_list::draw::draw(painter, layout);
            welcome::no_tasks(painter, layout.stage)
        }
        Screen::Receipts if state.view.snapshot.calls.is_empty() => welcome::no_calls(painter, layout.stage),
        Screen::Metrics => metrics::draw(painter, layout.stage),
        Screen::Program => {
            program::draw(painter, layout);
            layout.panes.iter().for_each(|pane| pane::draw::draw(painter, layout, pane));
        }
        Screen::Tasks | Screen::Focus => {
            task_list::draw::draw(painter, layout);
            layout.panes.iter().for_each(|pane| pane::draw::draw(painter, layout, pane));
            timeline::draw(painter, layout);
            receipts::draw::draw(painter, layout, &app.receipts);
        }
        Screen::Receipts => receipts::draw::draw(painter, layout, &app.receipts),
    }
}

fn status_facts(app: &App) -> StatusFacts {
    let state = &app.state;
    let reader = state.reader.as_ref().map(reader::position);
    StatusFacts {
        found_at: app.everywhere.found_at(state),
        over_screen: reader.or_else(|| state.replay.as_ref().map(replay::describe_position)),
        has_marked_call: app.receipts.marked.is_some(),
        waiting: app.attention.waiting(state),
    }
}

/// Draws the topmost layer.
fn dialog(painter: &mut Painter<'_>, app: &App, layer: &Layer) {
    match layer {
        Layer::Quit => stop::draw_quit(painter, app.stopping.question.as_ref()),
        Layer::List(chooser) => chooser::draw(painter, chooser),
        Layer::Approval(card) => card::draw(painter, card),
        Layer::Question(dialog) => question::draw::draw(painter, dialog),
        Layer::Tell(dialog) => message::draw(painter, dialog),
        Layer::Attention(chosen) => list::draw(painter, &app.attention.listed_items(&app.state), chosen),
        Layer::Left(dialog) => left::draw(painter, dialog),
        Layer::Away(sheet) => away::draw::draw(painter, sheet),
        Layer::Paste(paste) => paste::draw(painter, paste),
        Layer::Undo(card) => undo::draw(painter, card),
        Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task) | Layer::Why(task) => {
            let Some(task) = app.state.view.task(task) else { return };
            match layer {
                Layer::Stop { kill, .. } => stop::draw_stop(painter, task, *kill),
                Layer::Signal(_) => stop::draw_signal(painter, task),
                Layer::Restart(_) => restart::draw(painter, task),
                _ => timeline::draw_why(painter, task),
            }
        }
    }
}

fn sentence(painter: &mut Painter<'_>) {
    let area = painter.buf.area;
    let text = format!("pilothouse needs 40x8, this is {}x{}", area.width, area.height);
    painter.rows(area, &wrap_lines(&[vec![piece(text, Role::Text)]], usize::from(area.width)));
}

/// Captures the console as it is now, with the cursor as a reversed cell.
pub fn photo(app: &App) -> CellDrawing {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.state.outer.size.0, app.state.outer.size.1));
    let drawn = draw(app, &mut buffer);
    if let Some((at, _)) = drawn.cursor
        && let Some(cell) = buffer.cell_mut(at)
    {
        cell.modifier.toggle(Modifier::REVERSED);
    }
    drawing(&buffer)
}

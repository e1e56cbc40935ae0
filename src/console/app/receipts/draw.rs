//! The calls, the receipt exactly as sent and the canonical envelope; also beside a task.

use crate::console::app::find::found;
use crate::console::app::layout::{Layout, cut_left, cut_top};
use crate::console::app::painter::Painter;
use crate::console::app::task_words::who;
use crate::console::app::{Screen, alias};
use crate::console::text::{Document, Piece, column, count, millis, piece, right, tokens, visible, wrapped};
use crate::console::theme::Role;
use ratatui::layout::Rect;

use crate::runtime::CallSummary;

use super::sheet::Sheet;
use super::{Column, Place, progress};

/// Columns of a list that has room for the summaries.
const SUMMED_UP: u16 = 76;
/// Columns of `you`, `agt`, `cli`, `sys`.
const SHORT_NAME: usize = 5;
/// Columns of the longest tool name, and a blank.
const LONGEST_TOOL: usize = 17;
/// Columns of a duration.
const TOOK: usize = 8;

pub(crate) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    if painter.app.screen == Screen::Receipts {
        list(painter, layout);
        asked(painter, layout.asked);
    }
    let app = painter.app;
    let sheet = app.calls.sheet.as_ref();
    let is_reading = |column| app.screen == Screen::Receipts && app.calls.column == column;
    let sides = [
        (
            layout.receipt,
            "receipt",
            Column::Receipt,
            sheet.map(|s| (&s.receipt, s.receipt_chars)),
            app.calls.receipt,
        ),
        (
            layout.envelope,
            "envelope",
            Column::Envelope,
            sheet.map(|s| (&s.envelope, s.envelope_chars)),
            app.calls.envelope,
        ),
    ];
    for (area, name, column, text, place) in sides {
        if area.is_empty() {
            continue;
        }
        let (head, body) = cut_top(area, 1);
        let title = title(painter, name, is_reading(column));
        let facts = text.map(|(_, chars)| sizes(chars)).unwrap_or_default();
        painter.head(head, &title, &facts);
        match text {
            Some((document, _)) if sheet.is_some_and(|sheet| sheet.is_answered) => {
                let top = if app.screen == Screen::Receipts { place.top } else { 0 };
                reading(painter, body, document, top);
                if is_reading(column) {
                    found(painter, body, place);
                }
                if let Some(sheet) = sheet.filter(|_| app.screen == Screen::Receipts) {
                    mark(painter, body, sheet, column, place);
                }
            }
            _ if column == Column::Receipt && progress::is_under_way(app) => {
                progress::draw_batch(painter, body)
            }
            _ if column == Column::Receipt && progress::stream_under_way(app).is_some() => {
                progress::draw_stream(painter, body)
            }
            _ => nothing_yet(painter, body),
        }
    }
}

fn title(painter: &Painter<'_>, name: &str, is_reading: bool) -> Vec<Piece> {
    let app = painter.app;
    let mark = if is_reading { format!("{} ", painter.glyphs().selected) } else { String::new() };
    let mut title = vec![piece(mark, Role::Accent), piece(name, Role::Title)];
    if app.screen != Screen::Receipts
        && let Some(call) = app.shown_call()
    {
        title
            .push(piece(format!("  call {} {}", count(call.seq), visible::one_line(&call.tool)), Role::Text));
    }
    title
}

fn sizes(chars: u64) -> Vec<Piece> {
    vec![piece(format!("{} chars, ~{} tokens", count(chars), count(tokens(chars))), Role::Faint)]
}

fn nothing_yet(painter: &mut Painter<'_>, area: Rect) {
    let text = match painter.app.shown_call() {
        Some(call) if call.status.is_none() => "not answered yet",
        Some(call) if call.status.as_deref() == Some("abandoned") => "the client stopped waiting",
        Some(_) => "",
        None => "nothing was told about this task yet",
    };
    painter.row(area, 0, &[piece(format!(" {text}"), Role::Faint)]);
}

/// Draws a text from a row on, one column in; marks at its right foot that it goes on.
pub(crate) fn reading(painter: &mut Painter<'_>, area: Rect, document: &Document, top: usize) {
    let inside = cut_left(area, 1).1;
    painter.rows(inside, document.rows().iter().skip(top));
    let below = document.rows().len().saturating_sub(top + usize::from(area.height));
    if below > 0 {
        let more = format!(" +{} ", count(below as u64));
        painter.row_right(area, area.height.saturating_sub(1), &[piece(more, Role::Mode)]);
    }
}

/// Marks the row that is read, and what says the same in the other column.
fn mark(painter: &mut Painter<'_>, area: Rect, sheet: &Sheet, column: Column, place: Place) {
    let calls = &painter.app.calls;
    let Some(y) = place.at.checked_sub(place.top).and_then(|y| u16::try_from(y).ok()) else { return };
    let glyphs = painter.glyphs();
    let mark = if calls.column == column {
        let is_linked = sheet.is_linked(column, place.at);
        if is_linked { piece(glyphs.selected, Role::Accent) } else { piece(glyphs.dot, Role::Faint) }
    } else if calls.column != Column::Calls && sheet.are_linked(calls.receipt.at, calls.envelope.at) {
        piece(glyphs.selected, Role::Accent)
    } else {
        return;
    };
    painter.row(area, y, &[mark]);
}

/// What the call asked for: its input, as it came.
fn asked(painter: &mut Painter<'_>, area: Rect) {
    let app = painter.app;
    let Some(call) = app.shown_call().filter(|_| !area.is_empty()) else { return };
    let (head, body) = cut_top(area, 1);
    let title = [
        piece(format!("call {}", count(call.seq)), Role::Title),
        piece(format!("  {}", visible::one_line(&call.tool)), Role::Text),
    ];
    let mut facts = format!("{}  {}", who(&call.actor), painter.time(call.at));
    if let Some(ms) = call.duration_ms {
        facts.push_str(&format!("  {}", millis(ms)));
    }
    painter.head(head, &title, &[piece(facts, Role::Faint)]);
    let Some(record) = app.view.records.get(&call.seq) else { return };
    let text = record.input.to_string();
    let inside = cut_left(body, 1).1;
    let text = vec![piece(visible::in_text(&text), Role::Faint)];
    let mut rows = wrapped(&[text], usize::from(inside.width.saturating_sub(1)));
    let (shown, dots) = (usize::from(inside.height), painter.glyphs().cut);
    if rows.len() > shown {
        rows.truncate(shown);
        rows.last_mut().into_iter().for_each(|last| last.push(piece(dots, Role::Faint)));
    }
    painter.rows(inside, &rows);
}

fn list(painter: &mut Painter<'_>, layout: &Layout) {
    if layout.list.is_empty() {
        return;
    }
    let app = painter.app;
    let (head, body) = (cut_top(layout.list, 1).0, layout.list_body());
    painter.row(head, 0, &[piece(heading(layout.list.width), Role::Faint)]);
    let at = app.call_at();
    let calls = app.view.newest_calls().enumerate().skip(app.calls.top).take(layout.list_items());
    painter.list(body, calls, |painter, (place, call)| {
        (row(painter, call, layout.list.width, place == at), place == at)
    });
}

/// The widths of the columns after the call's mark: time, who, tool, task, and how long it took. A list
/// that is too narrow for one leaves it out.
fn widths(list: u16) -> [usize; 5] {
    match list {
        100.. => [10, 13, LONGEST_TOOL, 6, 10],
        SUMMED_UP..100 => [10, SHORT_NAME, LONGEST_TOOL, 6, 10],
        50..SUMMED_UP => [10, SHORT_NAME, LONGEST_TOOL, 5, TOOK],
        _ => [0, SHORT_NAME, 13, 4, 0],
    }
}

fn heading(list: u16) -> String {
    let [time, by, tool, task, took] = widths(list);
    let names = [("TIME", time), ("BY", by), ("TOOL", tool), ("TASK", task)];
    let names: String = names.iter().map(|(name, columns)| column(name, *columns, "")).collect();
    let took = if took > 0 { column(&right("TOOK", TOOK), took, "") } else { String::new() };
    let summary = if list >= SUMMED_UP { "SUMMARY" } else { "" };
    format!("{}   {names}{took}{summary}", right("CALL", 8))
}

fn row(painter: &Painter<'_>, call: &CallSummary, width: u16, is_selected: bool) -> Vec<Piece> {
    let glyphs = painter.glyphs();
    let (glyph, role) = match call.status.as_deref() {
        None => (glyphs.states[1], Role::Running),
        Some("success") => (glyphs.states[4], Role::Completed),
        Some("abandoned") => (glyphs.states[3], Role::Cancelled),
        Some(_) => (glyphs.states[5], Role::Failed),
    };
    let mark = painter.marker(is_selected);
    // The call that others are compared with has a sign before it.
    let is_marked = painter.app.calls.marked.as_ref().is_some_and(|marked| marked.seq == call.seq);
    let mut pieces = vec![
        piece(format!("{}{mark} ", if is_marked { "=" } else { " " }), Role::Accent),
        piece(format!("{} ", right(&count(call.seq), 5)), Role::Text),
        piece(format!("{glyph} "), role),
    ];
    let [time, by, tool, task, took] = widths(width);
    let actor = if by > SHORT_NAME { who(&call.actor) } else { call.actor.short().to_owned() };
    let duration = right(&call.duration_ms.map(millis).unwrap_or_default(), TOOK);
    let cells = [
        (painter.time(call.at), time, Role::Faint),
        (actor, by, Role::Text),
        (visible::one_line(&call.tool).into_owned(), tool, Role::Text),
        (alias_of(painter, call), task, Role::Text),
        (duration, took, Role::Faint),
    ];
    pieces.extend(cells.map(|(text, columns, role)| piece(column(&text, columns, glyphs.cut), role)));
    if width >= SUMMED_UP {
        let summary = progress::standing(painter.app, call).unwrap_or_else(|| call.summary.clone());
        pieces.push(piece(visible::one_line(&summary), Role::Faint));
    }
    pieces
}

/// Returns the short name of the task a call is about, if it is still on the list.
fn alias_of(painter: &Painter<'_>, call: &CallSummary) -> String {
    let task = call.task.as_ref().and_then(|id| painter.app.view.task(id));
    task.map(|task| alias(task)).unwrap_or_default()
}

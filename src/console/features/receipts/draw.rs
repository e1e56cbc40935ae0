//! Draws the calls, the receipt exactly as sent and the canonical envelope, also beside a task; for a running
//! batch or stream, a row per item or line instead of the receipt.

use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::Value;

use crate::console::features::receipts::Receipts;
use crate::console::features::receipts::sheet::CallSheet;
use crate::console::keys::{Action, KeyContext};
use crate::console::state::call_rows::subject;
use crate::console::state::{
    CallRow, CallState, Column, Layout, Screen, State, Term, View, cut_left, cut_top, outcome, short,
    short_alias, who,
};
use crate::console::text::{
    StyledPiece, column, count, millis, piece, right, tokens, visible, width, wrapped,
};
use crate::console::theme::Role;
use crate::console::widgets::text::{found, reading};
use crate::console::widgets::{Painter, columns};
use crate::model::{CallSummary, StreamLine, StreamView, TaskView};

/// Minimum width of a list that has room for the summaries, in columns.
const SUMMED_UP: u16 = 76;

/// Width of the caller's name, including a blank.
const SHORT_NAME: usize = 7;

/// Width of the longest tool name, including a blank.
const LONGEST_TOOL: usize = 17;

/// Width of a duration.
const TOOK: usize = 8;

pub(crate) fn draw(painter: &mut Painter<'_>, layout: &Layout, receipts: &Receipts) {
    if painter.state.focus.screen == Screen::Receipts {
        list(painter, layout, receipts);
        asked(painter, layout.asked);
    }
    let state = painter.state;
    let sheet = receipts.sheet.as_ref();
    let is_reading = |column| state.focus.screen == Screen::Receipts && state.calls.column == column;
    for column in [Column::Receipt, Column::Envelope] {
        let area = layout.text(column);
        if area.is_empty() {
            continue;
        }
        let (head, body) = cut_top(area, 1);
        let mut title = title(painter, column, is_reading(column));
        let mut facts = sheet.map(|sheet| sizes(sheet.chars(column))).unwrap_or_default();
        let term = if column == Column::Envelope { Term::Envelope } else { Term::Receipt };
        if let Some(line) = painter.explained(term) {
            title.extend([piece("  ", Role::Text), line]);
            // If both do not fit, leave out the sizes until the term is known.
            facts.retain(|fact| columns(&title) + columns(std::slice::from_ref(fact)) + 8 <= head.width);
        }
        painter.head(head, &title, &facts);
        match sheet.filter(|sheet| sheet.is_answered) {
            Some(sheet) if state.focus.screen == Screen::Receipts => {
                let text = sheet.text(column);
                reading(painter, body, text, text.top);
                if is_reading(column) {
                    state.calls.finding.iter().for_each(|finding| found(painter, body, text, finding));
                }
                mark(painter, body, sheet, column);
            }
            Some(sheet) => reading(painter, body, sheet.text(column), 0),
            None if column == Column::Receipt && is_under_way(state) => draw_batch(painter, body),
            None if column == Column::Receipt && stream_under_way(state).is_some() => {
                draw_stream(painter, body)
            }
            None => nothing_yet(painter, body),
        }
    }
}

fn title(painter: &Painter<'_>, column: Column, is_reading: bool) -> Vec<StyledPiece> {
    let state = painter.state;
    let mark = if is_reading { format!("{} ", painter.glyphs().selected) } else { String::new() };
    let name = if column == Column::Envelope { "envelope" } else { "receipt" };
    let mut title = vec![piece(mark, Role::Accent), piece(name, Role::Title)];
    if state.focus.screen != Screen::Receipts
        && let Some(call) = state.shown_call()
    {
        title.push(piece(
            format!("  call {} {}", painter.state.call_name(call.seq), visible::one_line(&call.tool)),
            Role::Text,
        ));
    }
    title
}

fn sizes(chars: u64) -> Vec<StyledPiece> {
    vec![piece(format!("{} chars, ~{} tokens", count(chars), count(tokens(chars))), Role::Faint)]
}

fn nothing_yet(painter: &mut Painter<'_>, area: Rect) {
    let text = match painter.state.shown_call() {
        Some(call) if call.status.is_none() => "not answered yet",
        Some(call) if call.status.as_deref() == Some("abandoned") => "the client stopped waiting",
        Some(_) => "",
        None => "nothing was told about this task yet",
    };
    painter.row(area, 0, &[piece(format!(" {text}"), Role::Faint)]);
}

/// Marks the current row, and its counterpart in the other column.
fn mark(painter: &mut Painter<'_>, area: Rect, sheet: &CallSheet, column: Column) {
    let (text, read) = (sheet.text(column), painter.state.calls.column);
    let Some(y) = text.row_on_screen(text.at) else { return };
    let glyphs = painter.glyphs();
    let mark = match read == column {
        true if !sheet.is_linked(column, text.at) => piece(glyphs.dot, Role::Faint),
        false if read == Column::Calls || !sheet.are_linked() => return,
        _ => piece(glyphs.selected, Role::Accent),
    };
    painter.row(area, y, &[mark]);
}

/// Draws what the call asked for: its input as received.
fn asked(painter: &mut Painter<'_>, area: Rect) {
    let state = painter.state;
    let Some(call) = state.shown_call().filter(|_| !area.is_empty()) else { return };
    let (head, body) = cut_top(area, 1);
    let title = [
        piece(format!("call {}", state.call_name(call.seq)), Role::Title),
        piece(format!("  {}", visible::one_line(&call.tool)), Role::Text),
    ];
    let mut facts = format!("{}  {}", who(&call.actor), painter.time(call.at));
    if let Some(ms) = call.duration_ms {
        facts.push_str(&format!("  {}", millis(ms)));
    }
    painter.head(head, &title, &[piece(facts, Role::Faint)]);
    let Some(record) = state.view.records.get(&call.seq) else { return };
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

fn list(painter: &mut Painter<'_>, layout: &Layout, receipts: &Receipts) {
    if layout.list.is_empty() {
        return;
    }
    let state = painter.state;
    let (head, body) = (cut_top(layout.list, 1).0, layout.list_body());
    let at = state.call_at();
    let rows = state.call_rows();
    let place = place(painter, rows.len(), layout.list_items());
    // Drop headings from the end where the filter and the count need their room.
    let room = usize::from(head.width.saturating_sub(columns(&place)));
    let heading = heading(layout.list.width);
    let mut headings = heading.as_str();
    while width(headings) >= room && !headings.is_empty() {
        headings = headings.rsplit_once(' ').map_or("", |(first, _)| first.trim_end());
    }
    painter.row(head, 0, &[piece(headings, Role::Faint)]);
    painter.row_right(head, 0, &place);
    let calls = rows.iter().enumerate().skip(state.calls.top).take(layout.list_items());
    painter.list(body, calls, |painter, (place, call)| {
        let is_marked = receipts.marked.as_ref().is_some_and(|marked| marked.seq == call.call.seq);
        let row = row(painter, call, layout.list.width, (place == at, is_marked));
        (painter.cut(&row, body.width.saturating_sub(1)), place == at)
    });
}

/// Returns how the calls are filtered, and the visible range if not all are visible.
fn place(painter: &Painter<'_>, count: usize, shown: usize) -> Vec<StyledPiece> {
    let calls = &painter.state.calls;
    let range = (count > shown).then(|| {
        let range = format!("{}-{} of {count} ", calls.top + 1, (calls.top + shown).min(count));
        piece(range, Role::Faint)
    });
    let mut pieces = Vec::new();
    let narrowed = painter.state.listed_alone().map(|place| visible::one_line(&place.name.name));
    let filter = (!calls.filter.is_empty()).then(|| format!("/{}", visible::one_line(&calls.filter)));
    if narrowed.is_some() || filter.is_some() {
        let key = painter.state.setup.keymap.key(KeyContext::Receipts, Action::Back).unwrap_or_default();
        let all = painter.state.view.snapshot.calls.len();
        let held: Vec<String> = narrowed.map(String::from).into_iter().chain(filter).collect();
        pieces.push(piece(held.join(" "), Role::Strong));
        pieces.push(piece(format!("  {count} of {all}  "), Role::Text));
        pieces.extend([piece(key, Role::Key), piece(" all ", Role::Faint)]);
    }
    pieces.into_iter().chain(range).collect()
}

/// Returns the widths of the columns after the call's mark: time, caller, tool, task and duration. A column
/// that does not fit has width 0.
fn widths(list: u16) -> [usize; 5] {
    match list {
        100.. => [10, 13, LONGEST_TOOL, 6, 10],
        SUMMED_UP..100 => [9, SHORT_NAME, 13, 5, TOOK + 1],
        50..SUMMED_UP => [0, SHORT_NAME, 13, 5, 0],
        _ => [0, 0, 0, 5, 0],
    }
}

fn heading(list: u16) -> String {
    let [time, by, tool, task, took] = widths(list);
    let names = [("TIME", time), ("BY", by), ("TOOL", tool), ("TASK", task)];
    let names: String = names.iter().map(|(name, columns)| column(name, *columns, "")).collect();
    let took = if took > 0 { column(&right("TOOK", TOOK), took, "") } else { String::new() };
    format!("{}   {names}{took}COMMAND", right("CALL", 8))
}

fn row(
    painter: &Painter<'_>,
    row: &CallRow<'_>,
    width: u16,
    (is_selected, is_marked): (bool, bool),
) -> Vec<StyledPiece> {
    let (glyphs, call) = (painter.glyphs(), row.call);
    let (state, how) = outcome(&painter.state.view, call);
    let (glyph, role) = match state {
        CallState::Running => (glyphs.states[1], Role::Running),
        CallState::Done => (glyphs.states[4], Role::Completed),
        CallState::Stopped => (glyphs.states[3], Role::Cancelled),
        CallState::Failed => (glyphs.states[5], Role::Failed),
    };
    let mark = painter.marker(is_selected);
    let mut pieces = vec![
        piece(format!("{}{mark} ", if is_marked { "=" } else { " " }), Role::Accent),
        piece(
            format!("{} ", right(&painter.state.call_name(call.seq), painter.state.alias_columns(5))),
            Role::Text,
        ),
        piece(format!("{glyph} "), role),
    ];
    let [time, by, tool, task, took] = widths(width);
    let actor =
        if by > SHORT_NAME { who(&call.actor) } else { short(&call.actor, SHORT_NAME - 1, glyphs.cut) };
    let duration = right(&call.duration_ms.map(millis).unwrap_or_default(), TOOK);
    let cells = [
        (painter.time(call.at), time, Role::Faint),
        (if by > 0 { actor } else { String::new() }, by, Role::Text),
        (visible::one_line(&call.tool).into_owned(), tool, Role::Text),
        (alias_of(painter, call), task, Role::Text),
        (duration, took, Role::Faint),
    ];
    pieces.extend(cells.map(|(text, columns, role)| piece(column(&text, columns, glyphs.cut), role)));
    let is_narrow = width < SUMMED_UP;
    // In a narrow list the glyph shows whether it failed, and the number how.
    let how = if is_narrow { how.strip_prefix("exit ").unwrap_or_default().to_owned() } else { how };
    if !how.is_empty() {
        pieces.push(piece(format!("{how}  "), if state == CallState::Failed { role } else { Role::Faint }));
    }
    let subject = standing(&painter.state.view, call)
        .map(|standing| visible::one_line(&standing).into_owned())
        .unwrap_or_else(|| subject(&painter.state.view, row, is_narrow));
    let is_told = call.tool == "ExecCommand" && alias_of(painter, call).is_empty();
    pieces.push(piece(subject, if is_told || call.tool != "ExecCommand" { Role::Faint } else { Role::Text }));
    pieces
}

/// Returns the short name of the task a call concerns, if it is still listed; without its place, which is
/// shown with the call.
fn alias_of(painter: &Painter<'_>, call: &CallSummary) -> String {
    let task = call.task.as_ref().and_then(|id| painter.state.view.task(id));
    task.map(|task| short_alias(task)).unwrap_or_default()
}

/// Widths of an item's state and of its running time.
const STATE: usize = 13;

const RAN: usize = 6;

/// Widths of a line's number and of its command.
const NUMBER: usize = 5;

const CMD: usize = 12;

/// Width of a duration.
const LINE_TOOK: usize = 8;

/// Tells whether the current call is a running batch whose items are known.
fn is_under_way(state: &State) -> bool {
    state.shown_call().is_some_and(|call| call.status.is_none()) && !cmds(state).is_empty()
}

/// Describes which item a running batch has reached.
fn standing(view: &View, call: &CallSummary) -> Option<String> {
    let task = begun(view, call.seq).next_back().filter(|_| call.status.is_none())?;
    let item = task.item?;
    Some(format!("item {}/{}  {}", item.index, item.count, visible::told(task.cmd.trim())))
}

fn draw_batch(painter: &mut Painter<'_>, area: Rect) {
    let state = painter.state;
    let Some(call) = state.shown_call() else { return };
    let tasks: Vec<&Arc<TaskView>> = begun(&state.view, call.seq).collect();
    let at = tasks.last().and_then(|task| task.item).map_or(0, |item| item.index);
    // Keep the item it has reached on screen.
    let rows = usize::from(area.height);
    let top = at.saturating_sub(rows.saturating_sub(1)).saturating_sub(1);
    let items = cmds(state).into_iter().zip(1..).skip(top);
    painter.list(area, items, |painter, (cmd, index)| {
        let task = tasks.iter().find(|task| task.item.is_some_and(|item| item.index == index));
        let mut row = vec![piece(format!(" {} ", right(&index.to_string(), 2)), Role::Faint)];
        row.extend(match task {
            Some(task) => ran(painter, task),
            None if index < at => unstarted(painter.glyphs().states[5], "not run", Role::Failed),
            None => unstarted(painter.glyphs().states[0], "", Role::Faint),
        });
        let role = if index > at { Role::Faint } else { Role::Text };
        row.push(piece(visible::told(cmd.trim()), role));
        (row, false)
    });
}

fn ran(painter: &mut Painter<'_>, task: &TaskView) -> Vec<StyledPiece> {
    let (shown, ran) = (painter.state(task), painter.ran(task));
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, painter.glyphs().cut);
    vec![piece(word, shown.role), piece(format!("{}  ", right(&ran, RAN)), Role::Faint)]
}

fn unstarted(glyph: &'static str, word: &str, role: Role) -> Vec<StyledPiece> {
    vec![piece(column(&format!("{glyph} {word}"), STATE + RAN + 2, ""), role)]
}

/// Returns the items of a batch that have been started, in order.
fn begun(view: &View, call: u64) -> impl DoubleEndedIterator<Item = &Arc<TaskView>> {
    view.snapshot.tasks.iter().filter(move |task| task.call == call && task.item.is_some())
}

/// Returns the commands of the current batch, as requested.
fn cmds(state: &State) -> Vec<&str> {
    let record = state.shown_call().and_then(|call| state.view.records.get(&call.seq));
    let items = record.and_then(|record| record.input.get("items")?.as_array());
    items
        .into_iter()
        .flatten()
        .map(|item| item.get("cmd").and_then(Value::as_str).unwrap_or_default())
        .collect()
}

/// Returns the stream if the current call is a running one.
fn stream_under_way(state: &State) -> Option<&StreamView> {
    state.shown_call().filter(|call| call.status.is_none())?.stream.as_ref()
}

fn draw_stream(painter: &mut Painter<'_>, area: Rect) {
    let Some(stream) = stream_under_way(painter.state) else { return };
    let rows = usize::from(area.height.saturating_sub(2));
    painter.row(area, 0, &[piece(format!(" {}", visible::one_line(&stream_head(stream))), Role::Text)]);
    let hidden = stream.lines.len().saturating_sub(rows);
    let lines = stream.lines.iter().skip(hidden);
    painter.list(cut_top(area, 2).1, lines, |painter, line| (line_row(painter, line), false));
}

fn stream_head(stream: &StreamView) -> String {
    let StreamView { source, done, failed, dry_run, .. } = stream;
    let dry = if *dry_run { ", dry run" } else { "" };
    format!("{source}{dry}  {} done, {} failed", count(*done), count(*failed))
}

fn line_row(painter: &Painter<'_>, line: &StreamLine) -> Vec<StyledPiece> {
    let glyphs = painter.glyphs();
    let (glyph, code, role) = match line.state.as_deref() {
        None => (glyphs.states[1], None, Role::Running),
        Some("ok") => (glyphs.states[4], None, Role::Completed),
        Some(code) => (glyphs.states[5], Some(code), Role::Failed),
    };
    let took = right(&line.duration_ms.map(millis).unwrap_or_default(), LINE_TOOK);
    let mut row = vec![
        piece(format!("{} ", right(&count(line.line), NUMBER)), Role::Faint),
        piece(glyph, role),
        piece(format!("{took}  "), Role::Faint),
        piece(format!("{} ", column(&visible::one_line(&line.cmd), CMD, glyphs.cut)), Role::Text),
    ];
    row.extend(code.map(|code| piece(format!("{}  ", visible::one_line(code)), role)));
    row.push(piece(visible::one_line(&line.note), Role::Faint));
    row
}

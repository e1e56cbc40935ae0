//! A batch that is not answered yet: a row for each of its items, where its receipt will stand.
//! A stream of commands that is not over yet: a row for each of its last lines, where its receipt will stand.

use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::Value;

use crate::runtime::{CallSummary, StreamLine, StreamView, TaskView};

use crate::console::app::App;
use crate::console::app::layout::cut_top;
use crate::console::app::painter::Painter;
use crate::console::text::{Piece, column, count, millis, piece, right, visible};
use crate::console::theme::Role;

/// Columns of an item's state, and of how long it ran.
const STATE: usize = 13;
const RAN: usize = 6;
/// Columns of a line's number and of its command.
const NUMBER: usize = 5;
const CMD: usize = 12;
/// Columns of a duration.
const LINE_TOOK: usize = 8;

/// Tells whether the call shown is a batch under way whose items are known.
pub(crate) fn is_under_way(app: &App) -> bool {
    app.shown_call().is_some_and(|call| call.status.is_none()) && !cmds(app).is_empty()
}

/// Says which item a batch under way is at.
pub(crate) fn standing(app: &App, call: &CallSummary) -> Option<String> {
    let task = begun(app, call.seq).next_back().filter(|_| call.status.is_none())?;
    let item = task.item?;
    Some(format!("item {}/{}  {}", item.index, item.count, visible::told(task.cmd.trim())))
}

pub(crate) fn draw_batch(painter: &mut Painter<'_>, area: Rect) {
    let app = painter.app;
    let Some(call) = app.shown_call() else { return };
    let tasks: Vec<&Arc<TaskView>> = begun(app, call.seq).collect();
    let at = tasks.last().and_then(|task| task.item).map_or(0, |item| item.index);
    // The item it is at stays on screen.
    let rows = usize::from(area.height);
    let top = at.saturating_sub(rows.saturating_sub(1)).saturating_sub(1);
    let items = cmds(app).into_iter().zip(1..).skip(top);
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

fn ran(painter: &mut Painter<'_>, task: &TaskView) -> Vec<Piece> {
    let (shown, ran) = (painter.state(task), painter.ran(task));
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, painter.glyphs().cut);
    vec![piece(word, shown.role), piece(format!("{}  ", right(&ran, RAN)), Role::Faint)]
}

fn unstarted(glyph: &'static str, word: &str, role: Role) -> Vec<Piece> {
    vec![piece(column(&format!("{glyph} {word}"), STATE + RAN + 2, ""), role)]
}

/// The items of a batch that have been started, in order.
fn begun(app: &App, call: u64) -> impl DoubleEndedIterator<Item = &Arc<TaskView>> {
    app.view.snapshot.tasks.iter().filter(move |task| task.call == call && task.item.is_some())
}

/// The commands of the batch shown, as they were asked for.
fn cmds(app: &App) -> Vec<&str> {
    let record = app.shown_call().and_then(|call| app.view.records.get(&call.seq));
    let items = record.and_then(|record| record.input.get("items")?.as_array());
    items
        .into_iter()
        .flatten()
        .map(|item| item.get("cmd").and_then(Value::as_str).unwrap_or_default())
        .collect()
}

/// Returns the stream under way that the call shown is.
pub(crate) fn stream_under_way(app: &App) -> Option<&StreamView> {
    app.shown_call().filter(|call| call.status.is_none())?.stream.as_ref()
}

pub(crate) fn draw_stream(painter: &mut Painter<'_>, area: Rect) {
    let Some(stream) = stream_under_way(painter.app) else { return };
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

fn line_row(painter: &Painter<'_>, line: &StreamLine) -> Vec<Piece> {
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

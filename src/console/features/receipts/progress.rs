//! Draws a batch or a stream of commands that is under way: a row for each item or line, instead of the receipt.

use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::Value;

use crate::console::state::call_rows::items_of;
use crate::console::state::{State, cut_top};
use crate::console::text::{StyledPiece, column, count, millis, piece, right, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::{StreamLine, StreamView, TaskView};

/// Widths of an item's state and of its running time.
const STATE: usize = 13;

const RAN: usize = 6;

/// Widths of a line's number and of its command.
const NUMBER: usize = 5;

const CMD: usize = 12;

/// Width of a duration.
const LINE_TOOK: usize = 8;

/// Tells whether the current call is a running batch whose items are known.
pub(super) fn is_under_way(state: &State) -> bool {
    state.shown_call().is_some_and(|call| call.status.is_none()) && !cmds(state).is_empty()
}

pub(super) fn draw_batch(painter: &mut Painter<'_>, area: Rect) {
    let state = painter.state;
    let Some(call) = state.shown_call() else { return };
    let tasks: Vec<&Arc<TaskView>> = items_of(&state.view, call).collect();
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
            None if index < at => unstarted_state(painter.glyphs().states[5], "not run", Role::Failed),
            None => unstarted_state(painter.glyphs().states[0], "", Role::Faint),
        });
        let role = if index > at { Role::Faint } else { Role::Text };
        row.push(piece(visible::masked_line(cmd.trim()), role));
        (row, false)
    });
}

fn ran(painter: &mut Painter<'_>, task: &TaskView) -> Vec<StyledPiece> {
    let (shown, ran) = (painter.state(task), painter.ran(task));
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, painter.glyphs().cut);
    vec![piece(word, shown.role), piece(format!("{}  ", right(&ran, RAN)), Role::Faint)]
}

fn unstarted_state(glyph: &'static str, word: &str, role: Role) -> Vec<StyledPiece> {
    vec![piece(column(&format!("{glyph} {word}"), STATE + RAN + 2, ""), role)]
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
pub(super) fn stream_under_way(state: &State) -> Option<&StreamView> {
    state.shown_call().filter(|call| call.status.is_none())?.stream.as_ref()
}

pub(super) fn draw_stream(painter: &mut Painter<'_>, area: Rect) {
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

//! A batch that is not answered yet: a row for each of its items, where its receipt will stand.

use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::Value;

use crate::runtime::{CallSummary, TaskView};

use super::super::app::App;
use super::super::looks::theme::Role;
use super::super::text::document::{Piece, piece};
use super::super::text::visible;
use super::super::text::{column, right};
use super::brush::{Brush, cut};

/// Columns of an item's state, and of how long it ran.
const STATE: usize = 13;
const RAN: usize = 6;

/// Tells whether the call shown is a batch under way whose items are known.
pub(super) fn is_under_way(app: &App) -> bool {
    app.shown_call().is_some_and(|call| call.status.is_none()) && !cmds(app).is_empty()
}

/// Says which item a batch under way is at.
pub(super) fn standing(app: &App, call: &CallSummary) -> Option<String> {
    let task = begun(app, call.seq).next_back().filter(|_| call.status.is_none())?;
    let item = task.item?;
    Some(format!("item {}/{}  {}", item.index, item.count, visible::told(task.cmd.trim())))
}

pub(super) fn draw(brush: &mut Brush<'_>, area: Rect) {
    let app = brush.app;
    let Some(call) = app.shown_call() else { return };
    let tasks: Vec<&Arc<TaskView>> = begun(app, call.seq).collect();
    let at = tasks.last().and_then(|task| task.item).map_or(0, |item| item.index);
    // The item it is at stays on screen.
    let rows = usize::from(area.height);
    let top = at.saturating_sub(rows.saturating_sub(1)).saturating_sub(1);
    let items = cmds(app).into_iter().zip(1..).skip(top);
    for (y, (cmd, index)) in (0..area.height).zip(items) {
        let task = tasks.iter().find(|task| task.item.is_some_and(|item| item.index == index));
        let mut row = vec![piece(format!(" {} ", right(&index.to_string(), 2)), Role::Faint)];
        row.extend(match task {
            Some(task) => ran(brush, task),
            None if index < at => unstarted(brush.glyphs().states[5], "not run", Role::Failed),
            None => unstarted(brush.glyphs().states[0], "", Role::Faint),
        });
        let role = if index > at { Role::Faint } else { Role::Text };
        row.push(piece(visible::told(cmd.trim()), role));
        let row = cut(&row, usize::from(area.width), brush.glyphs().cut);
        brush.row(area, y, &row);
    }
}

fn ran(brush: &mut Brush<'_>, task: &TaskView) -> Vec<Piece> {
    let (shown, ran) = (brush.state(task), brush.ran(task));
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, brush.glyphs().cut);
    vec![piece(word, shown.role), piece(format!("{}  ", right(&ran, RAN)), Role::Faint)]
}

fn unstarted(glyph: &'static str, word: &str, role: Role) -> Vec<Piece> {
    vec![piece(column(&format!("{glyph} {word}"), STATE + RAN + 2, ""), role)]
}

/// The items of a batch that have been started, in order.
fn begun(app: &App, call: u64) -> impl DoubleEndedIterator<Item = &Arc<TaskView>> {
    app.snapshot.tasks.iter().filter(move |task| task.call == call && task.item.is_some())
}

/// The commands of the batch shown, as they were asked for.
fn cmds(app: &App) -> Vec<&str> {
    let record = app.shown_call().and_then(|call| app.calls.records.get(&call.seq));
    let items = record.and_then(|record| record.input.get("items")?.as_array());
    items
        .into_iter()
        .flatten()
        .map(|item| item.get("cmd").and_then(Value::as_str).unwrap_or_default())
        .collect()
}

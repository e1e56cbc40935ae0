//! The card of a call that waits for the operator: a fixed frame that no task's cells can reach.

use ratatui::layout::Rect;

use super::super::app::held::{self, Card, Writing};
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::text::document::{Piece, piece};
use super::brush::Brush;
use super::layers::key_row;
use super::status::write_line;

pub(super) fn draw(brush: &mut Brush<'_>, card: &Card) {
    let app = brush.app;
    let Some(call) = app.held_call() else { return };
    let all = &app.snapshot.gate.held;
    let at = all.iter().position(|held| held.ticket == call.ticket).map_or(1, |at| at + 1);
    let rows = held::rows(app, call, card);
    let screen = brush.buf.area;
    let (area, text) = held::place((screen.width, screen.height), rows.len());
    brush.clear(Rect { x: area.x.saturating_sub(1), width: (area.width + 2).min(screen.width), ..area });
    brush.boxed(area, &held::title(call, at, all.len(), brush.glyphs().cut));
    for (y, row) in (0..text.height).zip(rows.iter().skip(card.top)) {
        brush.row(text, y, row);
    }
    let foot = Rect { y: text.y + text.height + 1, height: 2, ..text };
    let mark = piece("> ", Role::Accent);
    match &card.writing {
        Some(Writing::Note(note)) => {
            return write_line(brush, foot, &[piece("why not? ", Role::Faint), mark], note, false);
        }
        Some(Writing::Rule(rule)) => {
            write_line(brush, foot, &[piece("what begins with ", Role::Faint), mark], rule, false);
            let ways = [(Action::Send, "run it, ask no more about these"), (Action::Leave, "back")];
            let keys = key_row(brush, Context::Note, &ways);
            brush.row(foot, 1, &keys);
            return;
        }
        None => {}
    }
    let below = rows.len().saturating_sub(card.top + usize::from(text.height));
    let [first, second] = keys(brush, card, below);
    brush.row(foot, 0, &first);
    brush.row(foot, 1, &second);
}

/// The answers, and below them what else there is to do.
fn keys(brush: &Brush<'_>, card: &Card, below: usize) -> [Vec<Piece>; 2] {
    let app = brush.app;
    if card.is_answered {
        return [vec![piece("answered", Role::Faint)], Vec::new()];
    }
    if !card.is_read {
        let mut row = vec![piece(format!("{below} more rows   "), Role::Waiting)];
        row.extend(key_row(brush, Context::Held, &[(Action::Down, "read on"), (Action::Deny, "deny")]));
        return [row, others(brush)];
    }
    let mut ways = vec![(Action::Approve, "run it")];
    if app.can(Action::ApproveExact) {
        ways.push((Action::ApproveExact, "ask no more about it"));
    }
    if app.can(Action::ApproveWider) {
        ways.push((Action::ApproveWider, "about more"));
    }
    ways.push((Action::Deny, "deny, and say why"));
    [key_row(brush, Context::Held, &ways), others(brush)]
}

fn others(brush: &Brush<'_>) -> Vec<Piece> {
    let app = brush.app;
    let mut ways = Vec::new();
    if app.snapshot.gate.held.len() > 1 {
        ways.push((Action::NextHeld, "next"));
    }
    if app.snapshot.gate.paused.is_some() {
        ways.push((Action::Pause, "let all go on"));
    }
    ways.push((Action::Back, "later"));
    key_row(brush, Context::Held, &ways)
}

//! What happened to the selected task: who did what, when, how many bytes.

use super::super::app::alias;
use super::super::document::piece;
use super::super::plan::{Plan, cut_top};
use super::super::text::{column, count, right};
use super::super::theme::Role;
use super::super::visible;
use super::brush::Brush;
use super::state::who;

pub(super) fn draw(brush: &mut Brush<'_>, plan: &Plan) {
    let app = brush.app;
    if plan.timeline.is_empty() {
        return;
    }
    let Some(task) = app.selected() else { return };
    let (head, body) = cut_top(plan.timeline, 1);
    let out = format!("{} bytes out", count(task.output.bytes));
    let title = [piece("timeline", Role::Title), piece(format!("  {}", alias(task)), Role::Text)];
    brush.head(head, &title, &[piece(out, Role::Faint)]);
    let dots = brush.glyphs().cut;
    let is_narrow = body.width < 80;
    let skipped = task.events.len().saturating_sub(usize::from(body.height));
    for (y, event) in (0..body.height).zip(task.events.iter().skip(skipped)) {
        let bytes = event.bytes.map(count).unwrap_or_default();
        let role = match event.what.as_str() {
            "refused" | "timeout" | "output_limit" | "screen_reset" => Role::Failed,
            "stop" | "signal" => Role::Cancelling,
            _ => Role::Text,
        };
        let what = visible::one_line(&event.what).replace('_', " ");
        let by = if is_narrow {
            column(event.actor.short(), 4, dots)
        } else {
            column(&who(&event.actor), 12, dots)
        };
        let row = [
            piece(format!(" {}  ", brush.time(event.at)), Role::Faint),
            piece(column(&what, if is_narrow { 9 } else { 13 }, dots), role),
            piece(by, Role::Text),
            piece(format!("{}  ", right(&bytes, if is_narrow { 5 } else { 8 })), Role::Text),
            piece(visible::one_line(&event.note), Role::Faint),
        ];
        let row = super::brush::cut(&row, usize::from(body.width.saturating_sub(1)), dots);
        brush.row(body, y, &row);
    }
}

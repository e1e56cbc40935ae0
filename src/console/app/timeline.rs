//! What happened to the selected task, or to all: who did what, when, how many bytes.

use ratatui::layout::Rect;

use crate::runtime::{TaskEvent, TaskFact, TaskView};

use super::alias;
use super::layout::{Layout, cut_top};
use super::painter::Painter;
use super::task_words::who;
use crate::console::keys::Action;
use crate::console::text::{Piece, column, count, piece, right, visible};
use crate::console::theme::Role;

pub(super) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    let app = painter.app;
    if layout.timeline.is_empty() {
        return;
    }
    let Some(task) = app.selected() else { return };
    let (head, body) = cut_top(layout.timeline, 1);
    let tasks = if app.is_overall { &app.view.snapshot.tasks[..] } else { std::slice::from_ref(task) };
    let name = if app.is_overall { "all tasks".to_owned() } else { alias(task) };
    let out = format!("{} bytes out", count(tasks.iter().map(|task| task.output.bytes).sum()));
    let title = [piece("timeline", Role::Title), piece(format!("  {name}"), Role::Text)];
    let key = app.setup.keymap.key(app.view_context(), Action::Timeline).unwrap_or_default();
    let mut facts = vec![piece(out, Role::Faint)];
    facts.extend(app.is_overall.then(|| piece(format!("{key} this task"), Role::Faint)));
    painter.head(head, &title, &facts);
    let events = tasks.iter().flat_map(|task| task.events.iter().map(move |event| (&**task, event)));
    let mut events: Vec<(&TaskView, &TaskEvent)> = events.collect();
    events.sort_by_key(|(_, event)| event.at);
    let skipped = events.len().saturating_sub(usize::from(body.height));
    let text = Rect { width: body.width.saturating_sub(1), ..body };
    painter.list(text, events.into_iter().skip(skipped), |painter, (task, event)| {
        (row(painter, task, event, body.width < 80), false)
    });
}

fn row(painter: &Painter<'_>, task: &TaskView, event: &TaskEvent, is_narrow: bool) -> Vec<Piece> {
    let dots = painter.glyphs().cut;
    let role = match event.fact {
        TaskFact::Refused(_) | TaskFact::Timeout | TaskFact::OutputLimit(_) => Role::Failed,
        TaskFact::ScreenReset | TaskFact::Denied(_) => Role::Failed,
        TaskFact::Waiting(..) | TaskFact::Held(_) => Role::Waiting,
        TaskFact::Stop { .. } | TaskFact::Signal(_) => Role::Cancelling,
        _ => Role::Text,
    };
    let what = event.fact.word().replace('_', " ");
    let by =
        if is_narrow { column(event.actor.short(), 4, dots) } else { column(&who(&event.actor), 12, dots) };
    let bytes = event.fact.bytes().map(count).unwrap_or_default();
    let mut row = vec![piece(format!(" {}  ", painter.time(event.at)), Role::Faint)];
    row.extend(painter.app.is_overall.then(|| piece(column(&alias(task), 5, dots), Role::Text)));
    row.extend([
        piece(column(&what, if is_narrow { 9 } else { 13 }, dots), role),
        piece(by, Role::Text),
        piece(format!("{}  ", right(&bytes, if is_narrow { 5 } else { 8 })), Role::Text),
        piece(visible::one_line(&event.fact.note()).into_owned(), Role::Faint),
    ]);
    row
}

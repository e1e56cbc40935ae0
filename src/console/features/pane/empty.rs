//! What an empty pane says: what is known of a task that has printed nothing, in one sentence.

use crate::console::state::words::{ended_at, needs};
use crate::console::text;
use crate::console::text::piece;
use crate::console::theme::Role;
use crate::console::widgets::{Painter, in_lane, usually};
use crate::model::{TaskStatus, TaskView};
use ratatui::layout::Rect;

/// Draws the sentence.
pub(in crate::console) fn draw(painter: &mut Painter<'_>, area: Rect, task: &TaskView) {
    let text = format!(" {}", sentence(painter, task));
    painter.line(area, 0, &[piece(text, Role::Faint)]);
}

/// Returns the sentence: `runs 4s, nothing printed; usually 41.0 s`.
fn sentence(painter: &mut Painter<'_>, task: &TaskView) -> String {
    if let Some(reason) = &task.held {
        return format!("not started: {}", reason.word());
    }
    let from = task.started_at.unwrap_or(task.created_at);
    if task.never_ran() {
        return "it never ran".to_owned();
    }
    if let Some(at) = ended_at(task) {
        return format!("ran {}, printed nothing", text::age(from, at).text);
    }
    let lasting = match painter.is_still() {
        true => painter.lasting(from),
        false => {
            let age = text::age(from, painter.state.clock.now);
            painter.wake_at(age.until);
            age.text
        }
    };
    if task.status == TaskStatus::Queued {
        let place = task.queued.as_ref().map(|wait| format!(": {}", in_lane(painter.state, wait, true)));
        return format!("queued {lasting}, not started{}", place.unwrap_or_default());
    }
    let waiting = task.waiting.as_ref().filter(|waiting| waiting.is_certain());
    let waits = waiting.map_or(String::new(), |waiting| format!(", {}", needs(waiting)));
    let usual = usually(painter.state, task).map_or(String::new(), |usual| format!("; {}", usual.text));
    format!("runs {lasting}{waits}, nothing printed{usual}")
}

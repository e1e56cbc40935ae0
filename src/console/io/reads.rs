//! What the console in plain lines reads of a task: its output, its screen.

use std::io;
use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;

use super::pages;
use crate::console::msg::Msg;
use crate::console::plain::{PlainEvent, Purpose};
use crate::envelope::TaskId;
use crate::link::Operator;
use crate::model::TaskView;

/// The reads in progress.
type Reads = JoinSet<Option<PlainEvent>>;

/// Reads the output of a task from an offset on.
pub(super) fn output(reading: &mut Reads, operator: &Operator, task: &TaskId, from: u64, purpose: Purpose) {
    let Some(task) = known_task(operator, task) else { return };
    reading.spawn_blocking(move || match pages::since(&task, from, purpose) {
        Ok(reading) => Some(PlainEvent::Read(task.id.clone(), reading)),
        // A task that never started has no log.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(PlainEvent::Done(Msg::Failed(format!("read the log of the task: {error}")))),
    });
}

/// Reads the screen of a task; if the task has ended or the console shows a recording, reconstructs it from the log.
pub(super) fn screen(reading: &mut Reads, operator: Operator, task: TaskId) {
    let is_past = |known: &Arc<TaskView>| operator.recording().is_some() || known.status.is_terminal();
    if let Some(known) = known_task(&operator, &task).filter(is_past) {
        reading.spawn_blocking(move || {
            let screen = pages::last_screen(&known).or_else(|error| match error.kind() {
                // A task that never started has no log.
                io::ErrorKind::NotFound => Ok(String::new()),
                _ => Err(format!("read the log of the task: {error}")),
            });
            Some(PlainEvent::Screen(task, screen))
        });
        return;
    }
    reading.spawn(async move {
        let asked = json!({"task_id": task, "block": false, "view": "screen"});
        let screen = match operator.call("TaskOutput", asked).await {
            Ok(answer) => {
                let result = answer.envelope.result();
                let shown = result.and_then(|result| result.pointer("/task/output_preview"));
                match result {
                    Some(_) => Ok(shown.and_then(|text| text.as_str()).unwrap_or_default().to_owned()),
                    None => Err(answer.envelope.summary_text().to_owned()),
                }
            }
            Err(error) => Err(error.to_string()),
        };
        Some(PlainEvent::Screen(task, screen))
    });
}

fn known_task(operator: &Operator, task: &TaskId) -> Option<Arc<TaskView>> {
    operator.snapshot().borrow().tasks.iter().find(|known| known.id == *task).cloned()
}

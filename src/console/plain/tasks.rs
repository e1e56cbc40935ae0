//! Descriptions of tasks: what one runs, its state, how it ended.

use crate::console::plain::line::who;
use crate::console::state::ports::ports;
use crate::console::state::{alias, words};
use crate::console::text::{self, visible};
use jiff::Timestamp;

use crate::model::UnendedProcesses;
use crate::model::{TaskStatus, TaskView};

/// Maximum length of a command in an event, in characters.
const MOST: usize = 200;

/// Returns what a task runs, on one line: its position in a batch and its name, if any, and its command.
pub fn command(task: &TaskView) -> String {
    let place = task.item.map(|item| format!("item {} of {}, ", item.index, item.count)).unwrap_or_default();
    let name = task.name.as_deref().map(|name| format!("{}, ", visible::told(name))).unwrap_or_default();
    text::cut(&format!("{place}{name}{}", visible::told(task.cmd.trim())), MOST, "...")
}

/// Returns the current state of a task, with its name and what it runs.
pub fn standing(task: &TaskView, now: Timestamp) -> String {
    let state = match (&task.ended, &task.waiting) {
        (Some(_), _) => end(task),
        (None, _) if task.held.is_some() => "awaiting approval".to_owned(),
        (None, _) if task.queued.is_some() => {
            task.queued.iter().map(|wait| format!("queued: {wait}")).collect()
        }
        (None, Some(waiting)) => format!("{}, {}", task.status.as_str(), words::needs(waiting)),
        (None, None) => task.status.as_str().to_owned(),
    };
    let age = match (task.status.is_terminal(), task.started_at) {
        (false, Some(since)) => format!(" for {}", text::age(since, now).text),
        _ => String::new(),
    };
    let listens = ports(task).map(|ports| format!(", listening on {ports}")).unwrap_or_default();
    format!("{} {state}{age}{listens}, by {}: {}", alias(task), who(&task.started_by), command(task))
}

/// Describes how a task ended: `exit 0`, `cancelled by operator`.
pub fn end(task: &TaskView) -> String {
    let how = words::how(task.ended.as_ref());
    match (task.status, &task.stop) {
        (TaskStatus::Cancelled, Some(stop)) => format!("cancelled by {}", who(&stop.by)),
        (TaskStatus::Interrupted, _) => task.cause().unwrap_or_else(|| task.status.as_str().to_owned()),
        (TaskStatus::Completed | TaskStatus::Failed, _) => {
            match task.ended.as_ref().and_then(|e| e.signalled_by.as_ref()) {
                Some(by) => format!("{how}, sent by {}", who(by)),
                None if task.ceiling.is_some() => {
                    task.cause().map_or(how.clone(), |why| format!("{how}, {why}"))
                }
                None => match task.signal_before_end() {
                    Some((by, signal)) => format!("{how} after {} by {}", <&str>::from(signal), who(by)),
                    None => how,
                },
            }
        }
        (status, _) => status.as_str().to_owned(),
    }
}

/// Returns further facts about the end of a task: how long it ran, how much it printed, what it left behind.
pub fn after(task: &TaskView) -> String {
    let mut said = String::new();
    if task.started_at.is_some() {
        said = format!(" after {}", text::millis(task.lived_ms()));
    }
    said += &match task.output.lines {
        0 if task.output.bytes == 0 => ", no output".to_owned(),
        1 => ", 1 line of output".to_owned(),
        lines => format!(", {} lines of output", text::count(lines)),
    };
    let Some(ended) = &task.ended else { return said };
    if let Some((_, message)) = &ended.error {
        said += &format!(": {message}");
    }
    if !ended.leftovers.is_empty() {
        said += &format!("; left over and ended: {}", ended.leftovers.join(", "));
    }
    if let Some(phrase) = UnendedProcesses::phrase_for_operator(&ended.survivors) {
        said += &format!("; {phrase}");
    }
    said
}

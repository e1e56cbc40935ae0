//! Descriptions of tasks: what one runs, its state, how it ended.

use crate::console::plain::line::actor_name;
use crate::console::state::ports::ports;
use crate::console::state::{alias, words};
use crate::console::text::{self, visible};
use jiff::Timestamp;

use crate::model::{TaskView, UnendedProcesses};

/// Maximum length of a command in an event, in characters.
const MOST: usize = 200;

/// Returns what a task runs, on one line: its position in a batch and its name, if any, and its command.
pub fn command(task: &TaskView) -> String {
    let place = task.item.map(|item| format!("item {} of {}, ", item.index, item.count)).unwrap_or_default();
    let name =
        task.name.as_deref().map(|name| format!("{}, ", visible::masked_line(name))).unwrap_or_default();
    text::cut(&format!("{place}{name}{}", visible::masked_line(task.cmd.trim())), MOST, "...")
}

/// Returns the current state of a task, with its name and what it runs.
pub fn state_line(task: &TaskView, now: Timestamp) -> String {
    let state = match (task.end_clause(), &task.waiting, &task.queued) {
        (Some(end), ..) => end,
        (None, Some(waiting), _) => format!("{}, {}", task.status.as_str(), words::needs(waiting)),
        (None, None, Some(wait)) => format!("queued: {wait}"),
        (None, None, None) => task.word().into_owned(),
    };
    let age = match (task.status.is_terminal(), task.started_at) {
        (false, Some(since)) => format!(" for {}", text::age(since, now).text),
        _ => String::new(),
    };
    let listens = ports(task).map(|ports| format!(", listening on {ports}")).unwrap_or_default();
    format!("{} {state}{age}{listens}, by {}: {}", alias(task), actor_name(&task.started_by), command(task))
}

/// Returns further facts about the end of a task: how long it ran, how much it printed, what it left behind.
pub fn after(task: &TaskView) -> String {
    let mut said = String::new();
    if task.started_at.is_some() {
        said = format!(" after {}", text::millis(task.lived_ms()));
    }
    said += &match task.output.line_count() {
        0 => ", no output".to_owned(),
        lines => format!(", {} of output", text::grouped_amount(lines, "line")),
    };
    let Some(ended) = &task.ended else { return said };
    if !ended.leftovers.is_empty() {
        said += &format!("; left over and ended: {}", ended.leftovers.join(", "));
    }
    if let Some(phrase) = UnendedProcesses::phrase_for_operator(&ended.survivors) {
        said += &format!("; {phrase}");
    }
    said
}

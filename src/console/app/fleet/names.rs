//! Short names: of tasks, and with several places of what is where.

use jiff::Timestamp;

use crate::runtime::{PlaceName, TaskView};

/// Returns what tells the newest of some tasks: their numbers, and with several places the time they were asked for.
pub(in crate::console) fn born(task: &TaskView) -> (Option<Timestamp>, u32) {
    (task.place.as_ref().map(|_| task.created_at), task.number)
}

/// Returns a short name with its place before it, where there are several.
pub(in crate::console) fn at_place(place: Option<&PlaceName>, name: String) -> String {
    match place {
        Some(place) => format!("{}/{name}", place.name),
        None => name,
    }
}

/// Returns the short name of a task: `t07`, with its place where there are several: `web-fix/t07`.
pub fn alias(task: &TaskView) -> String {
    at_place(task.place.as_deref(), short_alias(task))
}

/// Returns the short name of a task where its place is said already: `t07`.
pub(crate) fn short_alias(task: &TaskView) -> String {
    format!("t{:02}", task.number)
}

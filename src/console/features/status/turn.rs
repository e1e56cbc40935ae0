//! What the status line says of the list and of a task: that nothing matches, and whose turn it is to type.

use crate::console::state::{Screen, State, actor_name, short};
use crate::envelope::Actor;
use crate::model::TaskView;

/// Maximum width of the name of who reads while you type, in columns.
const MOST_READER: usize = 12;

/// Tells whether the text that filters the list on screen leaves nothing of it.
pub(super) fn lists_nothing(state: &State) -> bool {
    match state.focus.screen {
        Screen::Tasks => !state.list.filters.text.is_empty() && state.list_rows().matching == 0,
        Screen::Receipts => !state.calls.filter.is_empty() && state.call_rows().is_empty(),
        Screen::Focus | Screen::Metrics | Screen::Program => false,
    }
}

/// Says whose turn it is to type into a task; while you type, who reads meanwhile.
pub(super) fn turn(task: &TaskView, types: bool) -> String {
    let is_agents = matches!(task.started_by, Actor::Agent(_));
    match &task.lease {
        _ if types && is_agents => format!("you type; {} reads", short(&task.started_by, MOST_READER, "")),
        _ if types => "you type".to_owned(),
        Some(lease) => format!("turn: {}", actor_name(&lease.holder)),
        None => format!("turn: {}", actor_name(&task.started_by)),
    }
}

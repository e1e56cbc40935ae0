//! Short names of tasks, prefixed with the place where there are several.

use jiff::Timestamp;

use crate::console::text;
use crate::runtime::{PlaceLink, PlaceName, TaskView};

/// Returns the key for sorting tasks by age: their number, preceded by their creation time if there are
/// several places.
pub(in crate::console) fn born(task: &TaskView) -> (Option<Timestamp>, u32) {
    (task.place.as_ref().map(|_| task.created_at), task.number)
}

/// Prefixes a short name with its place, where there are several.
pub(in crate::console) fn at_place(place: Option<&PlaceName>, name: String) -> String {
    match place {
        Some(place) => format!("{}/{name}", place.name),
        None => name,
    }
}

/// Returns the word for the state of a place's link.
pub(in crate::console) fn link_word(link: &PlaceLink, now: Timestamp) -> String {
    match link {
        PlaceLink::Live => "live".to_owned(),
        PlaceLink::ReadOnly(_) => "read-only".to_owned(),
        PlaceLink::Connecting => "connecting".to_owned(),
        PlaceLink::Lost { since, .. } => format!("lost {} ago", text::age(*since, now).text),
        PlaceLink::Gone { .. } => "ended".to_owned(),
    }
}

/// Returns the short name of a task: `t07`, or with several places `web-fix/t07`.
pub fn alias(task: &TaskView) -> String {
    at_place(task.place.as_deref(), short_alias(task))
}

/// Returns the short name of a task without its place: `t07`.
pub(crate) fn short_alias(task: &TaskView) -> String {
    format!("t{:02}", task.number)
}

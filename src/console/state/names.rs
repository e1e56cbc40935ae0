//! Short names of tasks, prefixed with the place where there are several.

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::text;
use crate::model::{PlaceLink, PlaceName, PlaceState, Slot, TaskView};

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

/// Returns the place of a call or a held call, by its number among those of all places.
pub(in crate::console) fn place_of_number(
    places: &[Arc<PlaceState>],
    number: u64,
) -> Option<&Arc<PlaceState>> {
    let (slot, _) = Slot::of(number);
    places.iter().find(|place| place.slot == slot)
}

/// Returns what a call is called where it can be written as well: its number, with several places that of its place.
pub(in crate::console) fn call_name(places: &[Arc<PlaceState>], number: u64) -> String {
    match place_of_number(places, number) {
        Some(place) => at_place(Some(&place.name), Slot::of(number).1.to_string()),
        None => number.to_string(),
    }
}

/// Returns the word for the state of a place's link.
pub(in crate::console) fn link_word(link: &PlaceLink, now: Timestamp) -> String {
    match link {
        PlaceLink::Live => "live".to_owned(),
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

//! Short names: of tasks, and with several places of what is where.

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::text;
use crate::runtime::{PlaceLink, PlaceName, PlaceState, Slot, TaskView};

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

/// Says how a place is reached.
pub(in crate::console) fn link_word(link: &PlaceLink, now: Timestamp) -> String {
    match link {
        PlaceLink::Live => "live".to_owned(),
        PlaceLink::ReadOnly(_) => "read-only".to_owned(),
        PlaceLink::Connecting => "connecting".to_owned(),
        PlaceLink::Lost { since, .. } => format!("lost {} ago", text::age(*since, now).text),
        PlaceLink::Gone { .. } => "ended".to_owned(),
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

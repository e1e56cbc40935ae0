//! Several places in one console: the list of them, where a command starts, and what is refused while a place is away.

use crate::console::effect::Effect;
use crate::console::state::{ListChoice, State, alias, link_word, refusal};
use crate::console::text::{column, visible};
use crate::console::widgets::{Chooser, ListItem, ListKind};
use crate::link::{Act, Request, RunningRuntime};
use crate::model::{PlaceId, PlaceState, Subject, TypedInput};

/// Returns the runtimes that are not shown yet, as items of the list of places.
pub(in crate::console) fn running_items(state: &State, running: Vec<RunningRuntime>) -> Vec<ListItem> {
    let own = state.view.snapshot.workspace.clone();
    let is_single = !state.is_fleet();
    let is_shown = |running: &RunningRuntime| {
        state.place(&PlaceId::from(running.id.as_str())).is_some()
            || is_single && running.workspace() == Some(&own)
    };
    let items = running.iter().filter(|running| !is_shown(running)).map(|running| {
        let workspace = running.workspace().map(|workspace| workspace.display().to_string());
        let workspace = workspace.unwrap_or_else(|| running.id.clone());
        let name = workspace.rsplit('/').next().unwrap_or_default().to_owned();
        let about = format!("open it here  {}", visible::one_line(&workspace));
        ListItem::new(visible::one_line(&name).into_owned(), about, ListChoice::Open(running.clone()))
    });
    items.collect()
}

/// Opens the list of places, and requests the runtimes that are not shown.
pub(in crate::console) fn list_of_places(state: &State) -> Chooser {
    let places = &state.view.snapshot.places;
    let mut items: Vec<ListItem> = Vec::new();
    if places.len() > 1 {
        items.push(ListItem::new("all places", "the tasks of all of them", ListChoice::Only(None)));
    }
    items.extend(places.iter().map(|place| {
        let choice = ListChoice::Only(Some(place.name.id.clone()));
        ListItem::new(place.name.name.clone(), told_of_place(state, place), choice)
    }));
    let mut chooser = Chooser::new(ListKind::Fleet, items);
    chooser.select(&ListChoice::Only(state.list.filters.place.clone()));
    chooser
}

fn told_of_place(state: &State, place: &PlaceState) -> String {
    let state = link_word(&place.link, state.clock.now);
    let host = place.host.as_deref().unwrap_or("this machine");
    let workspace = place.workspace.display().to_string();
    let counts = format!("{} live  {} waiting", place.live_tasks(), place.waiting());
    format!(
        "{}  {}  {host}  {}",
        column(&state, 13, ""),
        column(&counts, 18, ""),
        visible::one_line(&workspace)
    )
}

/// Returns why an effect cannot be carried out, if so.
pub(in crate::console) fn held_back(state: &State, effect: &Effect) -> Option<String> {
    let Effect::Ask(request) = effect else { return None };
    let Subject::Task(task) = &request.subject else { return None };
    // What only reads is tried.
    if matches!(request.act, Act::Changes | Act::Cost) {
        return None;
    }
    let task = state.view.task(task)?;
    let place = state.place_of(task)?;
    refusal(place).map(|told| format!("{}: {told}", alias(task)))
}

/// Resizes that follow a pane were not requested by the user.
pub(in crate::console) fn is_of_a_person(effect: &Effect) -> bool {
    !matches!(effect, Effect::Ask(Request { act: Act::Send(TypedInput::Resize(_)), .. }))
}

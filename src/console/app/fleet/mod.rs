//! Several places in one console: which one is meant, how its numbers are displayed, what is refused while a
//! place is not attached, and the list of all places. With a single runtime there are no places, and nothing
//! here has any effect.

pub(super) mod draw;
pub(super) mod names;

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::envelope::TaskId;
use crate::link::{Request, Running};
use crate::model::{
    CallSummary, Input, Metrics, PlaceId, PlaceLink, PlaceState, Question, Slot, Snapshot, TaskView,
};

use super::availability::Why;
use super::chooser::{Choice, Chooser, Item, Kind};
use super::task_list::Filters;
use super::{App, Layer, Prompt, Screen};
use crate::console::msg::Effect;
use crate::console::text::{self, column, visible, width};
use names::{alias, at_place, link_word};

/// Maximum width of the place name before the short name of a task, in columns.
const MOST_NAME: usize = 16;

/// Returns the link state of each place in a snapshot.
pub(super) fn links(snapshot: &Snapshot) -> Vec<(&PlaceId, &PlaceLink)> {
    snapshot.places.iter().map(|place| (&place.name.id, &place.link)).collect()
}

impl App {
    /// Tells whether the console shows several places, or is meant to.
    pub(super) fn is_fleet(&self) -> bool {
        self.setup.is_fleet || !self.view.snapshot.places.is_empty()
    }

    /// Tells whether a fleet has no places to show.
    pub(super) fn has_nothing(&self) -> bool {
        self.is_fleet() && self.view.snapshot.places.is_empty()
    }

    pub(super) fn place(&self, id: &PlaceId) -> Option<&Arc<PlaceState>> {
        self.view.snapshot.places.iter().find(|place| place.name.id == *id)
    }

    fn place_of(&self, task: &TaskView) -> Option<&Arc<PlaceState>> {
        self.place(&task.place.as_ref()?.id)
    }

    /// Returns the place of a call or held call, by its number.
    pub(super) fn place_of_number(&self, number: u64) -> Option<&Arc<PlaceState>> {
        names::place_of_number(&self.view.snapshot.places, number)
    }

    /// Returns the place of an agent, by its label.
    pub(super) fn place_of_agent(&self, label: &str) -> Option<&Arc<PlaceState>> {
        self.view.snapshot.place_in(label)
    }

    /// Returns the current place: the one the lists are limited to, or else that of the current task, or else
    /// the only one or the home place.
    pub(in crate::console) fn place_at_hand(&self) -> Option<PlaceId> {
        let places = &self.view.snapshot.places;
        let of_task = || self.at_hand().and_then(|task| task.place.as_ref()).map(|place| place.id.clone());
        let usual = || match &places[..] {
            [only] => Some(only),
            several => several.iter().find(|place| place.slot == Slot::default()),
        };
        let only = self.list.filters.place.clone().filter(|id| self.place(id).is_some());
        only.or_else(of_task).or_else(|| usual().map(|place| place.name.id.clone()))
    }

    /// Tells whether what is shown of a task may be out of date.
    pub(super) fn is_stale(&self, task: &TaskView) -> bool {
        self.place_of(task).is_some_and(|place| !place.link.is_live())
    }

    /// Checks whether the current task's place accepts actions.
    pub(super) fn place_is_attached(&self) -> Result<(), Why> {
        is_attached(self.at_hand().and_then(|task| self.place_of(task)))
    }

    /// Checks whether the place of a call or held call accepts actions.
    pub(super) fn number_is_attached(&self, number: u64) -> Result<(), Why> {
        is_attached(self.place_of_number(number))
    }

    /// Tells whether a question can be answered at its place.
    pub(super) fn question_is_attached(&self, question: &Question) -> Result<(), Why> {
        is_attached(place_of_question(&self.view.snapshot, question))
    }

    /// Says why a question cannot be answered at its place.
    pub(super) fn refusal_of_question(&self, question: &Question) -> Option<String> {
        place_of_question(&self.view.snapshot, question).and_then(|place| refusal(place))
    }

    /// Returns why the place of a call or held call accepts no actions, if so.
    pub(super) fn refusal_of_number(&self, number: u64) -> Option<String> {
        self.place_of_number(number).and_then(|place| refusal(place))
    }

    /// Removes the tasks whose place accepts no actions; returns the reasons, one for each such place.
    pub(super) fn refused_of(&self, tasks: &mut Vec<TaskId>) -> Vec<String> {
        let mut refused: Vec<String> = Vec::new();
        tasks.retain(|id| {
            let place = self.view.task(id).and_then(|task| self.place_of(task));
            let told = place.and_then(|place| refusal(place));
            refused.extend(told.clone().filter(|told| !refused.contains(told)));
            told.is_none()
        });
        refused
    }

    /// Returns why the current task's place accepts no actions, if so.
    pub(super) fn refusal_at_hand(&self) -> Option<String> {
        self.at_hand().and_then(|task| self.place_of(task)).and_then(|place| refusal(place))
    }

    /// Shows the same as a message.
    pub(super) fn say_refusal(&mut self) {
        self.refusal_at_hand().into_iter().for_each(|told| self.toasts.fail(told, None));
    }

    /// Returns the displayed name of a call: its number, with several places the number within its place.
    pub(super) fn call_name(&self, seq: u64) -> String {
        let (_, own) = Slot::of(seq);
        match self.place_of_number(seq) {
            Some(place) => at_place(Some(&place.name), text::count(own)),
            None => text::count(own),
        }
    }

    /// Returns the same, but for use in a file name.
    pub(super) fn call_file(&self, seq: u64) -> String {
        let (_, own) = Slot::of(seq);
        let place = self.place_of_number(seq).map(|place| format!("{}-", place.name.name));
        format!("{}call-{own}", place.unwrap_or_default().replace(':', "-"))
    }

    /// Returns how many columns short names take, given the width they have with one runtime.
    pub(super) fn alias_columns(&self, usual: usize) -> usize {
        let names = self.view.snapshot.places.iter().map(|place| width(&place.name.name)).max();
        names.map_or(usual, |names| names.min(MOST_NAME) + 1 + usual)
    }

    /// Returns an agent's label without its place.
    pub(super) fn own_label<'a>(&self, label: &'a str) -> &'a str {
        let place = self.place_of_agent(label);
        place.and_then(|_| label.split_once('/')).map_or(label, |(_, own)| own)
    }

    /// Returns the workspace of a task.
    pub(super) fn workspace_of(&self, task: &TaskView) -> &Path {
        self.place_of(task).map_or(&self.view.snapshot.workspace, |place| &place.workspace)
    }

    /// Returns the latest snapshot of a place, or of the only runtime.
    pub(in crate::console) fn published_by(&self, place: Option<&PlaceId>) -> &Snapshot {
        place.and_then(|id| self.place(id)).map_or(&self.view.snapshot, |place| &place.snapshot)
    }

    /// Tells whether the current place is on another machine.
    pub(super) fn is_far(&self) -> bool {
        let place = self.place_at_hand();
        place.and_then(|id| self.place(&id)).is_some_and(|place| place.host.is_some())
    }

    /// Tells whether the lists are limited to one place.
    pub(super) fn is_narrowed(&self) -> bool {
        self.list.filters.place.is_some()
    }

    /// Returns the place that the lists are limited to.
    pub(super) fn listed_alone(&self) -> Option<&Arc<PlaceState>> {
        self.list.filters.place.as_ref().and_then(|id| self.place(id))
    }

    /// Returns the calls of the place that the lists are limited to, or else all calls, newest first.
    pub(super) fn newest_calls(&self) -> impl Iterator<Item = &Arc<CallSummary>> {
        let slot = self.listed_alone().map(|place| place.slot);
        self.view.newest_calls().filter(move |call| slot.is_none_or(|slot| Slot::of(call.seq).0 == slot))
    }

    /// Returns the name of the workspace or places that the console shows.
    pub(super) fn workspace_name(&self) -> String {
        let workspace = &self.view.snapshot.workspace;
        match (self.is_fleet(), self.listed_alone()) {
            (true, Some(place)) => place.name.name.clone(),
            (true, None) => match self.view.snapshot.places.len() {
                1 => "1 place".to_owned(),
                many => format!("{many} places"),
            },
            (false, _) => {
                workspace.file_name().unwrap_or(workspace.as_os_str()).to_string_lossy().into_owned()
            }
        }
    }

    /// Returns the metrics to show: those of the place that the lists are limited to, or else of all.
    pub(super) fn metrics(&self) -> &Metrics {
        self.listed_alone().map_or(&self.view.snapshot.metrics, |place| &place.snapshot.metrics)
    }

    /// Opens the input line for a command to run in the current place, which stays fixed while the command is
    /// typed.
    pub(super) fn write_command(&mut self) {
        self.start_at = self.place_at_hand();
        if self.is_fleet() && self.start_at.is_none() {
            return self.say("choose a place first");
        }
        self.write(Prompt::Start)
    }

    /// Returns the label in front of a command being typed.
    pub(super) fn start_label(&self) -> String {
        match self.start_at.as_ref().and_then(|id| self.place(id)) {
            Some(place) => format!(" run in {} ", place.name.name),
            None => " run here ".to_owned(),
        }
    }

    /// Opens the list of places, and requests the runtimes that are not shown.
    pub(super) fn open_places(&mut self) {
        let places = &self.view.snapshot.places;
        let mut items: Vec<Item> = Vec::new();
        if places.len() > 1 {
            items.push(Item::new("all places", "the tasks of all of them", Choice::Only(None)));
        }
        items.extend(places.iter().map(|place| {
            let choice = Choice::Only(Some(place.name.id.clone()));
            Item::new(place.name.name.clone(), self.told_of_place(place), choice)
        }));
        let mut chooser = Chooser::new(Kind::Fleet, items);
        chooser.select(&Choice::Only(self.list.filters.place.clone()));
        self.open(Layer::List(Box::new(chooser)));
        self.effects.push(Effect::ListRunning);
    }

    fn told_of_place(&self, place: &PlaceState) -> String {
        let state = link_word(&place.link, self.now);
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

    /// Adds the runtimes that are not shown yet to the open list of places.
    pub(super) fn list_running(&mut self, running: Vec<Running>) {
        let own = self.view.snapshot.workspace.clone();
        let is_single = !self.is_fleet();
        let is_shown = |running: &Running| {
            self.place(&PlaceId::from(running.id.as_str())).is_some()
                || is_single && running.workspace() == Some(&own)
        };
        let items = running.iter().filter(|running| !is_shown(running)).map(|running| {
            let workspace = running.workspace().map(|workspace| workspace.display().to_string());
            let workspace = workspace.unwrap_or_else(|| running.id.clone());
            let name = workspace.rsplit('/').next().unwrap_or_default().to_owned();
            let about = format!("open it here  {}", visible::one_line(&workspace));
            Item::new(visible::one_line(&name).into_owned(), about, Choice::Open(running.clone()))
        });
        let items: Vec<Item> = items.collect();
        if let Some(Layer::List(chooser)) = self.layers.last_mut()
            && chooser.kind == Kind::Fleet
        {
            chooser.add(items);
        }
    }

    /// Limits the lists of tasks and calls to one place, or shows those of all.
    pub(super) fn show_only(&mut self, place: Option<PlaceId>) {
        self.thaw();
        if !matches!(self.screen, Screen::Metrics | Screen::Receipts) {
            self.show(Screen::Tasks);
        }
        self.calls.selected = None;
        self.set_filters(Filters { place, ..Filters::default() });
    }

    /// Drops effects on tasks whose place is not attached, and says why.
    pub(super) fn refuse_lost(&mut self) {
        if self.view.snapshot.places.iter().all(|place| place.link == PlaceLink::Live) {
            return;
        }
        let mut refused: Vec<String> = Vec::new();
        for effect in std::mem::take(&mut self.effects) {
            match self.held_back(&effect) {
                None => self.effects.push(effect),
                Some(told) if is_of_a_person(&effect) && !refused.contains(&told) => refused.push(told),
                Some(_) => {}
            }
        }
        for told in refused {
            self.toasts.fail(told, None);
            self.touch();
        }
    }

    /// Returns why an effect cannot be carried out, if so.
    fn held_back(&self, effect: &Effect) -> Option<String> {
        let Effect::Ask(request) = effect else { return None };
        let task = self.view.task(&task_of(request)?)?;
        let place = self.place_of(task)?;
        refusal(place).map(|told| format!("{}: {told}", alias(task)))
    }
}

/// Resizes that follow a pane were not requested by the user.
fn is_of_a_person(effect: &Effect) -> bool {
    !matches!(effect, Effect::Ask(Request::Send { input: Input::Resize(_), .. }))
}

fn is_attached(place: Option<&Arc<PlaceState>>) -> Result<(), Why> {
    match place.map(|place| &place.link) {
        None | Some(PlaceLink::Live) => Ok(()),
        Some(PlaceLink::ReadOnly(_)) => Err(Why::ReadOnly),
        Some(_) => Err(Why::Place),
    }
}

/// Returns the place of a question.
pub(in crate::console) fn place_of_question<'a>(
    snapshot: &'a Snapshot,
    question: &Question,
) -> Option<&'a Arc<PlaceState>> {
    let id = &question.place.as_ref()?.id;
    snapshot.places.iter().find(|place| place.name.id == *id)
}

/// Returns why a place accepts no actions, if so.
pub(in crate::console) fn refusal(place: &PlaceState) -> Option<String> {
    let why = place.link.refusal()?;
    let is = if matches!(place.link, PlaceLink::Gone { .. }) { ":" } else { " is" };
    Some(format!("{}{is} {}", place.name.name, visible::one_line(&why)))
}

/// Returns the task that a request concerns.
fn task_of(request: &Request) -> Option<TaskId> {
    match request {
        Request::Send { task, .. }
        | Request::Release { task }
        | Request::Dismiss { task }
        | Request::Rename { task, .. } => Some(task.clone()),
        Request::Call { input, .. } => input.get("task_id").and_then(Value::as_str)?.parse().ok(),
        _ => None,
    }
}

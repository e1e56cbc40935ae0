//! Several places in one console: which one is meant, how its numbers are displayed, and what is refused while a
//! place is not attached. With a single runtime there are no places, and nothing here has any effect.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::console::state::State;
use crate::console::state::availability::Obstacle;
use crate::console::state::names::{self, at_place};
use crate::console::text::{self, visible, width};
use crate::envelope::TaskId;
use crate::envelope::units::Period;
use crate::model::{
    CallSummary, Metrics, PlaceId, PlaceLink, PlaceState, Question, Slot, Snapshot, TaskView,
};

/// Maximum width of the place name before the short name of a task, in columns.
const MOST_NAME: usize = 16;

/// Returns the link state of each place in a snapshot.
pub(in crate::console) fn links(snapshot: &Snapshot) -> Vec<(&PlaceId, &PlaceLink)> {
    snapshot.places.iter().map(|place| (&place.name.id, &place.link)).collect()
}

impl State {
    /// Returns the label in front of a command being typed.
    pub(in crate::console) fn start_label(&self) -> String {
        match self.composer.start_at.as_ref().and_then(|id| self.place(id)) {
            Some(place) => format!(" run in {} ", place.name.name),
            None => " run here ".to_owned(),
        }
    }

    /// Tells whether the console shows several places, or is meant to.
    pub(in crate::console) fn is_fleet(&self) -> bool {
        self.setup.is_fleet || !self.view.snapshot.places.is_empty()
    }

    /// Tells whether a fleet has no places to show.
    pub(in crate::console) fn has_nothing(&self) -> bool {
        self.is_fleet() && self.view.snapshot.places.is_empty()
    }

    pub(in crate::console) fn place(&self, id: &PlaceId) -> Option<&Arc<PlaceState>> {
        self.view.snapshot.places.iter().find(|place| place.name.id == *id)
    }

    pub(in crate::console) fn place_of(&self, task: &TaskView) -> Option<&Arc<PlaceState>> {
        self.place(&task.place.as_ref()?.id)
    }

    /// Returns the time between TERM and KILL when a task is stopped, as its runtime says.
    pub(in crate::console) fn stop_grace(&self, task: &TaskView) -> Period {
        let snapshot = self.place_of(task).map_or(&self.view.snapshot, |place| &place.snapshot);
        Period(Duration::from_millis(snapshot.stop_grace_ms))
    }

    /// Returns the place of a call or held call, by its number.
    pub(in crate::console) fn place_of_number(&self, number: u64) -> Option<&Arc<PlaceState>> {
        names::place_of_number(&self.view.snapshot.places, number)
    }

    /// Returns the place of an agent, by its label.
    pub(in crate::console) fn place_of_agent(&self, label: &str) -> Option<&Arc<PlaceState>> {
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
    pub(in crate::console) fn is_stale(&self, task: &TaskView) -> bool {
        self.place_of(task).is_some_and(|place| !place.link.is_live())
    }

    /// Checks whether the current task's place accepts actions.
    pub(in crate::console) fn place_is_attached(&self) -> Result<(), Obstacle> {
        is_attached(self.at_hand().and_then(|task| self.place_of(task)))
    }

    /// Checks whether the place of a call or held call accepts actions.
    pub(in crate::console) fn number_is_attached(&self, number: u64) -> Result<(), Obstacle> {
        is_attached(self.place_of_number(number))
    }

    /// Tells whether a question can be answered at its place.
    pub(in crate::console) fn question_is_attached(&self, question: &Question) -> Result<(), Obstacle> {
        is_attached(place_of_question(&self.view.snapshot, question))
    }

    /// Says why a question cannot be answered at its place.
    pub(in crate::console) fn refusal_of_question(&self, question: &Question) -> Option<String> {
        place_of_question(&self.view.snapshot, question).and_then(|place| refusal(place))
    }

    /// Returns why the place of a call or held call accepts no actions, if so.
    pub(in crate::console) fn refusal_of_number(&self, number: u64) -> Option<String> {
        self.place_of_number(number).and_then(|place| refusal(place))
    }

    /// Removes the tasks whose place accepts no actions; returns the reasons, one for each such place.
    pub(in crate::console) fn refused_of(&self, tasks: &mut Vec<TaskId>) -> Vec<String> {
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
    pub(in crate::console) fn refusal_at_hand(&self) -> Option<String> {
        self.at_hand().and_then(|task| self.place_of(task)).and_then(|place| refusal(place))
    }

    /// Returns the displayed name of a call: its number, with several places the number within its place.
    pub(in crate::console) fn call_name(&self, seq: u64) -> String {
        let (_, own) = Slot::of(seq);
        match self.place_of_number(seq) {
            Some(place) => at_place(Some(&place.name), text::count(own)),
            None => text::count(own),
        }
    }

    /// Returns the same, but for use in a file name.
    pub(in crate::console) fn call_file(&self, seq: u64) -> String {
        let (_, own) = Slot::of(seq);
        let place = self.place_of_number(seq).map(|place| format!("{}-", place.name.name));
        format!("{}call-{own}", place.unwrap_or_default().replace(':', "-"))
    }

    /// Returns how many columns short names take, given the width they have with one runtime.
    pub(in crate::console) fn alias_columns(&self, usual: usize) -> usize {
        let names = self.view.snapshot.places.iter().map(|place| width(&place.name.name)).max();
        names.map_or(usual, |names| names.min(MOST_NAME) + 1 + usual)
    }

    /// Returns an agent's label without its place.
    pub(in crate::console) fn own_label<'a>(&self, label: &'a str) -> &'a str {
        let place = self.place_of_agent(label);
        place.and_then(|_| label.split_once('/')).map_or(label, |(_, own)| own)
    }

    /// Returns the workspace of a task.
    pub(in crate::console) fn workspace_of(&self, task: &TaskView) -> &Path {
        self.place_of(task).map_or(&self.view.snapshot.workspace, |place| &place.workspace)
    }

    /// Returns the latest snapshot of a place, or of the only runtime.
    pub(in crate::console) fn published_by(&self, place: Option<&PlaceId>) -> &Snapshot {
        place.and_then(|id| self.place(id)).map_or(&self.view.snapshot, |place| &place.snapshot)
    }

    /// Tells whether the current place is on another machine.
    pub(in crate::console) fn is_far(&self) -> bool {
        let place = self.place_at_hand();
        place.and_then(|id| self.place(&id)).is_some_and(|place| place.host.is_some())
    }

    /// Tells whether the lists are limited to one place.
    pub(in crate::console) fn is_narrowed(&self) -> bool {
        self.list.filters.place.is_some()
    }

    /// Returns the name of the place, or else of the agent, that the list of calls is limited to.
    pub(in crate::console) fn calls_of(&self) -> Option<String> {
        let place = self.listed_alone().map(|place| visible::one_line(&place.name.name).into_owned());
        let whose =
            || self.list.filters.whose.as_ref().map(|whose| visible::one_line(whose.name()).into_owned());
        place.or_else(whose)
    }

    /// Returns the place that the lists are limited to.
    pub(in crate::console) fn listed_alone(&self) -> Option<&Arc<PlaceState>> {
        self.list.filters.place.as_ref().and_then(|id| self.place(id))
    }

    /// Returns the calls of the place and of the agent that the lists are limited to, or else all calls, newest first.
    pub(in crate::console) fn newest_calls(&self) -> impl Iterator<Item = &Arc<CallSummary>> {
        let slot = self.listed_alone().map(|place| place.slot);
        let whose = self.list.filters.whose.as_ref();
        self.view.newest_calls().filter(move |call| {
            slot.is_none_or(|slot| Slot::of(call.seq).0 == slot)
                && whose.is_none_or(|whose| whose.is_of(&call.actor))
        })
    }

    /// Returns the name of the workspace or places that the console shows.
    pub(in crate::console) fn workspace_name(&self) -> String {
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
    pub(in crate::console) fn metrics(&self) -> &Metrics {
        self.listed_alone().map_or(&self.view.snapshot.metrics, |place| &place.snapshot.metrics)
    }
}

fn is_attached(place: Option<&Arc<PlaceState>>) -> Result<(), Obstacle> {
    match place.map(|place| &place.link) {
        None | Some(PlaceLink::Live) => Ok(()),
        Some(_) => Err(Obstacle::Place),
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

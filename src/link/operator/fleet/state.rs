//! What a fleet knows of its places, shared with the tasks that keep them attached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::log_copies::LogCopies;
use super::merge::{self, PlaceNotices};
use super::place::{FleetPlace, Owners};
use super::reach::PlaceReach;
use super::{names, supervise};
use crate::clock::Clock;
use crate::envelope::TaskId;
use crate::link::operator::connection::RuntimeConnection;
use crate::link::operator::successor::Successors;
use crate::link::protocol::ConsoleView;
use crate::model::{PlaceId, Slot, Snapshot};

/// The limit of places shown at once, and of those of one other machine: the list of a machine must not take up the
/// room of all others.
const MOST_PLACES: usize = 64;
pub(super) const MOST_OF_ONE_HOST: usize = 24;

/// The state shared by the fleet and its supervisors.
// A lock, not messages: the console reads screens while it draws, and routing must match what is shown.
pub(super) struct FleetCore {
    state: Mutex<FleetState>,
    pub(super) snapshot: watch::Sender<Arc<Snapshot>>,
    /// Always true: a console attached to several places keeps running without any of them.
    pub(super) connected: watch::Sender<bool>,
    pub(super) screens_changed: Arc<Notify>,
    /// Notified when a place has something new.
    pub(super) news: Notify,
    /// Triggered when runtimes may have started or ended.
    pub(super) rescan: watch::Sender<()>,
    pub(super) clock: Clock,
    /// The folder of this person's settings.
    pub(super) config: Option<PathBuf>,
    /// Where the next runtime of the workspace is found that the console was opened on, if it was opened on one.
    pub(super) successors: Option<Successors>,
    /// The folder that logs from other machines are copied to.
    pub(super) copies: OnceLock<LogCopies>,
    /// Held while copying.
    pub(super) copying: tokio::sync::Mutex<()>,
    /// Cancelled when the fleet is dropped.
    pub(super) open: CancellationToken,
}

#[derive(Default)]
pub(super) struct FleetState {
    pub(super) places: Vec<FleetPlace>,
    pub(super) owners: Owners,
    pub(super) notices: PlaceNotices,
    pub(super) shown: ConsoleView,
    pub(super) published: u64,
    pub(super) last_slot: u16,
    /// Whether runtimes of this machine are attached as they start.
    pub(super) takes_all: bool,
}

impl FleetCore {
    /// Starts what publishes the merged snapshots; ends when `open` is cancelled.
    pub(super) fn start(
        takes_all: bool,
        config: Option<PathBuf>,
        successors: Option<Successors>,
        open: CancellationToken,
    ) -> Arc<Self> {
        let core = Arc::new(Self {
            state: Mutex::new(FleetState { takes_all, ..FleetState::default() }),
            snapshot: watch::Sender::new(Arc::default()),
            connected: watch::Sender::new(true),
            screens_changed: Arc::default(),
            news: Notify::new(),
            rescan: watch::Sender::new(()),
            clock: Clock::start(),
            config,
            successors,
            copies: OnceLock::new(),
            copying: tokio::sync::Mutex::default(),
            open,
        });
        core.run(supervise::publish(Arc::clone(&core)));
        core
    }

    /// Runs a job until the fleet is closed.
    pub(super) fn run(&self, job: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.open.clone().run_until_cancelled_owned(job));
    }

    // Nothing that runs under this lock can panic in the middle of a change.
    pub(super) fn state(&self) -> MutexGuard<'_, FleetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a place and starts its supervisor, unless the place exists already or there are too many.
    pub(super) fn add(self: &Arc<Self>, id: PlaceId, reach: PlaceReach) {
        let mut state = self.state();
        let of_host = |place: &&FleetPlace| reach.host().is_some() && place.reach.host() == reach.host();
        if state.places.iter().any(|place| *place.id() == id)
            || state.places.len() >= MOST_PLACES
            || state.places.iter().filter(of_host).count() >= MOST_OF_ONE_HOST
        {
            return;
        }
        // The numbers of the runtime that the console was opened on stay unchanged.
        let slot = if reach.is_home() { Some(Slot(0)) } else { state.next_slot() };
        let Some(slot) = slot else { return };
        let workspace = reach.workspace();
        let name = state.name(reach.host(), &workspace);
        let mut place = FleetPlace::new(slot, id.clone(), name, reach, workspace);
        let copies = || self.copies.get().map_or_else(|| "/nowhere".into(), |copies| copies.0.clone());
        place.translation.copies = place.reach.host().is_some().then(copies);
        place.end = self.open.child_token();
        let supervised = supervise::supervise(Arc::clone(self), id, Arc::clone(&place.kick));
        tokio::spawn(place.end.clone().run_until_cancelled_owned(supervised));
        state.insert(place);
        drop(state);
        self.news.notify_one();
    }

    /// Shows the person one of the console's own notices.
    pub(super) fn say(&self, is_error: bool, text: String) {
        let now = self.clock.now().wall;
        self.state().notices.say(now, is_error, text);
        self.news.notify_one();
    }

    pub(super) fn remove(&self, id: &PlaceId) {
        let mut state = self.state();
        if let Some(at) = state.places.iter().position(|place| place.id() == id) {
            let place = state.places.remove(at);
            place.end.cancel();
            state.owners.forget(place.slot());
        }
        drop(state);
        self.news.notify_one();
    }

    /// Merges the snapshots of all places and publishes the result.
    pub(super) fn publish(&self) {
        let mut state = self.state();
        state.published += 1;
        let now = self.clock.now().wall;
        let merged = merge::merge_places(state.published, now, &state.places, &state.notices);
        drop(state);
        self.snapshot.send_replace(Arc::new(merged));
    }
}

impl FleetState {
    pub(super) fn place(&self, slot: Slot) -> Option<&FleetPlace> {
        self.places.iter().find(|place| place.slot() == slot)
    }

    pub(super) fn by_id(
        &mut self,
        id: &PlaceId,
    ) -> Option<(&mut FleetPlace, &mut Owners, &mut PlaceNotices)> {
        let Self { places, owners, notices, .. } = self;
        let place = places.iter_mut().find(|place| place.id() == id)?;
        Some((place, owners, notices))
    }

    /// Inserts a place: the home comes first, the others are sorted by name.
    pub(super) fn insert(&mut self, place: FleetPlace) {
        let order = |place: &FleetPlace| (!place.reach.is_home(), place.translation.name.name.clone());
        let at = self.places.partition_point(|other| order(other) <= order(&place));
        self.places.insert(at, place);
    }

    /// Returns a slot that no runtime has had yet.
    pub(super) fn next_slot(&mut self) -> Option<Slot> {
        self.last_slot = self.last_slot.checked_add(1)?;
        Some(Slot(self.last_slot))
    }

    pub(super) fn name(&self, host: Option<&str>, workspace: &Path) -> String {
        let is_taken = |name: &str| self.places.iter().any(|place| place.translation.name.name == name);
        names::name(host, workspace, is_taken)
    }

    /// Returns the connection to a task's place if it is attached, and how many times it was attached.
    pub(super) fn shows(&self, task: &TaskId) -> Option<(RuntimeConnection, u64)> {
        let place = self.place(*self.owners.tasks.get(task)?)?;
        Some((place.operator.clone()?, place.attached))
    }

    /// Tells a place which of its tasks are on screen; if none are, it sends no screens.
    pub(super) fn show_at(&self, place: &FleetPlace) {
        let Some(operator) = &place.operator else { return };
        let is_its = |task: &&TaskId| self.owners.tasks.get(task) == Some(&place.slot());
        let ConsoleView { visible, focus, columns, colours } = &self.shown;
        let columns: BTreeMap<TaskId, u16> =
            columns.iter().filter(|(task, _)| is_its(task)).map(|(task, at)| (task.clone(), *at)).collect();
        let focus = focus.as_ref().filter(is_its).cloned();
        let visible = visible.iter().filter(is_its).cloned().collect();
        operator.show(ConsoleView { visible, focus, columns, colours: *colours });
    }
}

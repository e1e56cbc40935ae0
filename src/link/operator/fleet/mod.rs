//! A console attached to several runtimes: a supervisor keeps each place attached, their snapshots are merged, and
//! each request is routed to the place it concerns (docs/decisions/58-fleet.md).

mod discover;
mod hosts;
mod logs;
mod merge;
mod names;
mod place;
mod reach;
mod route;
mod supervise;
mod totals;
mod translate;

#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Operator, Successors};
use crate::clock::Clock;
use crate::envelope::TaskId;
use crate::link::protocol::Shown;
use crate::link::{Error, Listing, RemoteHost, Running};
use crate::model::{PlaceId, PlaceLink, Slot, Snapshot};
use crate::paths::Locks;
use crate::terminal::Contents;

use logs::Copies;
pub use logs::remove_left_copies;
use merge::Notices;
use place::{Owners, Place};
use reach::PlaceReach;
pub(super) use supervise::{hand_over_rules, reason};

/// The limit of places shown at once, and of those of one other machine: the list of a machine must not take up the
/// room of all others.
const MOST_PLACES: usize = 64;
const MOST_OF_ONE_HOST: usize = 24;
/// The low bits of a screen generation that count within one attachment.
const GENERATION_BITS: u32 = 44;

/// Several runtimes. Clones share the same state; dropping the last one disconnects from all of them.
#[derive(Clone)]
pub struct Fleet {
    inner: Arc<Inner>,
    _open: Arc<DropGuard>,
}

/// The state shared by the fleet and its supervisors.
// A lock, not messages: the console reads screens while it draws, and routing must match what is shown.
struct Inner {
    state: Mutex<State>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    /// Always true: a console attached to several places keeps running without any of them.
    connected: watch::Sender<bool>,
    screens_changed: Arc<Notify>,
    /// Notified when a place has something new.
    news: Notify,
    /// Triggered when runtimes may have started or ended.
    rescan: watch::Sender<()>,
    clock: Clock,
    /// The folder of this person's settings.
    config: Option<PathBuf>,
    /// Where the next runtime of the workspace is found that the console was opened on, if it was opened on one.
    successors: Option<Successors>,
    /// The folder that logs from other machines are copied to.
    copies: OnceLock<Copies>,
    /// Held while copying.
    copying: tokio::sync::Mutex<()>,
    /// Cancelled when the fleet is dropped.
    open: CancellationToken,
}

#[derive(Default)]
struct State {
    places: Vec<Place>,
    owners: Owners,
    notices: Notices,
    shown: Shown,
    published: u64,
    last_slot: u16,
    /// Whether runtimes of this machine are attached as they start.
    takes_all: bool,
}

impl Fleet {
    /// Attaches to every runtime of this user on this machine, now and as they start. Runtimes that were started with
    /// other settings than `config` additionally get the approval rules of these settings.
    #[must_use]
    pub fn of_this_machine(locks: &Locks, config: Option<PathBuf>) -> Self {
        let fleet = Self::new(true, config, None);
        fleet.watch(locks);
        fleet
    }

    /// Creates a fleet around the runtime that a console was opened on, that of the workspace named by `successors`; other
    /// runtimes are added as they are opened.
    #[must_use]
    pub fn around(home: Operator, successors: Successors) -> Self {
        let (id, locks) = (PlaceId::from(successors.workspace.as_str()), successors.locks.clone());
        let fleet = Self::new(false, successors.config.clone(), Some(successors));
        fleet.inner.add(id.clone(), PlaceReach::Held(home.clone()));
        // Attach immediately, so that what is on screen stays there.
        supervise::attach(&fleet.inner, &id, &home);
        fleet.inner.publish();
        fleet.watch(&locks);
        fleet
    }

    fn new(takes_all: bool, config: Option<PathBuf>, successors: Option<Successors>) -> Self {
        let open = CancellationToken::new();
        let inner = Arc::new(Inner {
            state: Mutex::new(State { takes_all, ..State::default() }),
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
            open: open.clone(),
        });
        tokio::spawn(supervise::publish(Arc::clone(&inner)));
        Self { inner, _open: Arc::new(open.drop_guard()) }
    }

    fn watch(&self, locks: &Locks) {
        tokio::spawn(discover::discover(Arc::clone(&self.inner), locks.clone()));
    }

    /// Opens another runtime of this machine, unless it is open already.
    pub fn open(&self, running: Running) {
        let id = PlaceId::from(running.id.as_str());
        self.inner.add(id, PlaceReach::Local(running));
    }

    /// Also shows the runtimes of another machine as they start and end. `first` is the answer to a listing that was
    /// just requested.
    pub fn open_host(&self, host: RemoteHost, first: Result<Listing, Error>) {
        tokio::spawn(hosts::follow(Arc::clone(&self.inner), host, first));
    }

    /// Opens one runtime of another machine: that of the workspace with this id or at this path.
    pub fn open_elsewhere(&self, host: &RemoteHost, place: &str) {
        let id = PlaceId::from(format!("{}:{place}", host.name).as_str());
        self.inner.add(id, PlaceReach::Far(reach::Far::at(host, place)));
    }

    pub(super) fn connected(&self) -> watch::Receiver<bool> {
        self.inner.connected.subscribe()
    }

    pub(super) fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.inner.snapshot.subscribe()
    }

    pub(super) fn screens_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.inner.screens_changed)
    }

    pub(super) fn show(&self, shown: Shown) {
        let mut state = self.inner.state();
        state.shown = shown;
        for place in &state.places {
            state.show_at(place);
        }
    }

    pub(super) fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        let (operator, attached) = self.inner.state().shows(task)?;
        // A screen's count restarts when its place is attached again.
        let own = operator.screen_generation(task)? & ((1 << GENERATION_BITS) - 1);
        Some(attached << GENERATION_BITS | own)
    }

    pub(super) fn screen(&self, task: &TaskId) -> Option<Contents> {
        let (operator, _) = self.inner.state().shows(task)?;
        operator.screen(task)
    }

    /// Returns the place of a task.
    pub(super) fn place_of(&self, task: &TaskId) -> Option<PlaceId> {
        let state = self.inner.state();
        let slot = state.owners.tasks.get(task)?;
        state.place(*slot).map(|place| place.id().clone())
    }
}

impl Inner {
    // Nothing that runs under this lock can panic in the middle of a change.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a place and starts its supervisor, unless the place exists already or there are too many.
    fn add(self: &Arc<Self>, id: PlaceId, reach: PlaceReach) {
        let mut state = self.state();
        let of_host = |place: &&Place| place.host.is_some() && place.host.as_deref() == reach.host();
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
        let mut place = Place::new(slot, id.clone(), name, reach, workspace);
        let copies = || self.copies.get().map_or_else(|| "/nowhere".into(), Copies::root);
        place.translation.copies = place.host.is_some().then(copies);
        let end = place.end.clone();
        let kick = Arc::clone(&place.kick);
        state.insert(place);
        drop(state);
        tokio::spawn(supervise::supervise(Arc::clone(self), id, kick, end));
        self.news.notify_one();
    }

    /// Shows the person one of the console's own notices.
    fn say(&self, is_error: bool, text: String) {
        let now = self.clock.now().wall;
        self.state().notices.say(now, is_error, text);
        self.news.notify_one();
    }

    /// Removes a place.
    fn remove(&self, id: &PlaceId) {
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
    fn publish(&self) {
        let mut state = self.state();
        state.published += 1;
        let merged = merge::merged(state.published, &state.places, &state.notices);
        drop(state);
        self.snapshot.send_replace(Arc::new(merged));
    }
}

impl State {
    fn place(&self, slot: Slot) -> Option<&Place> {
        self.places.iter().find(|place| place.slot() == slot)
    }

    fn by_id(&mut self, id: &PlaceId) -> Option<(&mut Place, &mut Owners, &mut Notices)> {
        let Self { places, owners, notices, .. } = self;
        let place = places.iter_mut().find(|place| place.id() == id)?;
        Some((place, owners, notices))
    }

    /// Inserts a place: the home comes first, the others are sorted by name.
    fn insert(&mut self, place: Place) {
        let order = |place: &Place| (!place.reach.is_home(), place.translation.name.name.clone());
        let at = self.places.partition_point(|other| order(other) <= order(&place));
        self.places.insert(at, place);
    }

    /// Returns a slot that no runtime has had yet.
    fn next_slot(&mut self) -> Option<Slot> {
        self.last_slot = self.last_slot.checked_add(1)?;
        Some(Slot(self.last_slot))
    }

    fn name(&self, host: Option<&str>, workspace: &Path) -> String {
        let is_taken = |name: &str| self.places.iter().any(|place| place.translation.name.name == name);
        names::name(host, workspace, is_taken)
    }

    /// Returns the connection to a task's place if it is attached, and how many times it was attached.
    fn shows(&self, task: &TaskId) -> Option<(Operator, u64)> {
        let place = self.place(*self.owners.tasks.get(task)?)?;
        Some((place.operator.clone()?, place.attached))
    }

    /// Tells a place which of its tasks are on screen; if none are, it sends no screens.
    fn show_at(&self, place: &Place) {
        let Some(operator) = &place.operator else { return };
        let is_its = |task: &&TaskId| self.owners.tasks.get(task) == Some(&place.slot());
        let Shown { visible, focus, columns, colours } = &self.shown;
        let columns: BTreeMap<TaskId, u16> =
            columns.iter().filter(|(task, _)| is_its(task)).map(|(task, at)| (task.clone(), *at)).collect();
        let focus = focus.as_ref().filter(is_its).cloned();
        let visible = visible.iter().filter(is_its).cloned().collect();
        operator.show_at(Shown { visible, focus, columns, colours: *colours });
    }
}

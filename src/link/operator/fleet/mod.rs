//! A console attached to several runtimes: a supervisor keeps each place attached, their snapshots are merged, and
//! each request is routed to the place it concerns (docs/decisions/59-hosts.md).

mod discover;
mod hosts;
mod log_copies;
mod logs;
mod merge;
mod names;
mod place;
mod reach;
mod route;
mod state;
mod supervise;
mod translate;

#[cfg(test)]
pub(super) mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connection::{ConsoleConnection, PendingReply, RuntimeConnection};
use super::successor::Successors;
use crate::envelope::TaskId;
use crate::link::protocol::{ConsoleView, Request};
use crate::link::{Error, HostListing, RemoteHost, RunningRuntime};
use crate::model::{PlaceId, Snapshot};
use crate::paths::Locks;
use crate::terminal::Contents;

pub use log_copies::remove_left_copies;
use reach::{FarRuntime, PlaceReach};
use state::FleetCore;

/// The low bits of a screen generation that count within one attachment.
const GENERATION_BITS: u32 = 44;

/// Several runtimes. Clones share the same state; dropping the last one disconnects from all of them.
#[derive(Clone)]
pub struct Fleet {
    inner: Arc<FleetCore>,
    _open: Arc<DropGuard>,
}

impl Fleet {
    /// Attaches to every runtime of this user on this machine, now and as they start. Runtimes that were started with
    /// other settings than `config` additionally get the approval rules of these settings.
    pub fn of_this_machine(locks: &Locks, config: Option<PathBuf>) -> Self {
        let fleet = Self::new(true, config, None);
        fleet.watch(locks);
        fleet
    }

    /// Creates a fleet around the runtime that a console was opened on, that of the workspace named by `successors`; other
    /// runtimes are added as they are opened.
    pub fn around(home: RuntimeConnection, successors: Successors) -> Self {
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
        let inner = FleetCore::start(takes_all, config, successors, open.clone());
        Self { inner, _open: Arc::new(open.drop_guard()) }
    }

    fn watch(&self, locks: &Locks) {
        self.inner.run(discover::discover(Arc::clone(&self.inner), locks.clone()));
    }

    /// Opens another runtime of this machine, unless it is open already.
    pub fn open(&self, running: RunningRuntime) {
        let id = PlaceId::from(running.id.as_str());
        self.inner.add(id, PlaceReach::Local(running));
    }

    /// Also shows the runtimes of another machine as they start and end. `first` is the answer to a listing that was
    /// just requested.
    pub fn open_host(&self, host: RemoteHost, first: Result<HostListing, Error>) {
        self.inner.run(hosts::follow(Arc::clone(&self.inner), host, first));
    }

    /// Opens one runtime of another machine: that of the workspace with this id or at this path.
    pub fn open_elsewhere(&self, host: &RemoteHost, place: &str) {
        let id = PlaceId::from(format!("{}:{place}", host.name).as_str());
        self.inner.add(id, PlaceReach::Far(FarRuntime::new(host, place, Path::new(place), 0)));
    }

    /// Returns the place of a task.
    pub(super) fn place_of(&self, task: &TaskId) -> Option<PlaceId> {
        let state = self.inner.state();
        let slot = state.owners.tasks.get(task)?;
        state.place(*slot).map(|place| place.id().clone())
    }
}

impl ConsoleConnection for Fleet {
    fn link_state(&self) -> watch::Receiver<bool> {
        self.inner.connected.subscribe()
    }

    fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.inner.snapshot.subscribe()
    }

    fn screens_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.inner.screens_changed)
    }

    fn show(&self, shown: ConsoleView) {
        let mut state = self.inner.state();
        state.shown = shown;
        for place in &state.places {
            state.show_at(place);
        }
    }

    fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        let (operator, attached) = self.inner.state().shows(task)?;
        // A screen's count restarts when its place is attached again.
        let own = operator.screen_generation(task)? & ((1 << GENERATION_BITS) - 1);
        Some(attached << GENERATION_BITS | own)
    }

    fn screen(&self, task: &TaskId) -> Option<Contents> {
        let (operator, _) = self.inner.state().shows(task)?;
        operator.screen(task)
    }

    fn ask_at<'a>(&'a self, place: Option<&'a PlaceId>, request: Request) -> PendingReply<'a> {
        Box::pin(self.send(place, request))
    }
}

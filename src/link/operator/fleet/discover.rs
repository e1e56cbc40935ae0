//! Follows the runtimes of this machine as they start and end: new ones are attached, and ended ones are shown as
//! gone and then removed.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::sleep;

use super::merge::PlaceNotices;
use super::place::FleetPlace;
use super::reach::PlaceReach;
use super::state::{FleetCore, FleetState};
use crate::link::RunningRuntime;
use crate::link::operator::connection::RuntimeConnection;
use crate::link::running::arrivals;
use crate::model::{PlaceId, PlaceLink};
use crate::paths::Locks;

/// Changes that follow each other this closely are treated as one.
const SETTLING: Duration = Duration::from_millis(20);
/// How long an ended runtime stays on screen.
const FAREWELL: Duration = Duration::from_secs(10);

/// Follows the runtimes of this machine.
pub(super) async fn discover(inner: Arc<FleetCore>, locks: Locks) {
    let (mut arrivals, mut lost) = (arrivals(&locks), inner.rescan.subscribe());
    loop {
        let locks = locks.clone();
        let running =
            tokio::task::spawn_blocking(move || RunningRuntime::list(&locks)).await.unwrap_or_default();
        let place =
            |running: RunningRuntime| (PlaceId::from(running.id.as_str()), PlaceReach::Local(running));
        inner.follow_changes(None, running.into_iter().map(place).collect());
        tokio::select! {
            () = arrivals.wait_for_change() => sleep(SETTLING).await,
            Ok(()) = lost.changed() => {}
        }
    }
}

impl FleetCore {
    /// Applies the list of runtimes now running on a machine: this one, or the one named `host`.
    pub(super) fn follow_changes(self: &Arc<Self>, host: Option<&str>, found: Vec<(PlaceId, PlaceReach)>) {
        for gone in self.reconcile(host, found) {
            let inner = Arc::clone(self);
            self.run(async move { inner.see_off(&gone).await });
        }
    }

    /// Attaches to new runtimes, if all are wanted; returns the places on the machine that have just gone.
    fn reconcile(self: &Arc<Self>, host: Option<&str>, found: Vec<(PlaceId, PlaceReach)>) -> Vec<PlaceId> {
        let now = self.clock.now().wall;
        let mut gone = Vec::new();
        let mut state = self.state();
        let takes_all = state.takes_all || host.is_some();
        let FleetState { places, notices, .. } = &mut *state;
        for place in places.iter_mut().filter(|place| place.reach.is_of(host)) {
            let is_gone = matches!(place.link, PlaceLink::Gone { .. });
            match found.iter().find(|(id, _)| id == place.id()) {
                // Another runtime serves the workspace now, or the one presumed gone is still there.
                Some((_, reach)) if is_gone || !reach.is_same(&place.reach) => {
                    place.reach = reach.clone();
                    if is_gone {
                        place.link = PlaceLink::Connecting;
                    }
                    place.kick.notify_one();
                }
                Some(_) => {}
                None if place.link.is_live() || is_gone => {}
                None => {
                    leave(place, notices, now);
                    gone.push(place.id().clone());
                }
            }
        }
        drop(state);
        if !gone.is_empty() {
            self.news.notify_one();
        }
        if takes_all {
            // A place that exists already is left unchanged.
            found.into_iter().for_each(|(id, reach)| self.add(id, reach));
        }
        gone
    }

    /// Marks the runtime of a place as ended.
    pub(super) fn say_gone(&self, id: &PlaceId) {
        let now = self.clock.now().wall;
        if let Some((place, _, notices)) = self.state().by_id(id) {
            leave(place, notices, now);
        }
        self.news.notify_one();
    }

    /// Puts the next runtime of its workspace in the place of one that has ended.
    pub(super) fn follow_next(&self, id: &PlaceId, next: RuntimeConnection) {
        let now = self.clock.now().wall;
        if let Some((place, _, notices)) = self.state().by_id(id) {
            (place.reach, place.link) = (PlaceReach::Held(next), PlaceLink::Connecting);
            let name = &place.translation.name.name;
            notices.say(now, false, format!("{name}: attached to the next runtime of its workspace"));
        }
    }

    /// Removes a place whose runtime has ended after a delay long enough to read that, unless a runtime serves it
    /// again by then.
    pub(super) async fn see_off(&self, id: &PlaceId) {
        sleep(FAREWELL).await;
        let is_gone = |link: &PlaceLink| matches!(link, PlaceLink::Gone { .. });
        let is_still = self.state().by_id(id).is_some_and(|(place, ..)| is_gone(&place.link));
        if is_still {
            self.remove(id);
        }
    }
}

fn leave(place: &mut FleetPlace, notices: &mut PlaceNotices, now: Timestamp) {
    (place.link, place.operator) = (PlaceLink::Gone { since: now }, None);
    let name = &place.translation.name.name;
    notices.say(now, true, format!("{name}: its runtime has ended"));
}

//! Runtimes of this machine as they come and go: new ones are attached, those that have ended are said to be gone and
//! then removed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Inner, PlaceLink, Reach};
use crate::link::Running;
use crate::link::running::Arrivals;
use crate::paths::Locks;
use crate::runtime::PlaceId;

/// Changes that follow each other this closely are one.
const SETTLING: Duration = Duration::from_millis(20);
/// How long one that has ended stays on screen.
const FAREWELL: Duration = Duration::from_secs(10);

/// Follows the runtimes of this machine until the hold is let go.
pub(super) async fn discover(inner: Arc<Inner>, locks: Locks) {
    let mut arrivals = Arrivals::watch(&locks);
    loop {
        let locks = locks.clone();
        let running = tokio::task::spawn_blocking(move || Running::all(&locks)).await.unwrap_or_default();
        for gone in inner.reconcile(running) {
            let inner = Arc::clone(&inner);
            tokio::spawn(async move { inner.see_off(&gone).await });
        }
        tokio::select! {
            () = inner.open.cancelled() => return,
            () = arrivals.changed() => sleep(SETTLING).await,
            () = inner.rescan.notified() => {}
        }
    }
}

impl Inner {
    /// Attaches to those that are new, where all are wanted; returns those of this machine that have just gone.
    fn reconcile(self: &Arc<Self>, running: Vec<Running>) -> Vec<PlaceId> {
        let now = self.clock.now().wall;
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        let mut state = self.state();
        let takes_all = state.takes_all;
        let super::State { places, notices, .. } = &mut *state;
        for place in places.iter_mut() {
            let Some(known) = place.reach.local() else { continue };
            let found = running.iter().find(|running| running.id == known.id);
            match found {
                // Another runtime serves the workspace now, or the same one is said to be there still.
                Some(found) if found.address != known.address => {
                    place.reach = Reach::Local(found.clone());
                    if matches!(place.link, PlaceLink::Gone { .. }) {
                        place.link = PlaceLink::Connecting;
                    }
                    place.kick.notify_one();
                }
                Some(_) => {}
                None if place.link.is_live() => {}
                None if matches!(place.link, PlaceLink::Gone { .. }) => {}
                None => {
                    place.link = PlaceLink::Gone { since: now };
                    place.operator = None;
                    let name = &place.translation.name.name;
                    notices.say(now, true, format!("{name}: its runtime has ended"));
                    gone.push(place.id().clone());
                }
            }
        }
        for running in running {
            let id = PlaceId::from(running.id.as_str());
            if takes_all && places.iter().all(|place| *place.id() != id) {
                new.push((id, running));
            }
        }
        drop(state);
        if !gone.is_empty() {
            self.news.notify_one();
        }
        for (id, running) in new {
            self.add(id, Reach::Local(running));
        }
        gone
    }

    /// Removes a place whose runtime has ended, once that can have been read, unless one serves it again by then.
    async fn see_off(&self, id: &PlaceId) {
        tokio::select! {
            () = self.open.cancelled() => return,
            () = sleep(FAREWELL) => {}
        }
        let is_gone = |link: &PlaceLink| matches!(link, PlaceLink::Gone { .. });
        let is_still = self.state().by_id(id).is_some_and(|(place, ..)| is_gone(&place.link));
        if is_still {
            self.remove(id);
        }
    }
}

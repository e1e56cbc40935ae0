//! The runtimes of another machine, listed there again and again: each is a place as those of this machine are.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::place::Place;
use super::reach::Far;
use super::{Inner, Reach, supervise};
use crate::link::{Error, Listing, RemoteHost};
use crate::runtime::PlaceId;

/// How long after a list the next one is asked for, unless a place of the machine is lost before.
const AGAIN: Duration = Duration::from_secs(30);
/// The first pause after a list that did not come; each is twice the one before, and at most as long as [`AGAIN`].
const FIRST: Duration = Duration::from_secs(1);

/// Follows the runtimes of a machine until the hold is let go.
pub(super) async fn follow(inner: Arc<Inner>, host: RemoteHost, first: Result<Listing, Error>) {
    let (mut lost, mut pause, mut is_told) = (inner.rescan.subscribe(), FIRST, false);
    let mut listed = first;
    loop {
        let rest = match listed {
            Ok(listing) => {
                pause = FIRST;
                inner.remove(&unreached(&host.name));
                let place = |listed| {
                    let reach = Far::new(&host, listed);
                    (PlaceId::from(format!("{}:{}", host.name, listed.id).as_str()), Reach::Far(reach))
                };
                let found: Vec<_> = listing.runtimes.iter().map(place).collect();
                if found.is_empty() && !std::mem::replace(&mut is_told, true) {
                    inner.say(false, format!("{}: no runtime of yours runs there", host.name));
                }
                inner.follow_changes(Some(&host.name), found);
                AGAIN
            }
            Err(error) => {
                inner.fail_to_reach(&host.name, supervise::reason(&error));
                let rest = pause;
                pause = AGAIN.min(pause * 2);
                rest
            }
        };
        tokio::select! {
            () = inner.open.cancelled() => return,
            Ok(()) = lost.changed() => {}
            () = sleep(rest) => {}
        }
        listed = tokio::select! {
            () = inner.open.cancelled() => return,
            listed = host.runtimes() => listed,
        };
    }
}

fn unreached(host: &str) -> PlaceId {
    PlaceId::from(format!("host {host}").as_str())
}

impl Inner {
    /// Shows a machine that cannot be asked, unless places of it are there to show that they are lost.
    fn fail_to_reach(&self, host: &str, why: String) {
        let (now, id) = (self.clock.now().wall, unreached(host));
        let mut state = self.state();
        if state.places.iter().any(|place| place.reach.is_of(Some(host))) {
            return;
        }
        if state.by_id(&id).is_none() {
            let reach = Reach::Unreached(host.to_owned());
            let Some(slot) = state.next_slot() else { return };
            let name = state.name(Some(host), &reach.workspace());
            state.insert(Place::new(slot, id.clone(), name, reach, std::path::PathBuf::new()));
        }
        if let Some((place, ..)) = state.by_id(&id) {
            place.lose(now, why);
        }
        drop(state);
        self.news.notify_one();
    }
}

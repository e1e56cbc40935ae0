//! Lists the runtimes of another machine periodically: each becomes a place like those on this machine.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::place::FleetPlace;
use super::reach::{FarRuntime, PlaceReach};
use super::state::{FleetCore, MOST_OF_ONE_HOST};
use crate::link::{Error, HostListing, ListedRuntime, RemoteHost};
use crate::model::PlaceId;

/// How long after one list the next is requested, unless a place on the machine is lost earlier.
const AGAIN: Duration = Duration::from_secs(30);
/// The pause after the first failed listing; it doubles with each further failure, up to [`AGAIN`].
const FIRST: Duration = Duration::from_secs(1);

/// Follows the runtimes of another machine.
pub(super) async fn follow(inner: Arc<FleetCore>, host: RemoteHost, first: Result<HostListing, Error>) {
    let (mut lost, mut pause, mut is_told) = (inner.rescan.subscribe(), FIRST, false);
    let mut listed = first;
    loop {
        let rest = match listed {
            Ok(listing) => {
                pause = FIRST;
                inner.remove(&host_id(&host.name));
                let place = |listed: &ListedRuntime| {
                    let reach = FarRuntime::new(&host, &listed.id, &listed.workspace, listed.pid);
                    (PlaceId::from(format!("{}:{}", host.name, listed.id).as_str()), PlaceReach::Far(reach))
                };
                let found: Vec<_> = listing.runtimes.iter().map(place).collect();
                let said = match found.len() {
                    0 => Some("no runtime of yours runs there".to_owned()),
                    count if count > MOST_OF_ONE_HOST => {
                        Some(format!("{count} runtimes of yours run there; {MOST_OF_ONE_HOST} are shown"))
                    }
                    _ => None,
                };
                if let Some(said) = said
                    && !std::mem::replace(&mut is_told, true)
                {
                    inner.say(false, format!("{}: {said}", host.name));
                }
                inner.follow_changes(Some(&host.name), found);
                AGAIN
            }
            Err(error) => {
                inner.fail_to_reach(&host.name, error.with_cause());
                let rest = pause;
                pause = AGAIN.min(pause * 2);
                rest
            }
        };
        tokio::select! {
            Ok(()) = lost.changed() => {}
            () = sleep(rest) => {}
        }
        listed = host.runtimes().await;
    }
}

fn host_id(host: &str) -> PlaceId {
    PlaceId::from(format!("host {host}").as_str())
}

impl FleetCore {
    /// Shows a machine that cannot be reached, unless it has places that already show this.
    fn fail_to_reach(&self, host: &str, why: String) {
        let (now, id) = (self.clock.now().wall, host_id(host));
        let mut state = self.state();
        if state.places.iter().any(|place| place.reach.is_of(Some(host))) {
            return;
        }
        if state.by_id(&id).is_none() {
            let reach = PlaceReach::Unreached(host.to_owned());
            let Some(slot) = state.next_slot() else { return };
            let name = state.name(Some(host), &reach.workspace());
            state.insert(FleetPlace::new(slot, id.clone(), name, reach, std::path::PathBuf::new()));
        }
        if let Some((place, ..)) = state.by_id(&id) {
            place.lose(now, why);
        }
        drop(state);
        self.news.notify_one();
    }
}

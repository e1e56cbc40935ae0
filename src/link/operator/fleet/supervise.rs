//! Supervises each place: attaches to it, applies its snapshots, reports when it is lost and reconnects. Also
//! publishes the merged snapshot.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::state::FleetCore;
use crate::link::operator::connection::RuntimeConnection;
use crate::model::{PlaceId, PlaceLink};

/// The minimum interval between two merged snapshots: places that change within it are merged together.
const PACE: Duration = Duration::from_millis(30);
/// The first pause before reconnecting to a lost place; it doubles with each attempt.
const FIRST: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(30);
/// A place that was never attached may only just be starting: for this long it is retried at short intervals.
const STARTING: Duration = Duration::from_secs(2);
/// That interval.
const MOMENT: Duration = Duration::from_millis(100);

/// Publishes changes. Idle while there are none.
pub(super) async fn publish(inner: Arc<FleetCore>) {
    loop {
        inner.news.notified().await;
        inner.publish();
        sleep(PACE).await;
    }
}

/// Keeps a place attached.
pub(super) async fn supervise(inner: Arc<FleetCore>, id: PlaceId, kick: Arc<Notify>) {
    let (mut pause, began, mut is_starting) = (FIRST, Instant::now(), true);
    loop {
        let Some(reach) = inner.state().by_id(&id).map(|(place, ..)| place.reach.clone()) else { return };
        let why = match reach.attach(inner.config.as_ref()).await {
            Ok(operator) => {
                (pause, is_starting) = (FIRST, false);
                follow(&inner, &id, &operator).await;
                operator.why_lost().unwrap_or_else(|| "the link broke".to_owned())
            }
            Err(error) => error.with_cause(),
        };
        is_starting &= began.elapsed() < STARTING;
        if is_starting {
            let _ = tokio::time::timeout(MOMENT, kick.notified()).await;
            continue;
        }
        if reach.is_home() {
            // The runtime that the console was opened on has ended. The next one of its workspace takes its place.
            inner.say_gone(&id);
            let Some(successors) = inner.successors.clone() else { return };
            inner.follow_next(&id, successors.connect().await);
            continue;
        }
        let now = inner.clock.now().wall;
        if let Some((place, ..)) = inner.state().by_id(&id) {
            tracing::info!(place = %place.translation.name.name, why, "a place is lost");
            place.lose(now, why);
        }
        inner.news.notify_one();
        inner.rescan.send_replace(());
        tokio::select! {
            () = kick.notified() => pause = FIRST,
            () = sleep(pause) => pause = LONGEST.min(pause * 2),
        }
    }
}

/// Applies the snapshots of an attached place until its link breaks.
async fn follow(inner: &FleetCore, id: &PlaceId, operator: &RuntimeConnection) {
    let (mut snapshots, mut connected) = (operator.snapshot(), operator.link_state());
    let screens = operator.screens_changed();
    snapshots.mark_changed();
    attach(inner, id, operator);
    loop {
        tokio::select! {
            changed = snapshots.changed() => {
                if changed.is_err() {
                    return;
                }
                let snapshot = operator.of_others(&snapshots.borrow_and_update());
                if let Some((place, owners, notices)) = inner.state().by_id(id) {
                    place.take(snapshot, owners);
                    notices.take(place);
                }
                inner.news.notify_one();
            }
            // The snapshot received before the link broke may have been the last.
            still = connected.wait_for(|connected| !connected) => {
                drop(still);
                return;
            }
            () = screens.notified() => inner.screens_changed.notify_one(),
        }
    }
}

/// Updates a place that was attached; if its runtime has changed, the place restarts as another runtime.
pub(super) fn attach(inner: &FleetCore, id: &PlaceId, operator: &RuntimeConnection) {
    let snapshot = operator.of_others(&operator.snapshot().borrow());
    let mut state = inner.state();
    let next = state.next_slot();
    let Some((place, owners, _)) = state.by_id(id) else { return };
    let is_other = place.attached > 0 && place.snapshot.recording != snapshot.recording;
    if let Some(next) = next.filter(|_| is_other) {
        place.restart(next, owners);
    }
    place.attached += 1;
    (place.link, place.operator) = (PlaceLink::Live, Some(operator.clone()));
    place.take(snapshot, owners);
    if let Some(place) = state.places.iter().find(|place| place.id() == id) {
        state.show_at(place);
    }
    drop(state);
    inner.news.notify_one();
}

//! Merges the snapshots of all places into one. Pure.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;

use super::place::FleetPlace;
use crate::model::{CallSummary, GateView, HeldCall, Metrics, Notice, RecordView, Slot, Snapshot};

/// Calls listed, for all places together.
const MOST_CALLS: usize = 4_000;
/// Calls listed of one place: as many as a runtime has.
const MOST_CALLS_OF_ONE: usize = 1_000;
/// Notices kept, for all places together.
const MOST_NOTICES: usize = 100;
/// The longest notice of a place, in characters.
const NOTICE_CHARS: usize = 2_000;

/// The notices of all places, in the order in which this console received them.
#[derive(Debug, Default)]
pub(super) struct PlaceNotices {
    last: u64,
    /// Each with the place it came from; none is this console's own.
    kept: VecDeque<(Option<Slot>, Notice)>,
}

impl PlaceNotices {
    /// Adds one of the console's own notices.
    pub(super) fn say(&mut self, at: Timestamp, is_error: bool, text: String) {
        self.keep(None, Notice { seq: 0, at, is_error, text, from: None });
    }

    /// Adds a place's new notices. Notices from before it was attached do not count as new.
    pub(super) fn take(&mut self, place: &mut FleetPlace) {
        let last = place.snapshot.notices.iter().map(|notice| notice.seq).max().unwrap_or(0);
        if let Some(heard) = place.noticed {
            for notice in place.snapshot.notices.iter().filter(|notice| notice.seq > heard) {
                let text: String = notice.text.chars().take(NOTICE_CHARS).collect();
                let text = format!("{}: {text}", place.translation.name.name);
                let (at, is_error, from) = (notice.at, notice.is_error, notice.from);
                self.keep(Some(place.slot()), Notice { seq: 0, at, is_error, text, from });
            }
        }
        place.noticed = Some(last);
    }

    /// Keeps a notice in place of the oldest of whoever has the most, so that one place cannot push out the others'.
    fn keep(&mut self, from: Option<Slot>, notice: Notice) {
        self.last += 1;
        if self.kept.len() == MOST_NOTICES {
            let count = |of: Option<Slot>| self.kept.iter().filter(|(from, _)| *from == of).count();
            let most = self.kept.iter().map(|(from, _)| *from).max_by_key(|from| count(*from));
            let oldest = self.kept.iter().position(|(from, _)| Some(*from) == most);
            oldest.map(|oldest| self.kept.remove(oldest));
        }
        self.kept.push_back((from, Notice { seq: self.last, ..notice }));
    }
}

/// Merges the places, in their order.
pub(super) fn merge_places(
    seq: u64,
    now: Timestamp,
    places: &[FleetPlace],
    notices: &PlaceNotices,
) -> Snapshot {
    let parts = || places.iter().map(|place| &place.part);
    let live = || places.iter().filter(|place| place.link.is_live()).map(|place| &*place.snapshot);
    let mut metrics = Metrics::default();
    places.iter().for_each(|place| metrics.add(&place.snapshot.metrics, now));
    // The home place of a console that started with one runtime provides the values that apply to a single runtime.
    let home = places.iter().find(|place| place.reach.is_home()).map(|place| &*place.snapshot);
    Snapshot {
        seq,
        workspace: home.map(|home| home.workspace.clone()).unwrap_or_default(),
        recording: home.map(|home| home.recording.clone()).unwrap_or_default(),
        socket: home.map(|home| home.socket.clone()).unwrap_or_default(),
        started_at: places.iter().map(|place| place.snapshot.started_at).min().unwrap_or_default(),
        headless: home.is_some_and(|home| home.headless),
        stop_grace_ms: home.map(|home| home.stop_grace_ms).unwrap_or_default(),
        tasks: parts().flat_map(|part| part.tasks.iter().cloned()).collect(),
        tasks_left: places.iter().fold(0, |sum, place| sum.saturating_add(place.snapshot.tasks_left)),
        calls: calls(places),
        agents: parts().flat_map(|part| part.agents.iter().cloned()).collect(),
        programs: parts().flat_map(|part| part.programs.iter().cloned()).collect(),
        in_agents: live().flat_map(|snapshot| snapshot.in_agents.iter().cloned()).collect(),
        permissions: live().flat_map(|snapshot| snapshot.permissions.iter().cloned()).collect(),
        questions: parts().flat_map(|part| part.questions.iter().cloned()).collect(),
        notices: notices.kept.iter().map(|(_, notice)| notice.clone()).collect(),
        metrics,
        record: RecordView {
            degraded: places.iter().find_map(|place| {
                let why = place.snapshot.record.degraded.as_ref()?;
                Some(format!("{}: {why}", place.translation.name.name))
            }),
            ..RecordView::default()
        },
        gate: GateView {
            paused: live().filter_map(|snapshot| snapshot.gate.paused).min(),
            held: held_calls(places),
            allowed: live().fold(0, |sum, snapshot| sum.saturating_add(snapshot.gate.allowed)),
            rules: live().fold(0, |sum, snapshot| sum.saturating_add(snapshot.gate.rules)),
            // Each place counts its own.
            turns: 0,
        },
        places: places.iter().map(|place| Arc::new(place.state())).collect(),
    }
}

/// Returns the held calls of all places, the longest-waiting first.
fn held_calls(places: &[FleetPlace]) -> Vec<HeldCall> {
    let mut held: Vec<HeldCall> = places.iter().flat_map(|place| place.part.held.iter().cloned()).collect();
    held.sort_by_key(|held| held.since);
    held
}

/// Returns the calls of all places by time, the newest last. Calls of one place keep their order, whatever its clock
/// did.
fn calls(places: &[FleetPlace]) -> Vec<Arc<CallSummary>> {
    let mut timed: Vec<(Timestamp, &Arc<CallSummary>)> = Vec::new();
    for place in places {
        let mut latest = Timestamp::MIN;
        let surplus = place.part.calls.len().saturating_sub(MOST_CALLS_OF_ONE);
        for call in place.part.calls.iter().skip(surplus) {
            latest = latest.max(call.at);
            timed.push((latest, call));
        }
    }
    timed.sort_by_key(|(at, _)| *at);
    let first = timed.len().saturating_sub(MOST_CALLS);
    timed.into_iter().skip(first).map(|(_, call)| Arc::clone(call)).collect()
}

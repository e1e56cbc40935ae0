//! What a snapshot says as a whole: how many tasks have a status, and at which places agents are paused.

use crate::{PlaceLink, Snapshot, TaskStatus};

impl Snapshot {
    /// Returns how many tasks have a status. Those that are no longer listed are included, as the metrics counted them.
    pub fn count(&self, status: TaskStatus) -> u64 {
        let listed = self.tasks.iter().filter(|task| task.status == status).count() as u64;
        let ended = || self.metrics.tasks_ended.get(status.as_str()).copied().unwrap_or(0);
        if self.tasks_left == 0 { listed } else { listed.max(ended()) }
    }

    /// Returns at how many places agents are paused, and how many can be seen; a single runtime is one.
    pub fn paused_places(&self) -> (usize, usize) {
        let own = usize::from(self.gate.paused.is_some());
        if self.places.is_empty() { (own, 1) } else { self.paused_where(PlaceLink::is_live) }
    }

    /// Tells whether agents are paused wherever they can be: the next thing to do is to resume them.
    pub fn is_paused(&self) -> bool {
        let (paused, all) = self.paused_where(|link| *link == PlaceLink::Live);
        if self.places.is_empty() { self.gate.paused.is_some() } else { paused > 0 && paused == all }
    }

    fn paused_where(&self, counts: fn(&PlaceLink) -> bool) -> (usize, usize) {
        let all = || self.places.iter().filter(|place| counts(&place.link));
        (all().filter(|place| place.snapshot.gate.paused.is_some()).count(), all().count())
    }
}

//! Where agents are paused: in a single runtime, or at some of the places of a console.

use crate::model::{PlaceLink, Snapshot};

impl Snapshot {
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

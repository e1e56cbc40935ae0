//! The places of a console that is attached to several runtimes: their names, the state of their links, and how their
//! numbers are kept apart. Plain values; `link` builds them.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// The low bits of a number that belong to the place; the bits above are its slot.
const OWN_BITS: u32 = 48;

/// The id of a place for as long as a console knows it; for a place on this machine, the id of its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(Arc<str>);

impl PlaceId {
    /// Borrows the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for PlaceId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for PlaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The prefix of a place's task names: `web-fix` in `web-fix/t07`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceName {
    pub id: PlaceId,
    /// Its name, unique among all places: letters, digits, `-`, `_`, `.` and `:`, never a slash.
    pub name: String,
}

/// Identifies one runtime in a console that is attached to several. A slot is never reused, even when a runtime
/// replaces another: a number that includes a slot always refers to one call of one runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Slot(pub u16);

impl Slot {
    /// Combines a runtime's own number with the slot; `None` if the number is too large to leave room for it.
    pub fn number(self, own: u64) -> Option<u64> {
        (own >> OWN_BITS == 0).then_some(u64::from(self.0) << OWN_BITS | own)
    }

    /// Splits a number into its slot and the runtime's own number. A console of a single runtime uses only slot 0.
    pub fn of(number: u64) -> (Self, u64) {
        let slot = u16::try_from(number >> OWN_BITS).unwrap_or(u16::MAX);
        (Self(slot), number & ((1 << OWN_BITS) - 1))
    }
}

/// The state of the link to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceLink {
    /// Attached: its view is current.
    Live,
    /// Being attached for the first time.
    Connecting,
    /// Disconnected, or cannot be attached; attaching is being retried.
    Lost {
        /// Since when.
        since: Timestamp,
        why: String,
    },
    /// The place's runtime has ended.
    Gone {
        /// When that was noticed.
        since: Timestamp,
    },
}

impl PlaceLink {
    /// Tells whether the view of the place is current.
    pub fn is_live(&self) -> bool {
        *self == Self::Live
    }

    /// Returns why no actions are possible there; `None` if they are.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Live => None,
            Self::Connecting => Some("not attached yet".to_owned()),
            Self::Lost { why, .. } => Some(format!("lost: {why}")),
            Self::Gone { .. } => Some("its runtime has ended".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::place::*;

    #[test]
    fn a_number_in_a_fleet_holds_its_slot_and_its_own_number() {
        for (slot, own) in [(0, 0), (0, 313), (1, 313), (u16::MAX, (1 << OWN_BITS) - 1)] {
            let number = Slot(slot).number(own).expect("room");
            assert_eq!(Slot::of(number), (Slot(slot), own));
        }
        assert_eq!(Slot(0).number(313), Some(313), "a console of one runtime has its numbers as they are");
        assert_eq!(Slot(1).number(1 << OWN_BITS), None);
    }
}

//! The places of a console over several runtimes: what each is called, how its link stands, and the numbers of all of
//! them beside each other. Plain values; `link` puts them together.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Bits of a number that are the place's own; those above them are its slot.
const OWN_BITS: u32 = 48;

/// Names a place for as long as a console knows it: of one on this machine the id of its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(Arc<str>);

impl PlaceId {
    /// Borrows the id as text.
    #[must_use]
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

/// What stands before the short names of a place's tasks: `web-fix` in `web-fix/t07`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceName {
    /// Which place.
    pub id: PlaceId,
    /// Its name, different from those of all other places: letters, digits, `-`, `_`, `.` and `:`, never a slash.
    pub name: String,
}

/// One runtime of a console over several. Each has another one, also where a runtime has taken the place of another: a
/// number with a slot in it means one call of one runtime for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Slot(pub u16);

impl Slot {
    /// Returns a runtime's own number as one among those of several; none where it has no room for the slot.
    #[must_use]
    pub fn number(self, own: u64) -> Option<u64> {
        (own >> OWN_BITS == 0).then_some(u64::from(self.0) << OWN_BITS | own)
    }

    /// Returns whose number it is, and which of its own. A console of one runtime has slot 0 alone.
    #[must_use]
    pub fn of(number: u64) -> (Self, u64) {
        let slot = u16::try_from(number >> OWN_BITS).unwrap_or(u16::MAX);
        (Self(slot), number & ((1 << OWN_BITS) - 1))
    }
}

/// How the link to a place stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceLink {
    /// It is attached: what is shown is what is.
    Live,
    /// It is attached and may only be looked at; why.
    ReadOnly(String),
    /// It is being attached for the first time.
    Connecting,
    /// It was attached, or cannot be; it is tried again.
    Lost {
        /// Since when.
        since: Timestamp,
        /// Why.
        why: String,
    },
    /// Its runtime has ended.
    Gone {
        /// When that was noticed.
        since: Timestamp,
    },
}

impl PlaceLink {
    /// Tells whether what is shown of it is what is.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live | Self::ReadOnly(_))
    }

    /// Says why nothing can be done there, where that is so.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Live => None,
            Self::ReadOnly(why) => Some(format!("read-only: {why}")),
            Self::Connecting => Some("not attached yet".to_owned()),
            Self::Lost { why, .. } => Some(format!("lost: {why}")),
            Self::Gone { .. } => Some("its runtime has ended".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_whose_it_is_and_which() {
        for (slot, own) in [(0, 0), (0, 313), (1, 313), (u16::MAX, (1 << OWN_BITS) - 1)] {
            let number = Slot(slot).number(own).expect("room");
            assert_eq!(Slot::of(number), (Slot(slot), own));
        }
        assert_eq!(Slot(0).number(313), Some(313), "a console of one runtime has its numbers as they are");
        assert_eq!(Slot(1).number(1 << OWN_BITS), None);
    }
}

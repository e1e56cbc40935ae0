//! Limits on how much text a client passes to its model without truncating it.

use std::cmp::Ordering;

pub use crate::agents::{RECEIPT_CHARS, Room};
use crate::envelope::preview::{self, CHARS_PER_TOKEN, PreviewBudget, TOKENS};

/// How much output a call may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputBudget {
    /// Characters of the raw output.
    pub chars: PreviewBudget,
    /// The size limit of the output as rendered in the receipt.
    pub room: Room,
}

impl Default for Room {
    /// Returns the room of a receipt for an unknown client.
    fn default() -> Self {
        Self::chars(RECEIPT_CHARS)
    }
}

impl Room {
    /// No room.
    pub(super) const NONE: Self = Self { chars: 0, bytes: 0, lines: 0 };

    /// Returns the size of a text.
    pub fn of(text: &str) -> Self {
        Self { chars: text.chars().count(), bytes: text.len(), lines: text.lines().count() }
    }

    /// Returns the part of a receipt's room that is certain to be available for output.
    #[must_use]
    pub fn for_output(self) -> Self {
        let most = |all: usize| all - all / 10;
        Self { chars: most(self.chars), bytes: most(self.bytes), lines: most(self.lines) }
    }

    /// Returns the same room, limited to `chars` characters.
    #[must_use]
    pub fn at_most(self, chars: Option<usize>) -> Self {
        Self { chars: chars.map_or(self.chars, |chars| self.chars.min(chars)), ..self }
    }

    /// Returns the room left after a paragraph of `chars` characters and the blank line before it.
    #[must_use]
    pub fn beside(self, chars: usize) -> Self {
        self.minus(Self { chars: chars + 2, bytes: chars * 4 + 2, lines: 2 })
    }

    /// Returns the output budget of a call that asks for `asked_tokens`: never more than a receipt has room for, so
    /// that a preview reported as complete is not truncated later.
    pub fn budget(self, asked_tokens: Option<u64>) -> OutputBudget {
        let room = self.for_output();
        OutputBudget { chars: PreviewBudget::of_tokens(asked_tokens).at_most(room.chars), room }
    }

    /// Returns the maximum output of a call in tokens: what its receipt holds, or what a call may ask for.
    pub(super) fn tokens(self) -> u64 {
        (self.for_output().chars as u64 / CHARS_PER_TOKEN).clamp(*TOKENS.start(), *TOKENS.end())
    }

    /// Returns the room left once `taken` is subtracted.
    pub(super) fn minus(self, taken: Self) -> Self {
        self.combine(taken, usize::saturating_sub)
    }

    /// Returns the sum of both.
    pub(super) fn plus(self, other: Self) -> Self {
        self.combine(other, usize::saturating_add)
    }

    /// Splits the room between two outputs: half each, with any unused part of one given to the other.
    pub(super) fn split(self, a: Self, b: Self) -> (Self, Self) {
        let (chars, bytes, lines) = (
            preview::split_budget(a.chars, b.chars, self.chars),
            preview::split_budget(a.bytes, b.bytes, self.bytes),
            preview::split_budget(a.lines, b.lines, self.lines),
        );
        (
            Self { chars: chars.0, bytes: bytes.0, lines: lines.0 },
            Self { chars: chars.1, bytes: bytes.1, lines: lines.1 },
        )
    }

    /// Splits the room so that each output gets what it wants or an equal share; unused parts go to the others.
    pub(super) fn shares(self, wanted: &[Self]) -> Vec<Self> {
        let of = |part: fn(&Self) -> usize| shares(&wanted.iter().map(part).collect::<Vec<_>>(), part(&self));
        let (chars, bytes, lines) = (of(|room| room.chars), of(|room| room.bytes), of(|room| room.lines));
        let rooms = chars.into_iter().zip(bytes).zip(lines);
        rooms.map(|((chars, bytes), lines)| Self { chars, bytes, lines }).collect()
    }

    /// Returns the actual and allowed size of a text that is too long, in the unit that exceeds its limit the most.
    pub(super) fn excess(self, text: &str) -> Option<(usize, usize)> {
        let has = Self::of(text);
        let parts = [(has.chars, self.chars), (has.bytes, self.bytes), (has.lines, self.lines)];
        parts.into_iter().filter(|(has, may)| has > may).max_by(|a, b| ratio(*a, *b))
    }

    fn combine(self, other: Self, f: fn(usize, usize) -> usize) -> Self {
        Self {
            chars: f(self.chars, other.chars),
            bytes: f(self.bytes, other.bytes),
            lines: f(self.lines, other.lines),
        }
    }
}

/// Compares `a.0 / a.1` with `b.0 / b.1`.
fn ratio(a: (usize, usize), b: (usize, usize)) -> Ordering {
    (a.0 as u128 * b.1 as u128).cmp(&(b.0 as u128 * a.1 as u128))
}

fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut smallest_first: Vec<(usize, usize)> = wanted.iter().copied().enumerate().collect();
    smallest_first.sort_by_key(|(_, wanted)| *wanted);
    let (mut left, mut shares) = (room, vec![0; wanted.len()]);
    for (served, (at, wanted)) in smallest_first.into_iter().enumerate() {
        let share = wanted.min(left / (shares.len() - served));
        shares[at] = share;
        left -= share;
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_measure_that_a_text_exceeds_most_is_its_excess() {
        let room = Room { chars: 100, bytes: 100, lines: 2 };
        assert_eq!(room.excess("a\nb"), None);
        assert_eq!(room.excess("a\nb\nc\n"), Some((3, 2)));
        assert_eq!(room.excess(&"ä".repeat(60)), Some((120, 100)));
        assert_eq!(room.excess(&"x\n".repeat(60)), Some((60, 2)));
    }

    #[test]
    fn room_left_by_some_texts_goes_to_the_others() {
        for (wanted, room, given) in [
            (vec![], 10, vec![]),
            (vec![5, 5], 10, vec![5, 5]),
            (vec![100, 2, 100], 12, vec![5, 2, 5]),
            (vec![0, 0, 9], 8, vec![0, 0, 8]),
            (vec![3, 3], 0, vec![0, 0]),
        ] {
            assert_eq!(shares(&wanted, room), given, "{wanted:?} {room}");
        }
    }

    proptest! {
        #[test]
        fn no_share_exceeds_its_demand_or_falls_below_an_equal_part(
            wanted in prop::collection::vec(0_usize..300_000, 1..24),
            room in 0_usize..40_000,
        ) {
            let given = shares(&wanted, room);
            prop_assert!(given.iter().sum::<usize>() <= room);
            for (given, wanted) in given.iter().zip(&wanted) {
                prop_assert!(given <= wanted && *given >= (*wanted).min(room / 24));
            }
        }
    }
}

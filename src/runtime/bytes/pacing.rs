//! Which terminals are read at a pace, and when: many that print as fast as they can, or a few of them while a person
//! types into another.
//!
//! Each piece that is read lets its writer continue and has the kernel move the next piece, so reading as fast as
//! possible keeps every processor busy, and a keystroke waits for one at each of its steps. Writers whose terminals are
//! full sleep instead.

use std::collections::HashSet;
use std::time::Duration;

/// The time between two turns of the paced terminals.
const PAUSE: Duration = Duration::from_millis(4);
/// How many paced terminals are read in one turn, for each processor.
const TERMINALS: usize = 4;
/// So many may flood without being paced, unless a person types.
const FEW: usize = 4;
/// A piece of this size, in bytes, counts as part of a flood.
const LARGE: usize = 2 << 10;
/// Terminals that had large pieces within this time flood together.
const TOGETHER: Duration = Duration::from_millis(10);
/// How long after a keystroke a person still types.
const TYPING: Duration = Duration::from_millis(500);

/// Which terminals, by key, are paced.
#[derive(Debug, Default)]
pub(super) struct PacedTerminals {
    paced: HashSet<u64>,
    /// Other terminals that had a large piece since `began`.
    recent: Vec<u64>,
    began: Duration,
    next: Duration,
    typed: Option<Duration>,
    terminals: usize,
}

impl PacedTerminals {
    /// Returns one for so many processors, which paces nothing yet.
    pub(super) fn of(processors: usize) -> Self {
        Self { terminals: TERMINALS * processors, ..Self::default() }
    }

    /// Returns how many terminals to read in one turn.
    pub(super) fn terminals(&self) -> usize {
        self.terminals
    }

    /// Notes that a person has typed into a task.
    pub(super) fn note_typing(&mut self, now: Duration) {
        self.typed = Some(now);
    }

    /// Notes a piece that was read from a terminal which may be paced.
    pub(super) fn read(&mut self, key: u64, length: usize, now: Duration) {
        if length < LARGE || self.paced.contains(&key) {
            return;
        }
        if now > self.began + TOGETHER {
            self.recent.clear();
            self.began = now;
        }
        if !self.recent.contains(&key) {
            self.recent.push(key);
        }
    }

    /// Returns the terminals to pace from now on.
    pub(super) fn join(&mut self, now: Duration) -> Vec<u64> {
        let is_crowd = !self.paced.is_empty() || self.recent.len() > self.few(now);
        if self.recent.is_empty() || !is_crowd {
            return Vec::new();
        }
        if self.paced.is_empty() {
            self.next = now + PAUSE;
        }
        self.paced.extend(&self.recent);
        std::mem::take(&mut self.recent)
    }

    /// Tells whether nothing floods.
    pub(super) fn is_idle(&self) -> bool {
        self.paced.is_empty() && self.recent.is_empty()
    }

    /// Returns the time until the next turn, if any terminal is paced.
    pub(super) fn wait(&self, now: Duration) -> Option<Duration> {
        (!self.paced.is_empty()).then(|| self.next.saturating_sub(now))
    }

    /// Ends a turn in which these terminals had something to read; returns those that need no pacing any longer.
    pub(super) fn turn(&mut self, ready: &[u64], now: Duration) -> Vec<u64> {
        self.next = now + PAUSE;
        let free = match ready.len() {
            0 => self.paced.iter().copied().collect(),
            count if count <= self.few(now) => ready.to_vec(),
            _ => Vec::new(),
        };
        free.iter().for_each(|key| self.leave(*key));
        free
    }

    /// Stops pacing a terminal, and forgets its last piece: it must not join the paced ones by that.
    pub(super) fn leave(&mut self, key: u64) {
        self.paced.remove(&key);
        self.recent.retain(|recent| *recent != key);
    }

    fn few(&self, now: Duration) -> usize {
        if self.typed.is_some_and(|typed| now < typed + TYPING) { 0 } else { FEW }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    fn flooded(count: u64) -> PacedTerminals {
        let mut pacing = PacedTerminals::default();
        (0..count).for_each(|key| pacing.read(key, LARGE, NOW));
        pacing
    }

    #[test]
    fn a_few_floods_are_not_paced_and_more_are() {
        assert!(flooded(4).join(NOW).is_empty());
        let mut pacing = flooded(5);
        assert_eq!(pacing.wait(NOW), None);
        assert_eq!(pacing.join(NOW), [0, 1, 2, 3, 4]);
        assert_eq!(pacing.wait(NOW), Some(PAUSE));
        pacing.read(7, LARGE, NOW);
        assert_eq!(pacing.join(NOW), [7], "one that comes later joins them");
    }

    #[test]
    fn a_flood_that_leaves_before_it_has_joined_is_not_paced() {
        let mut pacing = flooded(6);
        pacing.leave(3);
        assert_eq!(pacing.join(NOW), [0, 1, 2, 4, 5]);
    }

    #[test]
    fn small_pieces_and_those_at_other_times_are_no_crowd() {
        let mut pacing = PacedTerminals::default();
        (0..9).for_each(|key| pacing.read(key, LARGE - 1, NOW));
        (0..9).for_each(|key| pacing.read(key, LARGE, NOW + TOGETHER * 2 * u32::try_from(key).unwrap_or(0)));
        assert!(pacing.join(NOW).is_empty());
    }

    #[test]
    fn one_flood_is_paced_while_a_person_types() {
        let mut pacing = flooded(1);
        pacing.note_typing(NOW);
        assert_eq!(pacing.join(NOW), [0]);
        assert!(pacing.turn(&[0], NOW).is_empty());
        assert_eq!(pacing.turn(&[0], NOW + TYPING), [0]);
        assert_eq!(pacing.wait(NOW), None);
    }

    #[test]
    fn a_crowd_that_falls_silent_is_not_paced_any_longer() {
        let mut pacing = flooded(9);
        pacing.join(NOW);
        assert!(pacing.turn(&[0, 1, 2, 3, 4], NOW).is_empty());
        assert_eq!(pacing.turn(&[0, 1], NOW), [0, 1], "few are left");
        let mut rest = pacing.turn(&[], NOW);
        rest.sort_unstable();
        assert_eq!(rest, [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(pacing.wait(NOW), None, "nobody wakes up for them");
    }
}

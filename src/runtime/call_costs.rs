//! What everything that waits for the operator would cost: what was computed last, and whether an answer to it counts.
//! Pure.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Moment;
use crate::consequence::ConsequenceRequest;
use crate::model::{CallCost, Subject};

/// How old a result may be when the operator lets a call run.
const FRESH: Duration = Duration::from_secs(5);

/// What becomes of an answer that lets something run, given what it was told that this would cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) enum CostCheck {
    Counts,
    /// What was told is old: it is computed again first.
    Old,
    /// Something else was computed since: it does not count.
    Changed,
}

/// What everything that waits would cost. The environments in the requests stay here.
#[derive(Debug, Default)]
pub(in crate::runtime) struct CallCosts {
    all: BTreeMap<Subject, CostEntry>,
}

#[derive(Debug)]
struct CostEntry {
    requests: Arc<[ConsequenceRequest]>,
    cost: CallCost,
    /// When the last result came.
    at: Option<Duration>,
}

impl CallCosts {
    /// Adds something that waits, with its commands.
    pub(in crate::runtime) fn add(&mut self, of: Subject, requests: Vec<ConsequenceRequest>) {
        let entry = CostEntry { requests: requests.into(), cost: CallCost::default(), at: None };
        self.all.insert(of, entry);
    }

    /// Returns the commands of something that waits.
    pub(in crate::runtime) fn requests(&self, of: &Subject) -> Option<Arc<[ConsequenceRequest]>> {
        self.all.get(of).map(|entry| Arc::clone(&entry.requests))
    }

    /// Returns what was computed last.
    pub(in crate::runtime) fn cost(&self, of: &Subject) -> Option<&CallCost> {
        self.all.get(of).map(|entry| &entry.cost)
    }

    /// Takes a result; returns whether it differs from the one before.
    pub(in crate::runtime) fn take(&mut self, now: Moment, of: &Subject, found: Vec<Vec<String>>) -> bool {
        let Some(entry) = self.all.get_mut(of) else { return false };
        entry.at = Some(now.mono);
        entry.cost.take(found)
    }

    /// Tells whether an answer counts that was given to this revision; to none if the operator was not told any.
    pub(in crate::runtime) fn check(&self, now: Moment, of: &Subject, shown: Option<u32>) -> CostCheck {
        let (Some(entry), Some(shown)) = (self.all.get(of), shown) else { return CostCheck::Counts };
        if shown != entry.cost.revision {
            return CostCheck::Changed;
        }
        let is_fresh = entry.at.is_some_and(|at| now.mono.saturating_sub(at) <= FRESH);
        if is_fresh { CostCheck::Counts } else { CostCheck::Old }
    }

    /// Forgets what does not wait any more.
    pub(in crate::runtime) fn keep(&mut self, waits: impl Fn(&Subject) -> bool) {
        self.all.retain(|of, _| waits(of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::supervisor::tests::at;

    const OF: Subject = Subject::Held(1);

    fn costs() -> CallCosts {
        let mut costs = CallCosts::default();
        costs.add(OF, Vec::new());
        costs
    }

    fn said(sentence: &str) -> Vec<Vec<String>> {
        vec![vec![sentence.to_owned()]]
    }

    #[test]
    fn an_answer_counts_only_for_what_was_shown_last() {
        let mut costs = costs();
        assert!(costs.take(at(0), &OF, said("a")));
        assert_eq!(costs.check(at(5_000), &OF, Some(1)), CostCheck::Counts);
        assert_eq!(costs.check(at(5_001), &OF, Some(1)), CostCheck::Old);
        assert_eq!(costs.check(at(100), &OF, Some(0)), CostCheck::Changed, "it was given to an empty card");
        assert!(costs.take(at(6_000), &OF, said("b")));
        assert_eq!(costs.check(at(6_000), &OF, Some(1)), CostCheck::Changed);
        assert_eq!(costs.check(at(6_000), &OF, Some(2)), CostCheck::Counts);
    }

    #[test]
    fn the_same_result_again_makes_an_answer_count() {
        let mut costs = costs();
        costs.take(at(0), &OF, said("a"));
        assert!(!costs.take(at(9_000), &OF, said("a")));
        assert_eq!(costs.check(at(9_000), &OF, Some(1)), CostCheck::Counts);
    }

    #[test]
    fn an_answer_before_the_first_result_does_not_count() {
        assert_eq!(costs().check(at(0), &OF, Some(0)), CostCheck::Old);
    }

    #[test]
    fn an_answer_without_a_revision_counts_and_an_ended_call_is_forgotten() {
        let mut costs = costs();
        assert_eq!(costs.check(at(0), &OF, None), CostCheck::Counts);
        costs.keep(|_| false);
        assert_eq!(costs.requests(&OF).map(|requests| requests.len()), None);
        assert!(!costs.take(at(0), &OF, said("a")));
    }
}

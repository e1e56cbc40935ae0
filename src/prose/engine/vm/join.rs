//! When a parallel block completes, and with what result (docs/prose-rules.md#rule-9, #rule-10, #rule-11, #rule-12).
//! Pure: branches are numbers.

use crate::prose::syntax::ast::{Join, ParallelOnFail};

/// What is known about the branches of a block.
#[derive(Debug, Clone)]
pub(super) struct BranchTally {
    needed: usize,
    first_decides: bool,
    fails_fast: bool,
    tolerates: bool,
    total: usize,
    succeeded: Vec<usize>,
    failed: Vec<usize>,
    /// The final standing; it does not change any more.
    over: Option<JoinStanding>,
}

/// The consequence of a branch's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinStanding {
    /// The others continue.
    Open,
    /// The block has succeeded; branches still running are ended.
    Succeeded,
    /// The block has failed with the error of this branch; branches still running are ended.
    Failed(usize),
}

impl BranchTally {
    /// Returns the tally of a block that has just begun.
    pub(super) fn new(join: Join, on_fail: ParallelOnFail, total: usize) -> Self {
        let fails_fast = on_fail == ParallelOnFail::FailFast;
        let needed = match join {
            Join::All => total,
            Join::First => 1,
            // More than there are can never succeed, so it is taken to mean all of them.
            Join::Any(count) => usize::try_from(count.get()).unwrap_or(usize::MAX),
        };
        Self {
            needed: needed.min(total),
            first_decides: join == Join::First && fails_fast,
            fails_fast: fails_fast && join == Join::All,
            tolerates: join == Join::All && !fails_fast,
            total,
            succeeded: Vec::new(),
            failed: Vec::new(),
            over: None,
        }
    }

    pub(super) fn join_standing(&self) -> JoinStanding {
        self.over.unwrap_or_else(|| self.evaluate())
    }

    fn evaluate(&self) -> JoinStanding {
        let ended = self.succeeded.len() + self.failed.len();
        match self.failed.first() {
            Some(first) if self.fails_fast || self.first_decides => JoinStanding::Failed(*first),
            _ if self.tolerates => {
                if ended == self.total {
                    JoinStanding::Succeeded
                } else {
                    JoinStanding::Open
                }
            }
            _ if self.succeeded.len() >= self.needed => JoinStanding::Succeeded,
            Some(first) if self.succeeded.len() + (self.total - ended) < self.needed => {
                JoinStanding::Failed(*first)
            }
            _ => JoinStanding::Open,
        }
    }

    /// Records the end of a branch.
    pub(super) fn record_end(&mut self, branch: usize, has_succeeded: bool) -> JoinStanding {
        if self.join_standing() != JoinStanding::Open {
            return self.join_standing();
        }
        if has_succeeded {
            self.succeeded.push(branch);
        } else {
            self.failed.push(branch);
        }
        let standing = self.evaluate();
        self.over = (standing != JoinStanding::Open).then_some(standing);
        standing
    }

    /// Returns the branches whose values count, in source order.
    pub(super) fn winners(&self) -> Vec<usize> {
        let mut winners = self.succeeded.clone();
        winners.truncate(if self.tolerates { usize::MAX } else { self.needed });
        winners.sort_unstable();
        winners
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;

    fn any(count: u32) -> Join {
        Join::Any(NonZeroU32::new(count).expect("not zero"))
    }

    /// Returns the standing after each end: `+2` is the success of branch 2, `-0` the failure of branch 0.
    fn play(join: Join, on_fail: ParallelOnFail, total: usize, ends: &[&str]) -> Vec<JoinStanding> {
        let mut tally = BranchTally::new(join, on_fail, total);
        let branch = |end: &str| end[1..].parse().expect("a number");
        ends.iter().map(|end| tally.record_end(branch(end), end.starts_with('+'))).collect()
    }

    #[test]
    fn each_policy_is_over_when_it_says() {
        use JoinStanding::{Failed, Open, Succeeded};
        use ParallelOnFail::{Continue, FailFast, Ignore};
        for (join, on_fail, ends, expected) in [
            (Join::All, FailFast, vec!["+1", "+0", "+2"], vec![Open, Open, Succeeded]),
            (Join::All, FailFast, vec!["+1", "-2"], vec![Open, Failed(2)]),
            (Join::All, Continue, vec!["-2", "-0", "+1"], vec![Open, Open, Succeeded]),
            (Join::All, Ignore, vec!["-2", "-0", "-1"], vec![Open, Open, Succeeded]),
            (Join::First, FailFast, vec!["+2"], vec![Succeeded]),
            (Join::First, FailFast, vec!["-2"], vec![Failed(2)]),
            (Join::First, Continue, vec!["-2", "+0"], vec![Open, Succeeded]),
            (Join::First, Ignore, vec!["-2", "-0", "-1"], vec![Open, Open, Failed(2)]),
            (any(2), FailFast, vec!["-2", "+0", "+1"], vec![Open, Open, Succeeded]),
            (any(2), FailFast, vec!["-2", "-0"], vec![Open, Failed(2)]),
            (any(2), Continue, vec!["+2", "-0", "+1"], vec![Open, Open, Succeeded]),
            (any(9), FailFast, vec!["+2", "+0", "+1"], vec![Open, Open, Succeeded]),
        ] {
            assert_eq!(play(join, on_fail, 3, &ends), expected, "{join:?} {on_fail:?} {ends:?}");
        }
        assert_eq!(BranchTally::new(Join::All, FailFast, 0).join_standing(), Succeeded);
        assert_eq!(BranchTally::new(Join::First, FailFast, 0).join_standing(), Succeeded);
    }

    proptest! {
        /// Whatever ends in whatever order: once over a block stays as it is over, and when all have ended
        /// it is over; nobody wins who has not succeeded.
        #[test]
        fn a_block_is_over_once_and_by_its_last_branch(
            join in prop_oneof![Just(Join::All), Just(Join::First), (1..5_u32).prop_map(any)],
            on_fail in prop_oneof![
                Just(ParallelOnFail::FailFast), Just(ParallelOnFail::Continue), Just(ParallelOnFail::Ignore)
            ],
            ends in prop::collection::vec(prop::bool::ANY, 0..6),
        ) {
            let mut tally = BranchTally::new(join, on_fail, ends.len());
            let mut over = (tally.join_standing() != JoinStanding::Open).then(|| tally.join_standing());
            for (branch, good) in ends.iter().enumerate() {
                let standing = tally.record_end(branch, *good);
                match over {
                    Some(JoinStanding::Succeeded) => prop_assert_eq!(standing, JoinStanding::Succeeded),
                    Some(before) => prop_assert_eq!(standing, before),
                    None => over = (standing != JoinStanding::Open).then_some(standing),
                }
            }
            prop_assert!(over.is_some());
            prop_assert!(tally.winners().iter().all(|winner| ends[*winner]));
        }
    }
}

//! A histogram of durations with fixed buckets, which takes constant space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Upper bounds of the buckets, in milliseconds; one more bucket takes longer durations.
pub const BOUNDS_MS: [u64; 15] =
    [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 600_000, 3_600_000];

/// A histogram of durations.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Histogram {
    /// Number of durations of at most 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 600000,
    /// 3600000 ms, or longer; each counted once.
    pub buckets: [u64; BOUNDS_MS.len() + 1],
    /// Number of durations.
    pub count: u64,
    /// Sum of all durations in milliseconds.
    pub sum_ms: u64,
}

impl Histogram {
    /// Counts one duration of `ms` milliseconds.
    pub fn add(&mut self, ms: u64) {
        let at = BOUNDS_MS.iter().position(|bound| ms <= *bound).unwrap_or(BOUNDS_MS.len());
        self.buckets[at] += 1;
        self.count += 1;
        self.sum_ms = self.sum_ms.saturating_add(ms);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(own, more)| *own = own.saturating_add(more));
        self.count = self.count.saturating_add(other.count);
        self.sum_ms = self.sum_ms.saturating_add(other.sum_ms);
    }

    /// Returns the upper bound of the bucket that contains the given percentile; `None` for the last bucket, or if
    /// nothing was counted.
    pub fn at_most(&self, percent: u64) -> Option<u64> {
        let wanted = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let at = self.buckets.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        at.and_then(|at| BOUNDS_MS.get(at).copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::histogram::*;

    #[test]
    fn each_duration_is_in_the_first_bucket_that_holds_it() {
        let mut histogram = Histogram::default();
        for ms in [0, 5, 6, 3_600_000, 3_600_001, u64::MAX] {
            histogram.add(ms);
        }
        assert_eq!((histogram.buckets[0], histogram.buckets[1]), (2, 1));
        assert_eq!((histogram.buckets[14], histogram.buckets[15]), (1, 2));
        assert_eq!((histogram.count, histogram.sum_ms), (6, u64::MAX));
    }

    #[test]
    fn a_share_is_told_by_the_end_of_its_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.at_most(50), None);
        (0..99).for_each(|_| histogram.add(7));
        histogram.add(4_000_000);
        assert_eq!(
            (histogram.at_most(50), histogram.at_most(99), histogram.at_most(100)),
            (Some(10), Some(10), None)
        );
    }
}

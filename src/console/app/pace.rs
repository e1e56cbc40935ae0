//! How fast the console itself is: the last frames and echoes, and their shares.

use std::collections::VecDeque;
use std::time::Duration;

/// So many are remembered: shares are exact over these.
const REMEMBERED: usize = 500;

/// The console's own latencies.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// From a key that was read to the written frame that shows its echo.
    pub echo: Lately,
    /// To draw a frame and write it.
    pub frame: Lately,
}

/// The last durations of one kind, in microseconds.
#[derive(Debug, Clone, Default)]
pub struct Lately(VecDeque<u64>);

impl Lately {
    /// Takes note of one.
    pub fn add(&mut self, took: Duration) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// Returns how many microseconds 50, 95 and 99 percent of them took at most; none without any.
    #[must_use]
    pub fn shares(&self) -> Option<[u64; 3]> {
        let mut all: Vec<u64> = self.0.iter().copied().collect();
        all.sort_unstable();
        let share = |percent: usize| all.get((all.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some([share(50)?, share(95)?, share(99)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_last_ones() {
        let mut lately = Lately::default();
        assert_eq!(lately.shares(), None);
        (1..=100).for_each(|us| lately.add(Duration::from_micros(us)));
        assert_eq!(lately.shares(), Some([50, 95, 99]));
        (0..REMEMBERED).for_each(|_| lately.add(Duration::from_micros(7)));
        assert_eq!(lately.shares(), Some([7, 7, 7]));
    }
}

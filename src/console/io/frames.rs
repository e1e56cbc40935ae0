//! What frames cost: the last of them, and percentiles over those.

use std::collections::VecDeque;
use std::time::Duration;

/// Frames remembered: two minutes at full pace.
const KEPT: usize = 8_192;

/// How long the last frames took, from the state to the terminal.
#[derive(Debug, Default)]
pub(in crate::console) struct Frames {
    count: u64,
    last: VecDeque<Duration>,
}

impl Frames {
    /// Takes note of a frame.
    pub(in crate::console) fn add(&mut self, took: Duration) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(took);
        self.count += 1;
    }

    /// Returns the shortest time that so many percent of the last frames did not exceed.
    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted: Vec<Duration> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }

    /// Leaves the figures in the log.
    pub(in crate::console) fn log(&self) {
        let [p50, p99] = [50, 99].map(|percent| self.percentile(percent).as_micros());
        tracing::info!(frames = self.count, p50_us = p50, p99_us = p99, "frames drawn");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_last_frames() {
        let mut frames = Frames::default();
        assert_eq!(frames.percentile(99), Duration::ZERO);
        (0..10).for_each(|_| frames.add(Duration::from_secs(9)));
        (0..KEPT).for_each(|n| frames.add(Duration::from_micros(n as u64)));
        assert_eq!(frames.percentile(50), Duration::from_micros(4_095));
        assert_eq!(frames.percentile(100), Duration::from_micros(8_191));
        assert_eq!((frames.count, frames.last.len()), (8_202, KEPT));
    }
}

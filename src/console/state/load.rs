//! What all measured tasks use together, second by second. Pure.

use std::collections::VecDeque;

use jiff::Timestamp;

/// Seconds of history kept.
const SECONDS: usize = 240;

/// The CPU and memory use of all measured tasks together.
#[derive(Debug, Clone, Default)]
pub struct LoadHistory {
    /// Percent of one CPU in each of the last seconds, oldest first.
    pub percents: VecDeque<u64>,
    /// Memory in use now, in bytes.
    pub memory: u64,
    last: Option<Timestamp>,
}

impl LoadHistory {
    /// Adds what each task uses now: percent of one CPU, and bytes of memory. A measurement stands for the time since
    /// the one before it. Returns whether the graph reads differently.
    pub(super) fn add(&mut self, now: Timestamp, used: impl Iterator<Item = (u64, u64)>) -> bool {
        let (percent, memory) = used.fold((0_u64, 0_u64), |(percent, memory), (its, bytes)| {
            (percent.saturating_add(its), memory.saturating_add(bytes))
        });
        self.memory = memory;
        let Some(last) = self.last else {
            self.last = Some(now);
            return false;
        };
        let seconds = usize::try_from(now.duration_since(last).as_millis() / 900).unwrap_or(0).min(SECONDS);
        if seconds == 0 {
            return false;
        }
        self.last = Some(now);
        self.percents.extend(std::iter::repeat_n(percent, seconds));
        self.percents.drain(..self.percents.len().saturating_sub(SECONDS));
        self.percents.iter().any(|percent| *percent > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    #[test]
    fn the_load_history_sums_all_tasks_for_each_second_and_fills_gaps_with_the_next_value() {
        let at = |seconds| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let mut load = LoadHistory::default();
        assert!(!load.add(at(0), [(50, 1)].into_iter()), "of which time?");
        assert!(load.add(at(1), [(50, 1), (30, 2)].into_iter()));
        assert!(!load.add(at(1), [(99, 9)].into_iter()), "within the same second");
        assert!(load.add(at(4), [(7, 5)].into_iter()));
        assert_eq!((load.percents.iter().copied().collect::<Vec<_>>(), load.memory), (vec![80, 7, 7, 7], 5));
        assert!(!load.add(at(100_000), std::iter::empty()), "nothing but zeros");
        assert_eq!(load.percents.len(), SECONDS);
    }
}

//! Adds up the metrics of all places. Pure.

use crate::model::Metrics;
use crate::model::counter::COUNTERS;

/// Adds the metrics of one place to a total. Limits are specific to each place and are left out; for call durations
/// the figures of the slowest place are kept, because percentiles cannot be added.
pub(super) fn add(total: &mut Metrics, one: &Metrics) {
    COUNTERS.iter().for_each(|counter| counter.add(total, one));
    for (tool, (count, p50, p95, p99)) in &one.call_ms {
        let known = total.call_ms.entry(tool.clone()).or_default();
        *known = (known.0.saturating_add(*count), known.1.max(*p50), known.2.max(*p95), known.3.max(*p99));
    }
    series(&mut total.calls_per_second, &one.calls_per_second);
    series(&mut total.bytes_per_second, &one.bytes_per_second);
}

/// Adds two series that end at the same second.
fn series(total: &mut Vec<u64>, one: &[u64]) {
    let missing = one.len().saturating_sub(total.len());
    total.splice(0..0, std::iter::repeat_n(0, missing));
    for (known, more) in total.iter_mut().rev().zip(one.iter().rev()) {
        *known = known.saturating_add(*more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_seconds_stand_beside_each_other() {
        let of = |started, calls: &[u64]| Metrics {
            tasks_started: started,
            tasks_peak: started.min(9),
            tasks_ended: [("failed".to_owned(), started)].into(),
            calls_per_second: calls.to_vec(),
            ..Metrics::default()
        };
        let mut total = Metrics::default();
        add(&mut total, &of(2, &[1, 2, 3]));
        add(&mut total, &of(u64::MAX, &[10]));
        assert_eq!(total.tasks_started, u64::MAX);
        assert_eq!(total.tasks_peak, 9, "the most at any place, not the sum");
        assert_eq!(total.tasks_ended["failed"], u64::MAX);
        assert_eq!(total.calls_per_second, [1, 2, 13]);
    }
}

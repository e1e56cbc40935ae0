//! Adds up the metrics of all places. Numbers from a place are untrusted, so nothing may overflow. Pure.

use std::collections::BTreeMap;

use crate::runtime::{Histogram, Metrics};

/// Adds the metrics of one place to a total. Limits are specific to each place and are left out; for call durations
/// the figures of the slowest place are kept, because percentiles cannot be added.
pub(super) fn add(total: &mut Metrics, one: &Metrics) {
    for (tool, statuses) in &one.tool_calls {
        merge(total.tool_calls.entry(tool.clone()).or_default(), statuses);
    }
    for (map, more) in [
        (&mut total.tasks_live, &one.tasks_live),
        (&mut total.tasks_ended, &one.tasks_ended),
        (&mut total.operator_actions, &one.operator_actions),
        (&mut total.input_refused, &one.input_refused),
    ] {
        merge(map, more);
    }
    for (count, more) in [
        (&mut total.exec_command_items, one.exec_command_items),
        (&mut total.batched_exec_command_items, one.batched_exec_command_items),
        (&mut total.promotions, one.promotions),
        (&mut total.tasks_started, one.tasks_started),
        (&mut total.tasks_peak, one.tasks_peak),
        (&mut total.output_bytes_in, one.output_bytes_in),
        (&mut total.output_chars_sent, one.output_chars_sent),
        (&mut total.output_bytes_sent, one.output_bytes_sent),
        (&mut total.output_bytes_dropped, one.output_bytes_dropped),
        (&mut total.screen_resets, one.screen_resets),
    ] {
        *count = count.saturating_add(more);
    }
    for (map, more) in [
        (&mut total.tool_ms, &one.tool_ms),
        (&mut total.task_ms, &one.task_ms),
        (&mut total.wait_ms, &one.wait_ms),
    ] {
        for (name, histogram) in more {
            let known: &mut Histogram = map.entry(name.clone()).or_default();
            known.merge(histogram);
        }
    }
    for (tool, (count, p50, p95, p99)) in &one.call_ms {
        let known = total.call_ms.entry(tool.clone()).or_default();
        *known = (known.0.saturating_add(*count), known.1.max(*p50), known.2.max(*p95), known.3.max(*p99));
    }
    series(&mut total.calls_per_second, &one.calls_per_second);
    series(&mut total.bytes_per_second, &one.bytes_per_second);
}

fn merge(total: &mut BTreeMap<String, u64>, one: &BTreeMap<String, u64>) {
    for (name, count) in one {
        let known = total.entry(name.clone()).or_default();
        *known = known.saturating_add(*count);
    }
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
            tasks_ended: [("failed".to_owned(), started)].into(),
            calls_per_second: calls.to_vec(),
            ..Metrics::default()
        };
        let mut total = Metrics::default();
        add(&mut total, &of(2, &[1, 2, 3]));
        add(&mut total, &of(u64::MAX, &[10]));
        assert_eq!(total.tasks_started, u64::MAX);
        assert_eq!(total.tasks_ended["failed"], u64::MAX);
        assert_eq!(total.calls_per_second, [1, 2, 13]);
    }
}

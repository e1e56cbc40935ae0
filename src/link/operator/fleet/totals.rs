//! Adds up the metrics of all places. Numbers from a place are untrusted, so nothing may overflow. Pure.

use std::collections::BTreeMap;

use crate::model::{Histogram, Metrics};

/// Adds the metrics of one place to a total. Limits are specific to each place and are left out; for call durations
/// the figures of the slowest place are kept, because percentiles cannot be added.
pub(super) fn add(total: &mut Metrics, one: &Metrics) {
    // Every field by name: a new one has to say here how places add up.
    let Metrics {
        tool_calls,
        exec_command_items,
        batched_exec_command_items,
        by,
        tasks_live,
        promotions,
        tasks_started,
        tasks_ended,
        tasks_peak,
        output_bytes_in,
        output_chars_sent,
        output_bytes_sent,
        output_bytes_dropped,
        operator_actions,
        input_refused,
        screen_resets,
        tool_ms,
        task_ms,
        wait_ms,
        gauges: _,
        call_ms,
        calls_per_second,
        bytes_per_second,
    } = one;
    for (tool, statuses) in tool_calls {
        merge(total.tool_calls.entry(tool.clone()).or_default(), statuses);
    }
    for (name, more) in by {
        let known = total.by.entry(name.clone()).or_default();
        known.calls = known.calls.saturating_add(more.calls);
        known.commands = known.commands.saturating_add(more.commands);
        known.batched = known.batched.saturating_add(more.batched);
    }
    for (map, more) in [
        (&mut total.tasks_live, tasks_live),
        (&mut total.tasks_ended, tasks_ended),
        (&mut total.operator_actions, operator_actions),
        (&mut total.input_refused, input_refused),
    ] {
        merge(map, more);
    }
    for (count, more) in [
        (&mut total.exec_command_items, exec_command_items),
        (&mut total.batched_exec_command_items, batched_exec_command_items),
        (&mut total.promotions, promotions),
        (&mut total.tasks_started, tasks_started),
        (&mut total.output_bytes_in, output_bytes_in),
        (&mut total.output_chars_sent, output_chars_sent),
        (&mut total.output_bytes_sent, output_bytes_sent),
        (&mut total.output_bytes_dropped, output_bytes_dropped),
        (&mut total.screen_resets, screen_resets),
    ] {
        *count = count.saturating_add(*more);
    }
    // Places had their peaks at different times.
    total.tasks_peak = total.tasks_peak.max(*tasks_peak);
    for (map, more) in
        [(&mut total.tool_ms, tool_ms), (&mut total.task_ms, task_ms), (&mut total.wait_ms, wait_ms)]
    {
        for (name, histogram) in more {
            let known: &mut Histogram = map.entry(name.clone()).or_default();
            known.merge(histogram);
        }
    }
    for (tool, (count, p50, p95, p99)) in call_ms {
        let known = total.call_ms.entry(tool.clone()).or_default();
        *known = (known.0.saturating_add(*count), known.1.max(*p50), known.2.max(*p95), known.3.max(*p99));
    }
    series(&mut total.calls_per_second, calls_per_second);
    series(&mut total.bytes_per_second, bytes_per_second);
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

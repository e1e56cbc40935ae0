//! Counters and the last minute, second by second (contracts 4).

use std::collections::VecDeque;

use super::view::Metrics;

/// Seconds of history.
const HISTORY: usize = 60;

/// The counters of a recording.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) metrics: Metrics,
    calls: VecDeque<u64>,
    bytes: VecDeque<u64>,
    /// Bytes counted up to the last tick.
    bytes_seen: u64,
}

impl Counters {
    pub(super) fn call(&mut self, tool: &str, status: &str, receipt: &str, duration_ms: u64) {
        let by_status = self.metrics.tool_calls.entry(tool.to_owned()).or_default();
        *by_status.entry(status.to_owned()).or_default() += 1;
        self.metrics.output_chars_sent += receipt.chars().count() as u64;
        self.metrics.output_bytes_sent += receipt.len() as u64;
        self.metrics.tool_ms.entry(tool.to_owned()).or_default().add(duration_ms);
    }

    /// Counts a command that has started.
    pub(super) fn executed(&mut self, in_batch: bool) {
        let metrics = &mut self.metrics;
        let executions =
            if in_batch { &mut metrics.batched_exec_command_items } else { &mut metrics.exec_command_items };
        *executions += 1;
    }

    pub(super) fn operator(&mut self, action: &str) {
        *self.metrics.operator_actions.entry(action.to_owned()).or_default() += 1;
    }

    pub(super) fn refused(&mut self, reason: &str) {
        *self.metrics.input_refused.entry(reason.to_owned()).or_default() += 1;
    }

    pub(super) fn started(&mut self, live: usize) {
        self.metrics.tasks_started += 1;
        self.metrics.tasks_peak = self.metrics.tasks_peak.max(live as u64);
    }

    pub(super) fn ended(&mut self, status: &str, lived_ms: u64) {
        *self.metrics.tasks_ended.entry(status.to_owned()).or_default() += 1;
        self.metrics.task_ms.entry(status.to_owned()).or_default().add(lived_ms);
    }

    /// Sets how many tasks live, by status.
    pub(super) fn live(&mut self, statuses: impl Iterator<Item = &'static str>) {
        self.metrics.tasks_live.clear();
        for status in statuses {
            *self.metrics.tasks_live.entry(status.to_owned()).or_default() += 1;
        }
    }

    /// Sets the totals of bytes over all tasks.
    pub(super) fn bytes(&mut self, read: u64, dropped: u64) {
        self.metrics.output_bytes_in = read;
        self.metrics.output_bytes_dropped = dropped;
    }

    /// Closes a second of history; returns whether the history shows anything but zeros.
    pub(super) fn tick(&mut self, calls: u64) -> bool {
        let bytes = self.metrics.output_bytes_in - self.bytes_seen;
        self.bytes_seen = self.metrics.output_bytes_in;
        push(&mut self.calls, calls);
        push(&mut self.bytes, bytes);
        self.metrics.calls_per_second = self.calls.iter().copied().collect();
        self.metrics.bytes_per_second = self.bytes.iter().copied().collect();
        self.calls.iter().chain(&self.bytes).any(|value| *value > 0)
    }
}

fn push(history: &mut VecDeque<u64>, value: u64) {
    if history.len() == HISTORY {
        history.pop_front();
    }
    history.push_back(value);
}

//! Counts what happens, once: for the running runtime and for recordings.

use std::collections::{BTreeMap, VecDeque};

use super::calls::CallRecord;
use super::metrics::Metrics;
use super::view::TaskView;
use crate::envelope::Actor;
use crate::facts::{RejectionReason, TaskEvent, TaskFact};

/// Seconds of history.
const HISTORY: usize = 60;
/// Durations kept of each tool for percentiles.
const DURATIONS_KEPT: usize = 512;
/// The status of a call whose client stopped waiting.
pub(super) const ABANDONED: &str = "abandoned";

/// The counters of a recording.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    pub(super) metrics: Metrics,
    /// How long the recent calls of each tool took.
    durations: BTreeMap<String, VecDeque<u64>>,
    /// Tasks that live.
    live: u64,
    calls: VecDeque<u64>,
    bytes: VecDeque<u64>,
    /// Bytes counted up to the last tick.
    bytes_seen: u64,
}

impl Counters {
    /// Counts a call that was answered or given up (`abandoned`). Only what models see is a tool call: what a person does
    /// is counted by what it does to tasks.
    pub(super) fn call(&mut self, record: &CallRecord, status: &str) {
        let is_answered = status != ABANDONED;
        if is_answered {
            self.took(record);
        }
        if record.actor == Actor::Operator {
            return;
        }
        let (metrics, tool) = (&mut self.metrics, &record.tool);
        *metrics.tool_calls.entry(tool.clone()).or_default().entry(status.to_owned()).or_default() += 1;
        metrics.tool_ms.entry(tool.clone()).or_default().add(record.duration_ms.unwrap_or_default());
        if let Some(receipt) = record.receipt.as_ref().filter(|_| is_answered) {
            metrics.output_chars_sent += receipt.chars().count() as u64;
            metrics.output_bytes_sent += receipt.len() as u64;
        }
    }

    /// Takes how long a call took, also one that is no tool call.
    pub(super) fn took(&mut self, record: &CallRecord) {
        let durations = self.durations.entry(record.tool.clone()).or_default();
        if durations.len() == DURATIONS_KEPT {
            durations.pop_front();
        }
        durations.extend(record.duration_ms);
    }

    /// Counts a task that was asked for.
    pub(super) fn asked(&mut self) {
        self.live += 1;
        self.metrics.tasks_started += 1;
        self.metrics.tasks_peak = self.metrics.tasks_peak.max(self.live);
    }

    /// Counts an event of a task.
    pub(super) fn happened(&mut self, task: Option<&TaskView>, event: &TaskEvent) {
        let metrics = &mut self.metrics;
        match &event.fact {
            TaskFact::Start { .. } => match task.and_then(|task| task.item) {
                Some(_) => metrics.batched_exec_command_items += 1,
                None => metrics.exec_command_items += 1,
            },
            TaskFact::Promoted { .. } => metrics.promotions += 1,
            TaskFact::ScreenReset => metrics.screen_resets += 1,
            TaskFact::Refused(reason) => self.refused(*reason),
            TaskFact::End { .. } => self.live = self.live.saturating_sub(1),
            _ => {}
        }
        // The lease comes with the input that takes it.
        if event.actor == Actor::Operator && event.fact != TaskFact::Lease {
            self.operator(event.fact.word());
        }
    }

    /// Counts a task that has ended and whose log is whole.
    pub(super) fn ended(&mut self, task: &TaskView) {
        let status = task.status.as_str().to_owned();
        *self.metrics.tasks_ended.entry(status.clone()).or_default() += 1;
        self.metrics.task_ms.entry(status).or_default().add(task.lived_ms());
    }

    pub(super) fn operator(&mut self, action: &str) {
        *self.metrics.operator_actions.entry(action.to_owned()).or_default() += 1;
    }

    /// Counts an input that was refused, also one for a task that had ended before.
    pub(super) fn refused(&mut self, reason: RejectionReason) {
        *self.metrics.input_refused.entry(reason.as_str().to_owned()).or_default() += 1;
    }

    /// Counts a wait that is over.
    pub(super) fn waited(&mut self, what: &str, ms: u64) {
        self.metrics.wait_ms.entry(what.to_owned()).or_default().add(ms);
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

    /// Returns the counters with what follows from them.
    pub(super) fn shown(&self) -> Metrics {
        let quantiles = |(tool, spent): (&String, &VecDeque<u64>)| {
            (tool.clone(), quantiles(spent.iter().copied().collect()))
        };
        Metrics { call_ms: self.durations.iter().map(quantiles).collect(), ..self.metrics.clone() }
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

/// Returns count, p50, p95 and p99 of durations.
fn quantiles(mut spent: Vec<u64>) -> (u64, u64, u64, u64) {
    spent.sort_unstable();
    let at = |percent: usize| spent.get((spent.len() * percent).div_ceil(100).max(1) - 1).copied();
    let quantile = |percent| at(percent).unwrap_or_default();
    (spent.len() as u64, quantile(50), quantile(95), quantile(99))
}

fn push(history: &mut VecDeque<u64>, value: u64) {
    if history.len() == HISTORY {
        history.pop_front();
    }
    history.push_back(value);
}

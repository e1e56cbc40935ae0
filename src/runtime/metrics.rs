//! Counters and the last minute, second by second (docs/contract.md#metrics).

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::calls::CallRecord;
use super::gauge::Gauge;
use super::histogram::Histogram;
use super::view::TaskView;
use crate::envelope::Actor;
use crate::facts::{RejectionReason, TaskEvent, TaskFact};

/// Seconds of history.
const HISTORY: usize = 60;
/// Durations kept of each tool for percentiles.
const DURATIONS_KEPT: usize = 512;
/// The status of a call whose client stopped waiting.
pub(super) const ABANDONED: &str = "abandoned";

/// Counters and short histories (docs/contract.md#metrics).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Metrics {
    /// Model-visible calls by tool, then by status `success`, `error` or `abandoned`.
    pub tool_calls: BTreeMap<String, BTreeMap<String, u64>>,
    /// Executions from direct ExecCommand.
    pub exec_command_items: u64,
    /// Executions from batch items.
    pub batched_exec_command_items: u64,
    /// Live tasks, by status.
    pub tasks_live: BTreeMap<String, u64>,
    /// Commands that outlived their call.
    pub promotions: u64,
    /// Tasks ever started.
    pub tasks_started: u64,
    /// Tasks ended, by final status.
    pub tasks_ended: BTreeMap<String, u64>,
    /// Most tasks live at once.
    pub tasks_peak: u64,
    /// Bytes read from tasks.
    pub output_bytes_in: u64,
    /// Characters of receipts sent to models.
    pub output_chars_sent: u64,
    /// Bytes of receipts sent to models.
    pub output_bytes_sent: u64,
    /// Bytes not kept.
    pub output_bytes_dropped: u64,
    /// What the operator did to tasks, by the word of the timeline (`start`, `input`, `stop`, …).
    pub operator_actions: BTreeMap<String, u64>,
    /// Inputs refused, by reason.
    pub input_refused: BTreeMap<String, u64>,
    /// Panics of a terminal parser, each healed from the log.
    pub screen_resets: u64,
    /// From call to answer, by tool.
    pub tool_ms: BTreeMap<String, Histogram>,
    /// From start to end of a task, by final status.
    pub task_ms: BTreeMap<String, Histogram>,
    /// Other waits: `first_byte` from the start of a command to its first byte of output, counted when it ends;
    /// `stop` from a stop to the end of the task.
    #[serde(default)]
    pub wait_ms: BTreeMap<String, Histogram>,
    /// How much of each limit is taken.
    #[serde(default)]
    pub gauges: Vec<Gauge>,
    /// Tool-call durations in ms, by tool: (count, p50, p95, p99) over the recent calls.
    pub call_ms: BTreeMap<String, (u64, u64, u64, u64)>,
    /// Calls in each of the last 60 seconds, oldest first; updated at most once a second.
    pub calls_per_second: Vec<u64>,
    /// Bytes in each of the last 60 seconds, oldest first; updated at most once a second.
    pub bytes_per_second: Vec<u64>,
}

impl Metrics {
    /// Returns all executions: direct ones and batch items.
    #[must_use]
    pub fn shell_commands(&self) -> u64 {
        self.exec_command_items + self.batched_exec_command_items
    }

    /// Returns how many more calls the batch items would have taken one by one. Below zero when batches ran
    /// fewer items than there were batches.
    #[must_use]
    pub fn model_rounds_saved(&self) -> i64 {
        let batches = self.tool_calls.get("ExecCommandBatch").map_or(0, |by_status| by_status.values().sum());
        self.batched_exec_command_items.checked_signed_diff(batches).unwrap_or_default()
    }
}

/// The counters, and what follows from them: what is given to who asks for all of them.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MetricsReport {
    /// All executions: direct ones and batch items.
    pub shell_commands: u64,
    /// Rounds of a model that batches have saved; below zero when they ran less than they were.
    pub model_rounds_saved: i64,
    /// The counters.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl From<Metrics> for MetricsReport {
    fn from(metrics: Metrics) -> Self {
        let (shell_commands, model_rounds_saved) = (metrics.shell_commands(), metrics.model_rounds_saved());
        Self { shell_commands, model_rounds_saved, metrics }
    }
}

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

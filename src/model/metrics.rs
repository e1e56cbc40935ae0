//! Counters and the last minute, second by second (docs/contract.md#metrics).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Gauge, Histogram};

/// Seconds of history.
pub const HISTORY_SECONDS: usize = 60;

/// Counters and short histories (docs/contract.md#metrics).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Metrics {
    /// Calls of agents by tool, then by status `success`, `error` or `abandoned`.
    pub tool_calls: BTreeMap<String, BTreeMap<String, u64>>,
    /// Commands that agents ran one at a time.
    pub exec_command_items: u64,
    /// Commands that agents ran in batches.
    pub batched_exec_command_items: u64,
    /// Calls and commands by who made them: `agent`, `cli`, `operator` or `program`.
    #[serde(default)]
    pub by: BTreeMap<String, Activity>,
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
    /// How much of each limit is used.
    #[serde(default)]
    pub gauges: Vec<Gauge>,
    /// Durations in ms of agents' calls, by tool, and of streams and programs: (count, p50, p95, p99) of the recent ones.
    pub call_ms: BTreeMap<String, (u64, u64, u64, u64)>,
    /// Calls in each of the last 60 seconds, oldest first; updated at most once a second.
    pub calls_per_second: Vec<u64>,
    /// Bytes in each of the last 60 seconds, oldest first; updated at most once a second.
    pub bytes_per_second: Vec<u64>,
}

/// What one kind of caller has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Activity {
    /// Tool calls.
    pub calls: u64,
    /// Commands run, in batches or not.
    pub commands: u64,
    /// Those run in batches.
    #[serde(default)]
    pub batched: u64,
}

impl Metrics {
    /// Returns the number of commands that agents ran: one at a time and in batches.
    #[must_use]
    pub fn shell_commands(&self) -> u64 {
        self.exec_command_items.saturating_add(self.batched_exec_command_items)
    }

    /// Returns how many more calls the model would have needed without batches. Negative if batches ran fewer items
    /// than there were batches.
    #[must_use]
    pub fn model_rounds_saved(&self) -> i64 {
        let batches = self.tool_calls.get("ExecCommandBatch").map_or(0, |by_status| by_status.values().sum());
        self.batched_exec_command_items.checked_signed_diff(batches).unwrap_or_default()
    }
}

/// The counters, and what follows from them: what is given to who asks for all of them.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MetricsReport {
    /// Commands that agents ran: one at a time and in batches.
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

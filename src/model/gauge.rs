//! Gauges of how much of each limit is used, and by which task. Pure.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::millis_between;

use crate::config::Limits;
use crate::model::TaskView;

/// A limit and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gauge {
    /// The limit.
    pub limit: LimitKind,
    /// How much is used: tasks, bytes or milliseconds.
    pub used: u64,
    /// All there is.
    pub cap: u64,
    /// The task that uses it, if each task has its own.
    pub task: Option<String>,
    /// The number of that task.
    pub number: Option<u32>,
    /// Since when it is taken, where time takes it.
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
}

/// What can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LimitKind {
    /// Tasks live at once.
    Tasks,
    /// Bytes after which a task is ended; that of the task that has printed most.
    Output,
    /// Bytes of a stream kept from its start, where output ends no task.
    Kept,
    /// Milliseconds a task may run; that of the task that has used the largest part.
    Wall,
    /// Bytes of all recordings.
    Disk,
}

/// The limits of a runtime that gauges measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    tasks: u64,
    output_bytes: Option<u64>,
    kept_bytes: u64,
    disk_bytes: u64,
}

impl Caps {
    pub(crate) fn of(limits: &Limits) -> Self {
        Self {
            tasks: limits.tasks as u64,
            output_bytes: limits.output_bytes,
            kept_bytes: limits.stream_head_bytes,
            disk_bytes: limits.record.keep_bytes,
        }
    }

    /// Measures the gauges. A limit that applies to nothing (e.g. no task has a timeout) is left out.
    pub(crate) fn measure(&self, tasks: &[Arc<TaskView>], disk_used: u64, now: Timestamp) -> Vec<Gauge> {
        let live: Vec<&Arc<TaskView>> = tasks.iter().filter(|task| !task.status.is_terminal()).collect();
        let of = |limit, used, cap, task: Option<&TaskView>| Gauge {
            limit,
            used,
            cap,
            task: task.map(|task| task.id.to_string()),
            number: task.map(|task| task.number),
            since: None,
        };
        let fullest = live.iter().max_by_key(|task| task.output.bytes).copied();
        let printed = fullest.map_or(0, |task| task.output.bytes);
        let (limit, cap) = match self.output_bytes {
            Some(cap) => (LimitKind::Output, cap),
            None => (LimitKind::Kept, self.kept_bytes),
        };
        let mut gauges = vec![
            of(LimitKind::Tasks, live.len() as u64, self.tasks, None),
            of(limit, printed, cap, fullest.map(|task| &**task)),
        ];
        let timed = live.iter().filter_map(|task| {
            let (cap, since) = (task.timeout_ms?, task.started_at?);
            Some(Gauge { since: Some(since), ..of(LimitKind::Wall, 0, cap, Some(task)) })
        });
        let parts = |gauge: &Gauge| gauge.used_at(now).saturating_mul(10_000) / gauge.cap.max(1);
        gauges.extend(timed.max_by_key(parts).map(|gauge| Gauge { used: gauge.used_at(now), ..gauge }));
        gauges.push(of(LimitKind::Disk, disk_used, self.disk_bytes, None));
        gauges
    }
}

impl Gauge {
    /// Returns how much is used at a given time.
    pub fn used_at(&self, now: Timestamp) -> u64 {
        self.since.map_or(self.used, |since| millis_between(since, now))
    }
}

impl LimitKind {
    /// Returns the limit's name, the same on every surface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

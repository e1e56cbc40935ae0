//! Gauges of how much of each limit is used, and by which task. Pure.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::view::millis_between;
/// A limit and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gauge {
    /// The limit.
    pub limit: LimitKind,
    /// The amount used: tasks, bytes or milliseconds.
    pub used: u64,
    /// The maximum.
    pub cap: u64,
    /// The task that uses it, if each task has its own limit.
    pub task: Option<String>,
    /// The number of that task.
    pub number: Option<u32>,
    /// The time at which its use began, if time uses it up.
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
}

/// A limited resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LimitKind {
    /// Live tasks.
    Tasks,
    /// Maximum output bytes of a task; for the task that has printed most.
    Output,
    /// Bytes kept from the start of a stream, if output ends no task.
    Kept,
    /// Maximum run time of a task in milliseconds; for the task that has used the largest part.
    Wall,
    /// Bytes of all recordings.
    Disk,
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

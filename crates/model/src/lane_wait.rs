//! Why a command waits for its turn in a lane, described in the same words to agents, in the record and in the console.

use serde::{Deserialize, Serialize};

use pilothouse_envelope::TaskId;

/// A command's place in the queue of its lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneWait {
    /// The lane's name.
    pub lane: String,
    /// How many commands before it run.
    pub running: usize,
    /// How many may run at the same time.
    pub slots: usize,
    /// What keeps it from running.
    pub by: LaneObstacle,
}

/// What keeps a command from its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneObstacle {
    /// The next one before it, a task of the same runtime.
    Task {
        task: TaskId,
        /// Its number in this recording.
        number: u32,
        /// Its command in one line, secrets masked.
        cmd: String,
    },
    /// The next one before it, a task of another workspace.
    Elsewhere,
    /// Memory is short: the share of the last ten seconds in which something waited for it, in percent.
    Pressure(u8),
}

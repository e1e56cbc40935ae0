//! Why a command waits for its turn in a lane, described in the same words to agents, in the record and in the console.

use std::fmt;

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

impl LaneWait {
    /// Describes it with another description of the task before it, made from its id, its number and its command.
    pub fn describe(&self, task: impl FnOnce(&TaskId, u32, &str) -> String) -> String {
        let Self { lane, running, slots, by } = self;
        let by = match by {
            LaneObstacle::Task { task: id, number, cmd } => format!("behind {}", task(id, *number, cmd)),
            LaneObstacle::Elsewhere => "behind a task of another workspace".to_owned(),
            LaneObstacle::Pressure(percent) => format!("memory is short (pressure {percent} %)"),
        };
        format!("lane {lane} {running}/{slots}, {by}")
    }
}

/// As a person reads it: `lane build 2/2, behind t07 cargo build`.
impl fmt::Display for LaneWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|_, number, cmd| format!("t{number:02} {cmd}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_in_a_lane_is_told_in_words_and_names_no_task_of_another_workspace() {
        let task = TaskId::from_random([7; 8]);
        let behind = LaneObstacle::Task { task: task.clone(), number: 7, cmd: "cargo build".into() };
        for (by, words) in [
            (behind.clone(), "lane build 2/2, behind t07 cargo build"),
            (LaneObstacle::Elsewhere, "lane build 2/2, behind a task of another workspace"),
            (LaneObstacle::Pressure(12), "lane build 2/2, memory is short (pressure 12 %)"),
        ] {
            let wait = LaneWait { lane: "build".into(), running: 2, slots: 2, by };
            assert_eq!(wait.to_string(), words);
        }
        let wait = LaneWait { lane: "build".into(), running: 2, slots: 2, by: behind };
        let told = wait.describe(|task, _, _| task.to_string());
        assert_eq!(told, format!("lane build 2/2, behind {task}"));
    }
}

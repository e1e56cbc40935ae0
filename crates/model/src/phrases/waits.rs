//! Why a command has not begun: it waits for its turn in a lane, or for the operator.

use std::fmt;

use pilothouse_envelope::TaskId;

use crate::{LaneObstacle, LaneWait, TaskFact, TaskView};

/// Says that a command has begun and not ended.
pub const GOES_ON: &str = "Command has begun and has not ended; it goes on as a task";
/// Says that a command has not begun, because of its lane.
pub const AWAITS_TURN: &str = "Command waits for its turn; nothing has been run";
/// Says that a command has not begun, because of the operator.
pub const AWAITS_OPERATOR: &str = "Command awaits the operator; nothing has been run";

/// Says that a command of an agent's own shell did not run.
pub fn not_run_clause(why: &str) -> String {
    format!("this command was not run: {why}")
}

/// Says that a login profile ended the shell.
pub const NOT_BEGUN: &str =
    "The login profile ended the shell before the command; nothing of the command was run.";

/// Says why a command is held.
pub fn hold_word(is_paused: bool) -> &'static str {
    if is_paused { "agents paused" } else { "needs approval" }
}

/// Says why a command is held, and what its caller must not do.
pub fn hold_sentence(is_paused: bool) -> String {
    let why = if is_paused {
        "has paused new commands of agents"
    } else {
        "wants to approve commands like this one"
    };
    format!("The operator {why}. Do not send it again.")
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
        format!("lane {lane}, {running} of {slots} running, {by}")
    }

    /// Describes it for an agent, which knows tasks by their ids.
    pub fn describe_for_agent(&self) -> String {
        self.describe(|task, _, cmd| format!("{task} {cmd}"))
    }
}

impl TaskView {
    /// Returns its first place in the queue of its lane, if it had to wait.
    pub fn first_wait(&self) -> Option<&LaneWait> {
        self.events.iter().find_map(|event| match &event.fact {
            TaskFact::Queued(wait) => Some(wait),
            _ => None,
        })
    }
}

/// As a person reads it: `lane build, 2 of 2 running, behind t07 cargo build`.
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
            (behind.clone(), "lane build, 2 of 2 running, behind t07 cargo build"),
            (LaneObstacle::Elsewhere, "lane build, 2 of 2 running, behind a task of another workspace"),
            (LaneObstacle::Pressure(12), "lane build, 2 of 2 running, memory is short (pressure 12 %)"),
        ] {
            let wait = LaneWait { lane: "build".into(), running: 2, slots: 2, by };
            assert_eq!(wait.to_string(), words);
        }
        let wait = LaneWait { lane: "build".into(), running: 2, slots: 2, by: behind };
        let told = wait.describe(|task, _, _| task.to_string());
        assert_eq!(told, format!("lane build, 2 of 2 running, behind {task}"));
    }
}

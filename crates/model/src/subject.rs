//! What a request to a runtime concerns.

use serde::{Deserialize, Serialize};

use super::QuestionId;
use pilothouse_envelope::TaskId;

/// What a request concerns. A console of several places finds by it the place that is asked, whatever is asked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The runtime, or the one that a person chose.
    Runtime,
    /// The runtime that the console was opened on, never another one along with it.
    Home,
    /// The pause of agents' calls, of every runtime unless one was chosen.
    Gate,
    Task(TaskId),
    /// Several tasks, of whichever runtimes.
    Tasks(Vec<TaskId>),
    /// A call, by its number.
    Call(u64),
    /// A held call, by its ticket.
    Held(u64),
    Question(QuestionId),
    /// An agent, by its label.
    Agent(String),
}

impl From<TaskId> for Subject {
    fn from(task: TaskId) -> Self {
        Self::Task(task)
    }
}

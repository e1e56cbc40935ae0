//! Task ids and actors: names that are the same everywhere.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const RANDOM_CHARS: usize = 8;

/// The id of a managed task: `task_` and 8 random base-32 characters. Knowing it grants no permission to drive the
/// task (docs/contract.md#task-states).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

/// A string that is not a task id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a task id is `task_` and 8 characters of 0-9 and a-z")]
pub struct InvalidTaskId;

impl TaskId {
    /// Creates an id from 8 random bytes.
    pub fn from_random(random: [u8; RANDOM_CHARS]) -> Self {
        let tail: String = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect();
        Self(format!("task_{tail}"))
    }

    /// Creates an unguessable id.
    pub fn random() -> Self {
        let mut random = [0; RANDOM_CHARS];
        // Bytes stay unfilled only early during boot; creating the task's folder still rules out duplicates.
        let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
        Self::from_random(random)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        let tail = text.strip_prefix("task_").ok_or(InvalidTaskId)?;
        let plain = tail.bytes().all(|byte| ALPHABET.contains(&byte));
        if tail.len() == RANDOM_CHARS && plain { Ok(Self(text.to_owned())) } else { Err(InvalidTaskId) }
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidTaskId;

    fn try_from(text: String) -> Result<Self, InvalidTaskId> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who acts (docs/contract.md#actors-and-the-lease). Written `agent:<label>`, `cli`, `operator` or `system` everywhere.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, strum::Display,
)]
#[serde(from = "String", into = "String")]
#[strum(serialize_all = "snake_case")]
pub enum Actor {
    /// An agent, by its label: `--label`, else the MCP client's name.
    #[strum(to_string = "agent:{0}")]
    Agent(String),
    /// A command line or script.
    Cli,
    /// The person at a console.
    Operator,
    /// Pilothouse itself: timeouts, shutdown.
    System,
}

impl Actor {
    /// Returns whether this actor may type into or stop a task that `owner` started, when tasks are not shared.
    pub fn may_drive(&self, owner: &Self) -> bool {
        match self {
            Self::Agent(_) => self == owner,
            Self::Cli | Self::Operator | Self::System => true,
        }
    }

    /// Returns whether this is the agent with a label.
    pub fn is_agent(&self, label: &str) -> bool {
        matches!(self, Self::Agent(own) if own == label)
    }

    /// Returns the three-letter abbreviation used in the console's lists: `you`, `agt`, `cli`, `sys`.
    pub fn short(&self) -> &'static str {
        match self {
            Self::Agent(_) => "agt",
            Self::Cli => "cli",
            Self::Operator => "you",
            Self::System => "sys",
        }
    }
}

impl From<String> for Actor {
    fn from(text: String) -> Self {
        match text.as_str() {
            "cli" => Self::Cli,
            "operator" => Self::Operator,
            "system" => Self::System,
            other => Self::Agent(other.strip_prefix("agent:").unwrap_or(other).to_owned()),
        }
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_reads_back_and_a_path_is_refused() {
        let id = TaskId::from_random([0, 31, 32, 255, 7, 8, 9, 10]);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for bad in ["", "task_", "task_short", "../../x", "task_0000000!", "TASK_00000000"] {
            assert_eq!(bad.parse::<TaskId>(), Err(InvalidTaskId), "{bad}");
        }
    }

    #[test]
    fn an_agent_drives_only_its_own_tasks() {
        let claude = Actor::Agent("claude".into());
        let codex = Actor::Agent("codex".into());
        assert!(claude.may_drive(&claude) && !claude.may_drive(&codex));
        assert!(Actor::Operator.may_drive(&codex) && Actor::Cli.may_drive(&codex));
    }
}

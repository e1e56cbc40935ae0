//! The effects the engine needs: running a command, asking a question, reporting events. A single trait, so that the
//! engine can be tested without a process or a person.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::envelope::TaskId;
use crate::model::NewQuestion;
use crate::prose::engine::record::command_result::CommandResult;
use crate::prose::engine::record::decision::RecordedDecision;
use crate::runtime::PendingWrite;

/// The effects of an execution.
pub trait Effects: Send + Sync {
    /// Runs a command to its end; `cancel` stops it early. On return, nothing of it is left running.
    fn exec(
        &self,
        order: CommandSpec,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<CommandResult, NoEffect>> + Send;

    /// Returns an id for the next command's task.
    fn next_id(&self) -> TaskId {
        TaskId::random()
    }

    /// Asks a person or an agent that is present. Dropping the future withdraws the question.
    fn ask(&self, asking: NewQuestion) -> impl Future<Output = Result<RecordedDecision, NoEffect>> + Send;

    /// Returns who is present to answer now.
    fn present(&self) -> Audience;

    /// Reports an event to those who follow the run.
    fn tell(&self, event: RunEvent) -> impl Future<Output = ()> + Send;

    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// A command to run.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// The id of its task.
    pub id: TaskId,
    pub command: String,
    /// The directory in which it starts.
    pub cwd: PathBuf,
    pub timeout: Duration,
    /// Its position in the program, for display.
    pub place: String,
    /// Variables in addition to those it inherits.
    pub variables: Vec<(String, String)>,
    /// How many characters of standard output are kept.
    pub kept: usize,
    /// The journal row that it has begun; the command must do nothing before the row is on disk.
    pub begun: PendingWrite,
}

/// Why an effect has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoEffect {
    /// It was cancelled, or the runtime is shutting down.
    Cancelled,
    /// A person denied the command, or the question cannot be asked.
    Refused(String),
}

/// Who is present to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Audience {
    /// A person at a console.
    pub operator: bool,
    pub agent: bool,
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// When.
    pub at: Timestamp,
    /// What: `begin`, `exec`, `ran`, `bind`, `mark`, `ask`, `answer`, `warn`, `end`.
    pub what: String,
    /// The statement's number, e.g. `2a`.
    pub number: String,
    pub line: u32,
    /// What there is to say, on one line.
    pub text: String,
    /// Whether it went well, where that is a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// More, over several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

//! What a tool consists of: each implements [`Verb`], and the table lists them.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::budget::Room;
use super::cut::{Begun, Cut};
use super::errors::task_not_found;
use super::receipt::Receipt;
use super::{input, schema};
use crate::envelope::{Actor, Envelope, TaskId, ToolError};
use crate::journal::Durability;
use crate::runtime::{Error, Handle, TaskView};

/// Who calls, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The actor on record.
    pub actor: Actor,
    /// The directory a command starts in unless the call names another.
    pub cwd: PathBuf,
    /// What its client hands on of a receipt.
    pub room: Room,
    /// The number of its call, once that is on record.
    pub begun: Begun,
}

impl Caller {
    /// Returns a caller of which no more is known.
    #[must_use]
    pub fn new(actor: Actor, cwd: impl Into<PathBuf>) -> Self {
        Self { actor, cwd: cwd.into(), room: Room::default(), begun: Begun::default() }
    }
}

/// What a client may assume about a tool before calling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or end things that cannot be restored.
    pub destructive: bool,
    /// Calling it twice has the same effect as calling it once.
    pub idempotent: bool,
    /// It reaches beyond Pilothouse.
    pub open_world: bool,
}

impl Hints {
    /// The hints of a tool that only reads.
    pub(super) const READS: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// The hints of a tool that runs commands or answers for somebody: anything may follow.
    pub(super) const ACTS: Self =
        Self { read_only: false, destructive: true, idempotent: false, open_world: true };
}

/// What a running tool has access to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) runtime: &'a Handle,
    pub(super) caller: &'a Caller,
    pub(super) call: u64,
    pub(super) cut: &'a Cut,
}

impl Context<'_> {
    /// Returns the wall-clock time, for the durations in an answer.
    pub(super) fn now(&self) -> Timestamp {
        self.runtime.clock().now().wall
    }

    /// Finds a task by the id a caller gave.
    pub(super) async fn task(&self, id: &str) -> Result<Arc<TaskView>, ToolError> {
        let Ok(known) = id.parse() else { return Err(task_not_found(id)) };
        self.runtime.find(&known).await.ok_or_else(|| task_not_found(id))
    }

    /// Finds a task that the caller may type into or stop.
    pub(super) async fn own_task(&self, id: &str) -> Result<Arc<TaskView>, ToolError> {
        let task = self.task(id).await?;
        if self.runtime.shares_tasks() || self.caller.actor.may_drive(&task.started_by) {
            return Ok(task);
        }
        Err(Error::NotOwner { id: task.id.clone(), owner: task.started_by.clone() }.into())
    }
}

/// What a tool hands back: the envelope, and the task it was about.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) envelope: Envelope,
    pub(super) task: Option<TaskId>,
}

/// One tool.
pub(super) trait Verb: Sized + 'static {
    /// Its public name.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// Teaches a model when to use it.
    const DESCRIPTION: &'static str;
    /// What a client may assume about it.
    const HINTS: Hints;
    /// When its call must be on disk. A call that starts commands needs no more than the default: the row of the
    /// start follows it and is synced before anything runs.
    const DURABILITY: Durability = Durability::Written;
    /// Its command line; none where others serve the command line.
    const CLI: &'static [&'static str];
    /// Agents are shown it. A client's tool search may return no more than eight.
    const IS_LISTED: bool = true;
    /// Other names for fields: (other, real).
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// Numbers that are taken for the nearest allowed one: (field, least, most).
    const CLAMPED: &'static [(&'static str, u64, u64)] = &[];
    /// Example inputs as JSON: (what it does, input).
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    /// What it takes.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it answers.
    type Result: Serialize + DeserializeOwned + JsonSchema;

    /// Reads its input.
    fn parse(given: Value) -> Result<Self::Input, ToolError> {
        input::read(Self::NAME, schema::known_input::<Self::Input>(), Self::ALIASES, given)
    }

    /// Says what of an input is taken for something else than it says, a sentence each.
    fn taken_otherwise(given: &Value) -> Vec<String> {
        input::taken_otherwise(given, Self::ALIASES, Self::CLAMPED)
    }

    /// Checks what the schema cannot express, such as values that exclude each other.
    fn check(_input: Self::Input) -> Result<(), ToolError> {
        Ok(())
    }

    /// Runs it.
    fn run(cx: Context<'_>, input: Self::Input) -> impl Future<Output = Result<Done, ToolError>> + Send;

    /// Summarises the result in one line; never contains output.
    fn summary(result: &Self::Result) -> String;

    /// Renders the result for a model.
    fn receipt(result: &Self::Result) -> Receipt;

    /// Wraps a result in its envelope.
    fn envelope(result: &Self::Result) -> Envelope {
        Envelope::success(Self::NAME, &Self::summary(result), result)
    }
}

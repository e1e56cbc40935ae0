//! The parts of a tool: each tool implements [`Verb`], and the table lists them.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::budget::Room;
use super::early_end::{CallNumber, CutHandle};
use super::plan::CallPlan;
use super::receipt::Receipt;
use super::{input, schema};
use crate::envelope::{Actor, Envelope, TaskId, ToolError};
use crate::journal::Durability;
use crate::model::phrases::task_not_found;
use crate::model::{Error, TaskView};
use crate::runtime::Handle;

/// The caller and its working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The recorded actor.
    pub actor: Actor,
    /// The directory a command starts in unless the call names another.
    pub cwd: PathBuf,
    /// How much of a receipt its client passes on.
    pub room: Room,
    /// The sequence number of its call, once recorded.
    pub begun: CallNumber,
}

impl Caller {
    /// Returns a caller about which nothing else is known.
    pub fn new(actor: Actor, cwd: impl Into<PathBuf>) -> Self {
        Self { actor, cwd: cwd.into(), room: Room::default(), begun: CallNumber::default() }
    }
}

/// What a client may assume about a tool before calling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether it may change or end things that cannot be restored.
    pub destructive: bool,
    /// Whether calling it twice has the same effect as calling it once.
    pub idempotent: bool,
    /// Whether it reaches beyond Pilothouse.
    pub open_world: bool,
}

impl Hints {
    /// The hints of a tool that only reads.
    pub(super) const READS: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// The hints of a tool that runs commands or answers for someone: any effect is possible.
    pub(super) const ACTS: Self =
        Self { read_only: false, destructive: true, idempotent: false, open_world: true };
}

/// What a running tool has access to.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolContext<'a> {
    pub(super) runtime: &'a Handle,
    pub(super) caller: &'a Caller,
    pub(super) call: u64,
    pub(super) cut: &'a CutHandle,
}

impl ToolContext<'_> {
    /// Returns the current wall-clock time, for the durations in an answer.
    pub(super) fn now(&self) -> Timestamp {
        self.runtime.clock().now().wall
    }

    /// Finds a task by the id that a caller gave.
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

/// What a tool returns: the envelope, and the task it was about.
#[derive(Debug)]
pub(super) struct ToolOutcome {
    pub(super) envelope: Envelope,
    pub(super) task: Option<TaskId>,
}

/// One tool.
pub(super) trait Verb: Sized + 'static {
    /// Its public name.
    const NAME: &'static str;
    /// Its display name.
    const TITLE: &'static str;
    /// Tells a model when to use it.
    const DESCRIPTION: &'static str;
    /// What a client may assume about it.
    const HINTS: Hints;
    /// When its call must be on disk. A call that starts commands needs no more than the default: the row that
    /// records the start follows it and is synced before anything runs.
    const DURABILITY: Durability = Durability::Written;
    /// Its command line; empty if other tools cover the command line.
    const CLI: &'static [&'static str];
    /// Whether it is listed to agents. A client's tool search may return no more than eight tools.
    const IS_LISTED: bool = true;
    /// Aliases of fields: (alias, real).
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// Numbers that are clamped to the allowed range: (field, minimum, maximum).
    const CLAMPED: &'static [(&'static str, u64, u64)] = &[];
    /// Example inputs as JSON: (description, input).
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    type Result: Serialize + DeserializeOwned + JsonSchema;

    fn parse(given: Value) -> Result<Self::Input, ToolError> {
        input::read(Self::NAME, schema::known_input::<Self::Input>(), Self::ALIASES, given)
    }

    /// Returns a sentence for each part of an input that is interpreted differently from how it was given.
    fn taken_otherwise(given: &Value, room: Room) -> Vec<String> {
        input::taken_otherwise(given, Self::ALIASES, Self::CLAMPED, room)
    }

    /// Checks what the schema cannot express, such as mutually exclusive values.
    fn check(_input: Self::Input) -> Result<(), ToolError> {
        Ok(())
    }

    /// Returns the commands that it would run.
    ///
    /// # Errors
    /// When the call would be refused for its input.
    fn plan(_input: Self::Input) -> Result<CallPlan, ToolError> {
        Ok(CallPlan::default())
    }

    /// Runs the tool.
    fn run(
        cx: ToolContext<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<ToolOutcome, ToolError>> + Send;

    /// Summarises the result in one line; never contains output.
    fn summary(result: &Self::Result) -> String;

    /// Renders the result for a model.
    fn receipt(result: &Self::Result) -> Receipt;

    /// Wraps a result in its envelope.
    fn envelope(result: &Self::Result) -> Envelope {
        Envelope::success(Self::NAME, &Self::summary(result), result)
    }
}

//! What a tool consists of. Each tool fills this in; the table lists who did.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::errors::task_not_found;
use super::input;
use super::receipt::Receipt;
use super::table::Hints;
use crate::clock::Clock;
use crate::envelope::{Actor, Envelope, TaskId, ToolError};
use crate::runtime::{Error, Handle, TaskView};

/// Who calls, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The actor on record.
    pub actor: Actor,
    /// The directory a command starts in unless the call names another.
    pub cwd: PathBuf,
}

/// What a tool has at hand while it runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) runtime: &'a Handle,
    pub(super) caller: &'a Caller,
    pub(super) call: u64,
}

impl Context<'_> {
    /// Returns the time for durations an answer tells.
    pub(super) fn now(&self) -> Timestamp {
        Clock::start().now().wall
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
    /// Public name.
    const NAME: &'static str;
    /// Name for people.
    const TITLE: &'static str;
    /// Teaches when to use it.
    const DESCRIPTION: &'static str;
    /// What a client may assume.
    const HINTS: Hints;
    /// Its command line.
    const CLI: &'static [&'static str];
    /// Other names a field is known by: (other, real).
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// Inputs as JSON that a reader may start from: (what it does, input).
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    /// What it takes.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// What it answers.
    type Result: Serialize + DeserializeOwned + JsonSchema;

    /// Reads its input.
    fn parse(given: Value) -> Result<Self::Input, ToolError> {
        input::parse::<Self>(given)
    }

    /// Tells what the schema cannot: values that do not go together.
    fn check(_input: Self::Input) -> Result<(), ToolError> {
        Ok(())
    }

    /// Does it.
    fn run(cx: Context<'_>, input: Self::Input) -> impl Future<Output = Result<Done, ToolError>> + Send;

    /// Says in one line what came of it; never output.
    fn summary(result: &Self::Result) -> String;

    /// Says it to a model.
    fn receipt(result: &Self::Result) -> Receipt;

    /// Wraps a result.
    fn envelope(result: &Self::Result) -> Envelope {
        Envelope::success(Self::NAME, &Self::summary(result), result)
    }
}

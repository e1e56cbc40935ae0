//! `task undo`: what differs since one command began is put back, if all of it is still as the command left it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::Code;
use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;
use crate::envelope::TaskId;
use crate::model::UndoReport;

pub(super) struct TaskUndo;

/// Which task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskUndoInput {
    /// `task_…`, of a command that has ended.
    task_id: TaskId,
}

/// What was undone.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskUndone {
    /// The task.
    task_id: TaskId,
    /// A line for each file: `put back a`, `remove b`.
    files: Vec<String>,
}

impl LocalCommand for TaskUndo {
    const PATH: &'static str = "task.undo";
    const ABOUT: &'static str = "Put back the files that differ since a command began";
    const DANGER: Danger = Danger::Destructive;
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "See it with --dry-run first", input: r#"{"task_id":"task_4k2m9x7q"}"# }];

    type Input = TaskUndoInput;
    type Output = TaskUndone;

    async fn run(cx: &mut CommandContext, input: TaskUndoInput) -> Result<TaskUndone, Failure> {
        let report = allowed(cx.undo(&input.task_id, false).await?)?;
        Ok(TaskUndone { task_id: input.task_id, files: report.steps })
    }

    async fn dry_run(cx: &mut CommandContext, input: TaskUndoInput) -> Result<Value, Failure> {
        let report = allowed(cx.undo(&input.task_id, true).await?)?;
        Ok(
            json!({"effect": "would_undo", "task_id": input.task_id, "files": report.steps, "limits": UndoReport::LIMITS}),
        )
    }

    fn text(output: &TaskUndone) -> String {
        if output.files.is_empty() {
            return "nothing to do: all is as before it".to_owned();
        }
        output.files.join("\n")
    }
}

/// Refuses as a whole what cannot be undone as a whole.
fn allowed(report: UndoReport) -> Result<UndoReport, Failure> {
    match report.refused.is_empty() {
        true => Ok(report),
        false => Err(Failure::new(Code::Precondition, "It cannot be undone; nothing was touched.")
            .detail(report.refused.join("\n"))),
    }
}

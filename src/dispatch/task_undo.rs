//! `task undo`: what differs since one command began is put back, if all of it is still as the command left it; or what an
//! undo has taken is brought back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::Code;
use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;
use crate::envelope::TaskId;
use crate::model::{UndoReport, UndoRequest};

pub(super) struct TaskUndo;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskUndoInput {
    /// Id of a command that has ended, `task_…`.
    task_id: TaskId,
    /// Restore the changes that an undo removed.
    #[serde(default)]
    redo: bool,
}

/// The result of an undo.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskUndone {
    /// The task.
    task_id: TaskId,
    /// A line for each file: `put back a`, `remove b`.
    files: Vec<String>,
    /// Tasks that were undone together, if there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    together: Vec<TaskId>,
    /// The changes that `redo` would make, if nothing was left to undo.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redo: Vec<String>,
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
        let report = ask_runtime(cx, &input, false).await?;
        let UndoReport { steps: files, together, redo, .. } = report;
        Ok(TaskUndone { task_id: input.task_id, files, together, redo })
    }

    async fn dry_run(cx: &mut CommandContext, input: TaskUndoInput) -> Result<Value, Failure> {
        let report = ask_runtime(cx, &input, true).await?;
        let effect = if input.redo { "would_redo" } else { "would_undo" };
        let mut told = json!({"effect": effect, "task_id": input.task_id, "files": report.steps, "limits": UndoReport::LIMITS});
        if !report.together.is_empty() {
            told["together"] = json!(report.together);
        }
        if !report.redo.is_empty() {
            told["redo"] = json!(report.redo);
        }
        Ok(told)
    }

    fn text(output: &TaskUndone) -> String {
        let together = output.together.iter().map(|task| format!("{task} is undone with it"));
        if !output.files.is_empty() {
            let others = together.filter(|line| !line.starts_with(output.task_id.as_str()));
            return output.files.iter().cloned().chain(others).collect::<Vec<_>>().join("\n");
        }
        match output.redo.is_empty() {
            true => "nothing to do".to_owned(),
            false => format!(
                "nothing to do: all is as before it\nWith --redo, what it left comes back:\n{}",
                output.redo.join("\n")
            ),
        }
    }
}

/// Asks the runtime. What cannot be done as a whole is refused as a whole.
async fn ask_runtime(
    cx: &mut CommandContext,
    input: &TaskUndoInput,
    is_dry: bool,
) -> Result<UndoReport, Failure> {
    let request = UndoRequest { task: input.task_id.clone(), is_redo: input.redo, is_dry };
    let report = cx.undo(request).await?;
    match report.refused.is_empty() {
        true => Ok(report),
        false => Err(Failure::new(Code::Precondition, "It cannot be undone; nothing was touched.")
            .detail(report.refused.join("\n"))),
    }
}

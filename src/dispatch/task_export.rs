//! `task export`: a task's output as text, a page, a picture or a playable recording; from any recording, and even
//! while the task runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::Code;
use super::command::{Example, LocalCommand};
use super::context::CommandContext;
use super::forms::PlainDefault;
use super::recording;
use super::response::Failure;
use crate::envelope::TaskId;
use crate::model::TaskEvent;
use crate::runtime::past::Recording;
use crate::runtime::{ExportForm, OutputExport};
use crate::terminal::Palette;

pub(super) struct TaskExport;

/// The task and the format.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskExportInput {
    /// Id of the task.
    task_id: String,
    /// The format to export to.
    #[serde(default, rename = "as")]
    form: ExportForm,
    /// The task's recording: `latest`, a name, or the beginning of a name. Default: the newest of the workspace.
    #[serde(default)]
    recording: Option<String>,
    /// Export only this many rows from the end, for text and pages.
    #[serde(default = "rows")]
    rows: u64,
    /// Use dark text on a light background, for pages and pictures.
    #[serde(default)]
    light: bool,
}

fn rows() -> u64 {
    OutputExport::ROWS
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskExportOutput {
    /// The recording.
    recording: String,
    /// The task.
    task_id: String,
    /// Its format.
    #[serde(rename = "as")]
    form: ExportForm,
    /// The exported output.
    content: String,
}

impl LocalCommand for TaskExport {
    const PATH: &'static str = "task.export";
    const IS_DATA: bool = true;
    const PASTED: PlainDefault = PlainDefault::Always;
    const ABOUT: &'static str = "Print a task's output as text, HTML, SVG or a recording that plays";
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "The text", input: r#"{"task_id":"task_4k2m9x7q"}"# },
        Example { about: "A recording for asciinema", input: r#"{"task_id":"task_4k2m9x7q","as":"cast"}"# },
    ];

    type Input = TaskExportInput;
    type Output = TaskExportOutput;

    async fn run(cx: &mut CommandContext, input: TaskExportInput) -> Result<TaskExportOutput, Failure> {
        let listed = recording::find_or_newest(cx, input.recording.as_deref())?;
        let recording = recording::read(&listed).await?;
        let id = input.task_id.parse().ok().filter(|id| recording.task(id).is_some());
        let Some(id) = id else {
            return Err(Failure::new(Code::NotFound, "No task of that recording has that id.")
                .with("recording", listed.name)
                .with("task_id", input.task_id)
                .fix(
                    "`pilothouse audit show latest` lists the tasks of a recording, `pilothouse audit list` the recordings",
                ));
        };
        let (form, rows) = (input.form, input.rows);
        let palette = if input.light { Palette::LIGHT } else { Palette::DARK };
        let made = tokio::task::spawn_blocking(move || make(&recording, &id, form, rows, palette)).await;
        let content = match made {
            Ok(made) => made.map_err(|error| Failure::internal(&error))?,
            Err(error) => return Err(Failure::internal(&error)),
        };
        Ok(TaskExportOutput { recording: listed.name, task_id: input.task_id, form, content })
    }

    fn text(output: &TaskExportOutput) -> String {
        output.content.trim_end_matches('\n').to_owned()
    }
}

fn make(
    recording: &Recording,
    id: &TaskId,
    form: ExportForm,
    rows: u64,
    palette: Palette,
) -> std::io::Result<String> {
    let task = recording.task(id).ok_or(std::io::ErrorKind::NotFound)?;
    let events: Vec<TaskEvent> =
        recording.events.iter().filter(|event| event.task == *id).map(|event| event.event.clone()).collect();
    OutputExport { task, events: &events, typed: typed_texts(recording, id), rows, palette }.make(form)
}

/// Returns the texts that callers typed into a task and that it accepted.
fn typed_texts(recording: &Recording, id: &TaskId) -> Vec<String> {
    let records = recording.calls.values().map(|call| &call.record);
    records
        .filter(|record| record.input["task_id"] == id.as_str())
        .filter_map(|record| record.typed_text())
        .collect()
}

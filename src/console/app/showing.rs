//! What of the output of commands an answer shows: which streams, and what of them was sent.

use std::sync::Arc;

use serde_json::Value;

use crate::envelope::TaskId;
use crate::runtime::{CallRecord, Stream, TaskView};
use crate::tools::Cursor;
use crate::tools::exec_command_batch::{SentItem, sent_of_batch};

/// A command that an answer shows something of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What it is called among others: `[2] wc -l src/run.rs`. Nothing when it is the only one.
    pub name: String,
    /// The task whose log has all of it, or why there is none.
    pub task: Result<TaskId, &'static str>,
    /// What of it was sent.
    pub showings: Vec<Showing>,
}

/// A stream that an answer shows a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Showing {
    /// The stream.
    pub stream: Stream,
    /// What of it was sent; nothing when it was blank.
    pub sent: Option<String>,
    /// Something in the middle was left out.
    pub is_cut: bool,
    /// Where the reading began in the log.
    pub from: u64,
    /// Where it ended, if that is on record.
    pub to: Option<u64>,
}

/// Returns what an answer shows of the output of its command, or of those of its batch.
///
/// # Errors
/// Why nothing can be told of it.
pub fn shown(
    record: &CallRecord,
    task: Option<&TaskId>,
    tasks: &[Arc<TaskView>],
) -> Result<Vec<Shown>, &'static str> {
    match (record.tool.as_str(), task) {
        ("ExecCommandBatch", _) => of_batch(record, tasks),
        (_, Some(task)) if tasks.iter().all(|known| known.id != *task) => {
            Err("that task is no longer on the list")
        }
        (_, Some(task)) => {
            let showings = showings(record)?;
            Ok(vec![Shown { name: String::new(), task: Ok(task.clone()), showings }])
        }
        (_, None) => Err("this answer shows no output of a task"),
    }
}

/// A batch: what its receipt shows of each item.
fn of_batch(record: &CallRecord, tasks: &[Arc<TaskView>]) -> Result<Vec<Shown>, &'static str> {
    let result = record.envelope.as_ref().and_then(|envelope| envelope.get("result"));
    let result = result.ok_or("the call is not answered yet")?;
    let items = sent_of_batch(result).ok_or("this answer shows no output of a task")?;
    let shown = |item: SentItem| {
        let is_it = |task: &&Arc<TaskView>| {
            task.call == record.seq && task.item.is_some_and(|at| at.index == item.index)
        };
        let task = match tasks.iter().find(is_it) {
            Some(task) if task.started_at.is_some() => Ok(task.id.clone()),
            None if item.has_run => Err("it is no longer on the list"),
            _ => Err("it was not run"),
        };
        let showing = |stream, sent| Showing { stream, sent, is_cut: item.is_cut, from: 0, to: None };
        let showings =
            vec![showing(Stream::Stdout, item.stdout.clone()), showing(Stream::Stderr, item.stderr.clone())];
        Shown { name: format!("[{}] {}", item.index, item.cmd), task, showings }
    };
    Ok(items.into_iter().map(shown).collect())
}

/// Returns the streams that an answer about one task shows a part of.
fn showings(record: &CallRecord) -> Result<Vec<Showing>, &'static str> {
    let Some(result) = record.envelope.as_ref().and_then(|envelope| envelope.get("result")) else {
        return Err("the call is not answered yet");
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let shown = |stream, sent: &Value, is_cut: &Value| Showing {
        stream,
        sent: text(sent),
        is_cut: is_cut == true,
        from: 0,
        to: None,
    };
    match (record.tool.as_str(), result["disposition"].as_str()) {
        ("TaskOutput", _) if result["task"]["view"] == "screen" => {
            Err("it was shown the screen, not the transcript: read the receipt")
        }
        ("TaskOutput", _) if result["task"].is_object() => {
            let task = &result["task"];
            let cursor = |value: &Value| value.as_str()?.parse().ok().map(Cursor::position);
            let from = cursor(&record.input["since"]).unwrap_or(0);
            let to = cursor(&task["next_cursor"]);
            let showing = shown(Stream::Merged, &task["output_preview"], &task["output_truncated"]);
            Ok(vec![Showing { from, to, ..showing }])
        }
        ("ExecCommand", Some("promoted_to_task")) => Ok(vec![shown(
            Stream::Merged,
            &result["initial_output_preview"],
            &result["initial_output_truncated"],
        )]),
        ("ExecCommand", Some("completed")) => Ok(vec![
            shown(Stream::Stdout, &result["stdout_preview"], &result["truncated"]),
            shown(Stream::Stderr, &result["stderr_preview"], &result["truncated"]),
        ]),
        _ => Err("this answer shows no output of a task"),
    }
}

//! Coverage: of which commands an answer showed output, and what was sent of each.

use std::sync::Arc;

use serde_json::Value;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::features::receipts::Receipts;
use crate::console::features::receipts::covered_lines::CoveredLines;
use crate::console::state::{CommandCoverage, CoveredCommand, CoveredStream, Screen, State, alias};
use crate::console::text::reading::ReaderView;
use crate::envelope::TaskId;
use crate::model::calls::SHELL_CALL;
use crate::model::{CallRecord, NativeCall, TaskView};
use crate::runtime::OutputStream;
use crate::terminal::{ByteOrigin, Size, clean};
use crate::tools::OutputCursor;
use crate::tools::exec_command_batch::{SentItem, sent_of_batch};

/// Returns the parts of its command's output, or of its batch's outputs, that an answer shows.
///
/// # Errors
/// Why that is not known.
pub fn covered_commands(
    record: &CallRecord,
    task: Option<&TaskId>,
    tasks: &[Arc<TaskView>],
) -> Result<Vec<CoveredCommand>, &'static str> {
    match (record.tool.as_str(), task) {
        ("ExecCommandBatch", _) => of_batch(record, tasks),
        (_, Some(task)) if tasks.iter().all(|known| known.id != *task) => {
            Err("that task is no longer on the list")
        }
        (_, Some(task)) => {
            let streams = streams(record)?;
            Ok(vec![CoveredCommand { name: String::new(), task: Ok(task.clone()), streams }])
        }
        (_, None) => Err("this answer shows no output of a task"),
    }
}

/// Does the same for a batch: what its receipt shows of each item.
fn of_batch(record: &CallRecord, tasks: &[Arc<TaskView>]) -> Result<Vec<CoveredCommand>, &'static str> {
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
        let stream_shown = |stream, sent| CoveredStream {
            stream,
            sent,
            is_cut: item.is_cut,
            is_native: false,
            from: 0,
            to: None,
        };
        let streams = vec![
            stream_shown(OutputStream::Stdout, item.stdout.clone()),
            stream_shown(OutputStream::Stderr, item.stderr.clone()),
        ];
        CoveredCommand { name: format!("[{}] {}", item.index, item.cmd), task, streams }
    };
    Ok(items.into_iter().map(shown).collect())
}

/// Returns the streams that an answer about a single task shows parts of.
fn streams(record: &CallRecord) -> Result<Vec<CoveredStream>, &'static str> {
    let Some(result) = record.envelope.as_ref().and_then(|envelope| envelope.get("result")) else {
        return Err("the call is not answered yet");
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let shown = |stream, sent: &Value, is_cut: &Value| CoveredStream {
        stream,
        sent: text(sent),
        is_cut: is_cut == true,
        is_native: false,
        from: 0,
        to: None,
    };
    if record.native.as_ref().is_some_and(NativeCall::is_of_script) {
        return Err("it was given to the model's script; what that told the model is not known");
    }
    if let Some(native) = &record.native {
        let given = record.receipt.as_deref().unwrap_or_default();
        // As a transcript, as what the command wrote is.
        let sent = clean(given.as_bytes(), ByteOrigin::Pipe, Size::default());
        let sent = (!sent.trim().is_empty()).then_some(sent);
        let is_cut = native.facts.is_cut || native.facts.left_out > 0;
        let stream = OutputStream::Merged;
        return Ok(vec![CoveredStream { stream, sent, is_cut, is_native: true, from: 0, to: None }]);
    }
    match (record.tool.as_str(), result["disposition"].as_str()) {
        ("TaskOutput", _) if result["task"]["view"] == "screen" => {
            Err("it was shown the screen, not the transcript: read the receipt")
        }
        ("TaskOutput", _) if result["task"]["reading"].is_object() => {
            Err("it was shown single lines by their numbers: read the receipt")
        }
        ("TaskOutput", _) if result["task"].is_object() => {
            let task = &result["task"];
            let cursor = |value: &Value| value.as_str()?.parse().ok().map(OutputCursor::position);
            let from = cursor(&record.input["since"]).unwrap_or(0);
            let to = cursor(&task["next_cursor"]);
            let stream_shown =
                shown(OutputStream::Merged, &task["output_preview"], &task["output_truncated"]);
            Ok(vec![CoveredStream { from, to, ..stream_shown }])
        }
        ("ExecCommand", Some("promoted_to_task")) => Ok(vec![shown(
            OutputStream::Merged,
            &result["initial_output_preview"],
            &result["initial_output_truncated"],
        )]),
        ("ExecCommand", Some("completed")) => Ok(vec![
            shown(OutputStream::Stdout, &result["stdout_preview"], &result["truncated"]),
            shown(OutputStream::Stderr, &result["stderr_preview"], &result["truncated"]),
        ]),
        (SHELL_CALL, _) => Err("its agent has no hook that says what its model was given"),
        _ => Err("this answer shows no output of a task"),
    }
}

impl Receipts {
    /// Requests the coverage of the current answer: for its task, or for the commands of its batch.
    pub(in crate::console) fn ask_for_coverage(&mut self, state: &State) -> Option<FeatureReply> {
        let record = state.shown_record()?;
        let task = state.shown_call().and_then(|call| call.task.clone());
        self.sharing = None;
        Some(match covered_commands(&record, task.as_ref(), &state.view.snapshot.tasks) {
            Ok(shown) => FeatureReply::Do(Effect::Coverage { call: record.seq, shown }),
            Err(why) => FeatureReply::About(why.to_owned(), record.seq),
        })
    }

    /// Returns the coverage of an answer, unless the user has moved on.
    pub(in crate::console) fn coverage(
        &self,
        state: &State,
        call: u64,
        commands: &[CommandCoverage],
    ) -> Option<Result<ReaderView, String>> {
        let shown =
            state.shown_call().filter(|shown| shown.seq == call && state.focus.screen == Screen::Receipts);
        let shown = shown?;
        if let [CommandCoverage { name, streams: Err(why) }] = commands
            && name.is_empty()
        {
            return Some(Err(format!("what the agent saw: {why}")));
        }
        let name = shown.task.as_ref().and_then(|id| state.view.task(id)).map(|task| alias(task));
        let call = state.call_name(call);
        let title = match name {
            Some(name) => format!("{name}: what was given of it in call {call}"),
            None => format!("what was given of its commands in call {call}"),
        };
        let at = self.item_read(state.calls.column).unwrap_or_default();
        let reader = CoveredLines::of(commands).reader(title, state.setup.theme.glyphs);
        Some(Ok(ReaderView { begin: at, ..reader }))
    }
}

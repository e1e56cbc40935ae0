//! TaskInput: types into a running task. A task that does not accept input at the moment is an answer, not an error.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exec_command::YIELD_MS;
use super::preview::OutputCursor;
use super::receipt::Receipt;
use super::task::{QUEUED_STEPS, TaskBrief};
use super::task_output::{OutputRead, OutputRequest, ViewChoice, read};
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::envelope::units::amount;
use crate::envelope::{Envelope, TaskId, ToolError};
use crate::journal::Durability;
use crate::model::TaskStatus;
use crate::model::phrases::{OPEN_LINE, unusable};
use crate::model::{self, InputOutcome, InputTarget, RejectionReason, UnreadInput, Until};
use crate::terminal::{KeyPress, Size};

/// How long a program must print nothing to count as having finished reacting.
const QUIET: Duration = Duration::from_millis(150);
/// How long a program has to read an input before the answer says that it has not.
const READING: Duration = Duration::from_millis(50);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(2);

pub(super) struct TaskInputTool;

/// The task and the input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeRequest {
    /// `task_…` from ExecCommand.
    task_id: String,
    /// Text, sent unchanged: a line needs its own newline.
    input: Option<String>,
    /// Keys with `tty`, after `input`: `C-c`, `M-x`, `Enter` (CR), `Tab`, `Up`, `Space`, or characters.
    #[schemars(length(min = 1))]
    keys: Option<Vec<String>>,
    /// End its input (Ctrl-D).
    eof: Option<bool>,
    /// Resize its terminal.
    resize: Option<Resize>,
    /// Wait for output, up to 30000 ms, and show it. 0: answer at once.
    #[serde(default)]
    yield_time_ms: u64,
}

/// Another size for a terminal.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Resize {
    /// Columns.
    #[schemars(range(min = 2, max = 1000))]
    cols: u16,
    /// Rows.
    #[schemars(range(min = 2, max = 1000))]
    rows: u16,
}

/// Result of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct InputResult {
    /// The task after the call.
    task: TaskBrief,
    /// Whether the task accepted the input.
    accepted_input: bool,
    /// Destination of the input: `stdin` or `tty`.
    input_target: Option<InputTarget>,
    /// Number of bytes written.
    bytes_written: u64,
    /// Bytes of its input that it has not read yet; absent if it has read all of them, or that is unknown.
    #[serde(default, skip_serializing_if = "super::task::is_zero")]
    unread_bytes: u64,
    /// Whether the input ends in a line without a line end, which its terminal does not hand over before it ends.
    #[serde(default, skip_serializing_if = "super::task::is_false")]
    has_open_line: bool,
    /// Reason for a rejection.
    rejection: Option<TypingRejection>,
    /// Output that followed, if the call waited for it and it is not blank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_preview: Option<String>,
    /// Value of `since` for TaskOutput to read the next output; present if the call waited for output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Reason why a task did not accept input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct TypingRejection {
    /// The reason, for programs.
    reason: RejectionReason,
    /// The reason in words, and advice on a retry if that makes sense.
    message: String,
}

/// Says what to do next after a rejection.
fn next_after(reason: RejectionReason, status: TaskStatus) -> &'static str {
    match reason {
        RejectionReason::TaskNotRunning if status == TaskStatus::Queued => QUEUED_STEPS,
        RejectionReason::TaskNotRunning => "TaskOutput to see how it ended.",
        RejectionReason::InputNotEnabled => {
            "run the command with `accepts_input` or `tty` if it must be typed into; TaskStop to end this one."
        }
        RejectionReason::HeldByOperator => {
            "TaskOutput to follow what the operator does; type again when the operator is done."
        }
        RejectionReason::InputBacklogged => "TaskOutput to see what it is doing; type again when it reads.",
        RejectionReason::InputTooLong => "send less at once, or pass the data in a file.",
        RejectionReason::TtyRequired => {
            "run the command with `tty` for `keys` and `resize`; TaskInput with `input` or `eof` if it takes input."
        }
        RejectionReason::InputClosed | RejectionReason::OperatorAnswers => {
            "TaskOutput to read on, TaskStop to end it."
        }
    }
}

/// What is known about an input.
#[derive(Debug, Clone)]
pub struct InputDetails {
    /// What the runtime did.
    pub outcome: InputOutcome,
    /// What the program has not read yet.
    pub unread: UnreadInput,
    /// What the program printed in response, and where to continue reading, if the call waited for that.
    pub reaction: Option<(Option<String>, OutputCursor)>,
}

/// Builds the canonical envelope.
pub fn project(complete: &InputDetails) -> Envelope {
    let InputDetails { outcome, unread, reaction } = complete;
    let (output_preview, next_cursor) = match reaction {
        Some((preview, next)) => (preview.clone(), Some(next.to_string())),
        None => (None, None),
    };
    TaskInputTool::envelope(&InputResult {
        task: TaskBrief::of(&outcome.task),
        accepted_input: outcome.accepted,
        input_target: outcome.target,
        bytes_written: outcome.bytes_written,
        unread_bytes: unread.bytes,
        has_open_line: unread.has_open_line,
        rejection: outcome.rejection.as_ref().map(|rejection| TypingRejection {
            reason: rejection.reason,
            message: rejection.message.clone(),
        }),
        output_preview,
        next_cursor,
    })
}

impl Verb for TaskInputTool {
    const NAME: &'static str = "TaskInput";
    const TITLE: &'static str = "Type into a task";
    const DESCRIPTION: &'static str = "\
Types into a running command (pilothouse task) that has `tty` or `accepts_input`: `input` then `keys`, `eof` or \
`resize`. With `yield_time_ms` the answer shows the output that follows. `accepted_input: false` comes with the reason; at \
`held_by_operator` a person is typing: leave it to them and read on with TaskOutput.";
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("id", "task_id"), ("session_id", "task_id"), ("text", "input"), ("chars", "input")];
    const HINTS: Hints = Hints::ACTS;
    const DURABILITY: Durability = Durability::Synced;
    const CLI: &'static [&'static str] = &["task", "input"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("Answer a question", r#"{"task_id":"task_4k2m9x7q","input":"yes\n"}"#),
        ("Interrupt it as a person would", r#"{"task_id":"task_4k2m9x7q","keys":["C-c"]}"#),
    ];

    type Input = TypeRequest;
    type Result = InputResult;

    fn check(input: TypeRequest) -> Result<(), ToolError> {
        typed_input(input).map(drop)
    }

    async fn run(cx: ToolContext<'_>, input: TypeRequest) -> Result<ToolOutcome, ToolError> {
        let wait = Duration::from_millis(input.yield_time_ms.min(*YIELD_MS.end()));
        let (task_id, typed) = typed_input(input)?;
        let is_size = matches!(typed, model::TypedInput::Resize(_));
        let id = cx.own_task(&task_id).await?.id.clone();
        let before = OutputCursor::at(cx.runtime.output(&id)?.position());
        let mut outcome = cx.runtime.input(&cx.caller.actor, &id, typed).await?;
        let mut reaction = None;
        if outcome.accepted && !wait.is_zero() {
            tokio::select! {
                reacted = wait_for_reaction(cx, &id, before, wait) => reacted?,
                _ = cx.cut.wait_for_cut() => cx.cut.took(),
            }
            outcome.task = cx.task(id.as_str()).await?;
            let asked = OutputRequest {
                since: Some(before),
                view: ViewChoice::Auto,
                budget: cx.caller.room.budget(None),
            };
            let OutputRead { output, next, .. } = read(cx, &id, asked).await?;
            reaction = Some((output.preview.map(|preview| preview.text), next));
        }
        let mut left = UnreadInput::default();
        if outcome.accepted && !is_size {
            match unread(cx, &id).await {
                Some(unread) => left = unread,
                None => outcome.task = cx.task(id.as_str()).await?,
            }
        }
        Ok(ToolOutcome {
            envelope: project(&InputDetails { outcome, unread: left, reaction }),
            task: Some(id),
        })
    }

    fn summary(delivery: &InputResult) -> String {
        let id = &delivery.task.task_id;
        match &delivery.rejection {
            Some(rejection) => format!("input refused: {id} {}", rejection.reason.clause()),
            None => delivery.accepted_phrase(),
        }
    }

    fn receipt(delivery: &InputResult) -> Receipt {
        let task = &delivery.task;
        match &delivery.rejection {
            Some(rejection) => {
                Receipt::new(format!("Input refused: {} {}", task.task_id, rejection.reason.clause()))
                    .line(&rejection.message)
                    .line(format!("It {}.", task.predicate()))
                    .lines(task.notes.lines())
                    .next(next_after(rejection.reason, task.status))
            }
            None => delivery.accepted_receipt(),
        }
    }
}

impl InputResult {
    fn accepted_phrase(&self) -> String {
        let to = &self.task.task_id;
        let unread = UnreadInput { bytes: self.unread_bytes, has_open_line: self.has_open_line };
        let lost = self.task.notes.lost_input.filter(|_| !self.task.notes.lost_earlier);
        let bytes = amount(self.bytes_written, "byte");
        match (unread.bytes, lost) {
            (0, None) => format!("input delivered to {to} ({bytes})"),
            // What became of it is said in a line of its own.
            (0, Some(_)) => format!("input to {to} accepted ({bytes})"),
            _ => format!("input to {to} accepted; {}", unread.clause()),
        }
    }

    fn accepted_receipt(&self) -> Receipt {
        let task = &self.task;
        let phrase = self.accepted_phrase().replacen("input", "Input", 1);
        let open = self.has_open_line.then(|| format!("{OPEN_LINE}."));
        let receipt = Receipt::new(phrase).lines(open);
        let Some(cursor) = &self.next_cursor else {
            return receipt.lines(task.notes.lines()).next("TaskOutput to read how it reacts.");
        };
        let output = self.output_preview.as_deref();
        let output = output.unwrap_or(if task.status.is_terminal() { "(none)" } else { "(none yet)" });
        let receipt = receipt.line(format!("It {}.", task.predicate())).lines(task.notes.lines()).output(
            "Output",
            "output_preview",
            Some(output),
        );
        if task.status.is_terminal() {
            receipt
        } else {
            receipt.next(&format!("TaskOutput with since={cursor} to read on, TaskInput to type more."))
        }
    }
}

/// Accepts exactly one of the four forms of input.
fn typed_input(input: TypeRequest) -> Result<(String, model::TypedInput), ToolError> {
    let refuse = |field, reason: String| Err(unusable(TaskInputTool::NAME, field, reason));
    let eof = input.eof.filter(|eof| *eof);
    let typed = match (input.input, input.keys, eof, input.resize) {
        (Some(text), None, None, None) if text.is_empty() => {
            return refuse("input", "`input` is empty".to_owned());
        }
        (Some(text), None, None, None) => model::TypedInput::Text(text),
        (None, Some(names), None, None) => model::TypedInput::Keys(keys(&names)?),
        (Some(text), Some(names), None, None) => model::TypedInput::TextThenKeys(text, keys(&names)?),
        (None, None, Some(_), None) => model::TypedInput::Eof,
        (None, None, None, Some(Resize { cols, rows })) => {
            model::TypedInput::Resize(Size::nearest(cols, rows))
        }
        _ => {
            return refuse("input", "give one of `input`, `keys` (also both), `eof` and `resize`".to_owned());
        }
    };
    Ok((input.task_id, typed))
}

fn keys(names: &[String]) -> Result<Vec<KeyPress>, ToolError> {
    if names.is_empty() {
        return Err(unusable(TaskInputTool::NAME, "keys", "`keys` is empty"));
    }
    let parse = |name: &String| {
        KeyPress::parse(name).map_err(|error| unusable(TaskInputTool::NAME, "keys", error.to_string()))
    };
    names.iter().map(parse).collect()
}

/// Returns what the program has not read of its input, once it has had a moment to read it. A line that has not ended is
/// not waited for. `None` once it has ended.
async fn unread(cx: ToolContext<'_>, id: &TaskId) -> Option<UnreadInput> {
    let clock = cx.runtime.clock();
    let until = clock.now().mono + READING;
    loop {
        let unread = cx.runtime.unread_input(id)?;
        let now = clock.now().mono;
        if unread.bytes == 0 || unread.has_open_line || now >= until {
            return Some(unread);
        }
        tokio::time::sleep_until(clock.instant((now + LOOK).min(until))).await;
    }
}

/// Waits until the program has reacted and gone quiet, has ended, or the time limit is reached.
async fn wait_for_reaction(
    cx: ToolContext<'_>,
    id: &TaskId,
    before: OutputCursor,
    limit: Duration,
) -> Result<(), ToolError> {
    let clock = cx.runtime.clock();
    let until = clock.now().mono + limit;
    let mut beyond = before.position();
    let mut wait = limit;
    while !wait.is_zero() {
        let printed = cx.runtime.wait(id, Until::Output { beyond }, wait).await?;
        if !printed || cx.task(id.as_str()).await?.status.is_terminal() {
            break;
        }
        beyond = cx.runtime.output(id)?.position();
        wait = QUIET.min(until.saturating_sub(clock.now().mono));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::envelope::ErrorKind;
    use crate::tools::input;

    fn given(fields: Value) -> Result<model::TypedInput, ToolError> {
        typed_input(input::parse::<TaskInputTool>(fields)?).map(|(_, typed)| typed)
    }

    #[test]
    fn one_form_of_input_is_taken_or_text_and_keys_after_it() {
        assert!(
            matches!(given(json!({"task_id": "t", "input": "hi\n"})), Ok(model::TypedInput::Text(text)) if text == "hi\n")
        );
        assert!(
            matches!(given(json!({"task_id": "t", "keys": ["C-c", "Enter"]})), Ok(model::TypedInput::Keys(keys)) if keys.len() == 2)
        );
        assert!(matches!(given(json!({"task_id": "t", "eof": true})), Ok(model::TypedInput::Eof)));
        let size = Size::nearest(80, 24);
        assert!(
            matches!(given(json!({"task_id": "t", "resize": {"cols": 80, "rows": 24}})), Ok(model::TypedInput::Resize(new)) if new == size)
        );
        assert!(given(json!({"task_id": "t", "input": "x", "eof": false})).is_ok());
        let both = given(json!({"task_id": "t", "input": "bob", "keys": ["Enter"]}));
        assert!(
            matches!(both, Ok(model::TypedInput::TextThenKeys(text, keys)) if text == "bob" && keys.len() == 1)
        );
    }

    #[test]
    fn an_input_of_no_form_of_two_forms_or_an_invalid_one_is_refused() {
        let cases = [
            (json!({"task_id": "t"}), "input"),
            (json!({"task_id": "t", "eof": false}), "input"),
            (json!({"task_id": "t", "input": "x", "eof": true}), "input"),
            (json!({"task_id": "t", "keys": ["Up"], "eof": true}), "input"),
            (json!({"task_id": "t", "input": ""}), "input"),
            (json!({"task_id": "t", "keys": []}), "keys"),
            (json!({"task_id": "t", "keys": ["NoSuchKey"]}), "keys"),
            (json!({"task_id": "t", "resize": {"cols": 1, "rows": 24}}), "resize.cols"),
        ];
        for (fields, field) in cases {
            let error = given(fields.clone()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidToolInput);
            assert_eq!(error.details.unwrap()["field"], field, "{fields}");
        }
    }
}

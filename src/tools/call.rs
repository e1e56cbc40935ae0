//! A single call, from recording its start to recording its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::early_end::{CutHandle, CutReason};
use super::table::{self, TOOLS, Tool, render};
use super::verb::{Caller, ToolContext, ToolOutcome};
use crate::config::nearest;
use crate::envelope::{Actor, CallOutcome, Envelope, ErrorKind, SafeText, TaskId, ToolError, one_line};
use crate::journal::Durability;
use crate::model::{InputWait, TaskStatus};
use crate::runtime::{AnswerNotices, Handle};

/// The maximum length of a path in a note, in characters.
const PLACE_CHARS: usize = 300;

/// The answer to a call: the canonical envelope, and the receipt that a model reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallAnswer {
    /// The call's sequence number in the recording.
    pub seq: u64,
    /// The canonical record.
    pub envelope: Envelope,
    /// The receipt rendered from it.
    pub receipt: SafeText,
    /// Whether this is the stored answer to an earlier request with the same idempotency key; nothing was executed.
    #[serde(default)]
    pub repeated: bool,
    /// Why the call was ended early, if it was: the answer is then what had been produced by that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutReason>,
    /// Whether it was ended before a command of it had begun: nothing was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unbegun: bool,
    /// The task that the answer is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

impl CallAnswer {
    /// Returns the envelope's summary, or why the call failed or was refused, and whether that is so.
    pub fn summary(&self) -> (&str, bool) {
        let of = |pointer| self.envelope.result().and_then(|result| result.pointer(pointer));
        match self.envelope.outcome() {
            CallOutcome::Error(error) => (&error.message, true),
            CallOutcome::Success(_) if of("/accepted_input") == Some(&Value::Bool(false)) => {
                let why = of("/rejection/message").and_then(Value::as_str);
                (why.unwrap_or(self.envelope.summary_text()), true)
            }
            CallOutcome::Success(_) => (self.envelope.summary_text(), false),
        }
    }

    /// Returns the task that the call has started and that outlives it, if there is one.
    pub fn started_task(&self) -> Option<TaskId> {
        let id = self.envelope.result()?.pointer("/task_handle/task_id")?.as_str()?;
        id.parse().ok().filter(|_| self.envelope.tool_name() == "ExecCommand")
    }
}

/// Calls a tool. The call is recorded before anything is executed. Dropping the future stops a command that its call
/// is still waiting for; for any other tool it only stops the waiting.
pub async fn call(runtime: &Handle, caller: &Caller, name: &str, input: Value) -> CallAnswer {
    call_until(runtime, caller, name, input, &CutHandle::default()).await
}

/// Like [`call`], but when `cut` is triggered, ends a command that the call is still waiting for and answers with its
/// outcome.
pub(super) async fn call_until(
    runtime: &Handle,
    caller: &Caller,
    name: &str,
    input: Value,
    cut: &CutHandle,
) -> CallAnswer {
    let (answer, mut notices) = answer_call(runtime, caller, name, input, None, cut).await;
    AnswerNotices::wait_for_record(&mut notices).await;
    if let Some(notices) = notices {
        notices.mark_delivered();
    }
    answer
}

/// Like [`call`], but returns the notices that accompany an agent's answer. The answer may be written once it is
/// [recorded](AnswerNotices::wait_for_record); the notices count as delivered when they are marked as given after that. `taken` is a sentence about how the
/// input was given, if there is something to tell.
pub async fn call_with_notices(
    runtime: &Handle,
    caller: &Caller,
    name: &str,
    input: Value,
    taken: Option<String>,
) -> (CallAnswer, Option<AnswerNotices>) {
    answer_call(runtime, caller, name, input, taken, &CutHandle::default()).await
}

async fn answer_call(
    runtime: &Handle,
    caller: &Caller,
    name: &str,
    input: Value,
    taken: Option<String>,
    cut: &CutHandle,
) -> (CallAnswer, Option<AnswerNotices>) {
    let tool = table::find(name);
    let durability = tool.map_or(Durability::Written, |tool| tool.durability);
    let seq = runtime.begin_call(&caller.actor, name, durability, &input).await;
    // If the caller is reused, the first number stays: nobody follows the progress of later calls.
    let _ = caller.begun.set(seq);
    let open = UnansweredCall { runtime, seq };
    let cx = ToolContext { runtime, caller, call: seq, cut };
    let mut taken_otherwise =
        tool.map(|tool| (tool.taken_otherwise)(&input, caller.room)).unwrap_or_default();
    taken_otherwise.extend(taken);
    let done = match tool {
        Some(tool) => run(tool, cx, input).await,
        None => ToolOutcome { envelope: Envelope::error(name, unknown_tool(name)), task: None },
    };
    let notices = match &caller.actor {
        Actor::Agent(label) => {
            let mut own = if done.envelope.is_error() { Vec::new() } else { taken_otherwise };
            own.extend(nobody_decides(runtime, &done));
            Some(runtime.agent_notices(label, own, told_end(&done)))
        }
        _ => None,
    };
    let mut receipt = render(&done.envelope);
    let mut sentences = Vec::new();
    if let Some((notices, paragraph)) =
        notices.as_ref().and_then(|notices| Some((notices, notices.paragraph()?)))
    {
        sentences = notices.sentences();
        receipt = SafeText::lines(&format!("{receipt}\n\n{paragraph}"));
    }
    let row = runtime.end_call(seq, done.task.as_ref(), &done.envelope, &receipt, sentences).await;
    std::mem::forget(open);
    let notices = match notices {
        // Meanwhile the answer is brought into the form that goes to the agent.
        Some(notices) => Some(notices.with_row(row)),
        None => {
            row.wait().await;
            None
        }
    };
    let ToolOutcome { envelope, task } = done;
    let cut = cut.outcome();
    let is_unbegun = cut.is_some() && !runtime.has_begun(seq);
    (CallAnswer { seq, envelope, receipt, repeated: false, cut, is_unbegun, task }, notices)
}

/// Explains how to get a decision or an answer from the operator while no console is open.
fn nobody_decides(runtime: &Handle, done: &ToolOutcome) -> Option<String> {
    let task = done.task.as_ref().and_then(|id| runtime.task(id));
    let waiting = task.as_ref().and_then(|task| task.waiting.as_ref());
    let is_for_operator = waiting.is_some_and(InputWait::is_for_operator);
    let is_held = match done.envelope.outcome() {
        CallOutcome::Error(error) => error.kind == ErrorKind::OperatorPending,
        CallOutcome::Success(_) => task.as_ref().is_some_and(|task| task.held.is_some()),
    };
    let place = runtime.place_without_console().filter(|_| is_held || is_for_operator)?;
    let place = one_line(&place.to_string_lossy(), PLACE_CHARS);
    let act = if is_held { "decide" } else { "answer" };
    Some(format!("no console is open to {act} it: ask the user to run `pilothouse` in {place}"))
}

/// Returns the task whose end the answer reports, if any.
fn told_end(done: &ToolOutcome) -> Option<&TaskId> {
    let CallOutcome::Success(result) = done.envelope.outcome() else { return None };
    let status = result["task"]["status"].as_str()?.parse::<TaskStatus>().ok()?;
    done.task.as_ref().filter(|_| status.is_terminal())
}

/// A call that has no answer yet. If dropped, it is recorded as abandoned: its client gave up.
struct UnansweredCall<'a> {
    runtime: &'a Handle,
    seq: u64,
}

impl Drop for UnansweredCall<'_> {
    fn drop(&mut self) {
        self.runtime.abandon_call(self.seq);
    }
}

async fn run(tool: &Tool, cx: ToolContext<'_>, input: Value) -> ToolOutcome {
    let task = input.get("task_id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    (tool.run)(cx, input)
        .await
        .unwrap_or_else(|error| ToolOutcome { envelope: Envelope::error(tool.name, error), task })
}

fn unknown_tool(name: &str) -> ToolError {
    let names = TOOLS.iter().filter(|tool| tool.is_listed).map(|tool| tool.name);
    let hint = nearest(name, names.clone()).map_or_else(
        || format!("the tools are {}", names.collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near}?"),
    );
    ToolError::new(ErrorKind::UnknownTool, "No tool has that name.")
        .with_details(json!({ "tool_name": name }))
        .with_hint(hint)
}

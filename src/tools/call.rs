//! One call, from the row that records its beginning to the row that records its answer.

use serde_json::{Value, json};

use super::cut::{Cut, CutShort};
use super::table::{self, TOOLS, Tool, render};
use super::verb::{Caller, Context, Done};
use crate::config::nearest;
use crate::envelope::{Actor, Envelope, ErrorKind, Outcome, SafeText, TaskId, ToolError, one_line};
use crate::journal::Durability;
use crate::runtime::{AgentNotices, Handle, TaskStatus};

/// Longest path in a note, in characters.
const PLACE_CHARS: usize = 300;

/// What a caller gets: the canonical envelope, and the receipt a model reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Number of the call in the recording.
    pub seq: u64,
    /// The canonical record.
    pub envelope: Envelope,
    /// The text made from it.
    pub receipt: SafeText,
    /// Nothing was done: this is the answer to an earlier request with the same idempotency key.
    pub repeated: bool,
    /// It was ended before it had an answer of its own: this is what there was by then.
    pub cut: Option<CutShort>,
    /// The task that it is about.
    pub task: Option<TaskId>,
}

/// Calls a tool. The call is recorded before anything happens. Dropping the future stops a command that its call
/// still waits for; any other tool only stops waiting.
pub async fn call(runtime: &Handle, caller: &Caller, name: &str, input: Value) -> Answer {
    call_until(runtime, caller, name, input, &Cut::default()).await
}

/// As [`call`]. Once `cut` asks for it, a command that the call still waits for is ended, and the answer is what it came to.
pub(super) async fn call_until(
    runtime: &Handle,
    caller: &Caller,
    name: &str,
    input: Value,
    cut: &Cut,
) -> Answer {
    let (answer, notices) = answered(runtime, caller, name, input, cut).await;
    if let Some(notices) = notices {
        notices.given();
    }
    answer
}

/// As [`call`]. What an agent is told beside the answer counts as told once its [`AgentNotices`] are given: when the
/// answer is written.
pub async fn call_with_notices(
    runtime: &Handle,
    caller: &Caller,
    name: &str,
    input: Value,
) -> (Answer, Option<AgentNotices>) {
    answered(runtime, caller, name, input, &Cut::default()).await
}

async fn answered(
    runtime: &Handle,
    caller: &Caller,
    name: &str,
    input: Value,
    cut: &Cut,
) -> (Answer, Option<AgentNotices>) {
    let tool = table::find(name);
    let durability = tool.map_or(Durability::Written, |tool| tool.durability);
    let seq = runtime.begin_call(&caller.actor, name, durability, &input).await;
    // A caller that calls again keeps the first number: nobody follows its progress.
    let _ = caller.begun.set(seq);
    let open = Open { runtime, seq };
    let cx = Context { runtime, caller, call: seq, cut };
    let taken_otherwise = tool.map(|tool| (tool.taken_otherwise)(&input)).unwrap_or_default();
    let done = match tool {
        Some(tool) => run(tool, cx, input).await,
        None => Done { envelope: Envelope::error(name, unknown_tool(name)), task: None },
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
    runtime.end_call(seq, done.task.as_ref(), &done.envelope, &receipt, sentences).await;
    std::mem::forget(open);
    let Done { envelope, task } = done;
    (Answer { seq, envelope, receipt, repeated: false, cut: cut.outcome(), task }, notices)
}

/// Says how somebody can come to decide what waits for the operator, where no console is open.
fn nobody_decides(runtime: &Handle, done: &Done) -> Option<String> {
    let is_held = match done.envelope.outcome() {
        Outcome::Error(error) => error.kind == ErrorKind::OperatorPending,
        Outcome::Success(_) => {
            done.task.as_ref().and_then(|id| runtime.task(id)).is_some_and(|task| task.held.is_some())
        }
    };
    let place = runtime.place_without_console().filter(|_| is_held)?;
    let place = one_line(&place.to_string_lossy(), PLACE_CHARS);
    Some(format!("no console is open to decide it: ask the user to run `pilothouse` in {place}"))
}

/// Returns the task whose end an answer tells.
fn told_end(done: &Done) -> Option<&TaskId> {
    let Outcome::Success(result) = done.envelope.outcome() else { return None };
    let status = result["task"]["status"].as_str()?.parse::<TaskStatus>().ok()?;
    done.task.as_ref().filter(|_| status.is_terminal())
}

/// A call without an answer yet. When dropped, it is recorded as abandoned: its client gave up.
struct Open<'a> {
    runtime: &'a Handle,
    seq: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.runtime.abandon_call(self.seq);
    }
}

async fn run(tool: &Tool, cx: Context<'_>, input: Value) -> Done {
    let task = input.get("task_id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    (tool.run)(cx, input)
        .await
        .unwrap_or_else(|error| Done { envelope: Envelope::error(tool.name, error), task })
}

fn unknown_tool(name: &str) -> ToolError {
    let names = TOOLS.iter().map(|tool| tool.name);
    let hint = nearest(name, names.clone()).map_or_else(
        || format!("the tools are {}", names.collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near}?"),
    );
    ToolError::new(ErrorKind::UnknownTool, "No tool has that name.")
        .with_details(json!({ "tool_name": name }))
        .with_hint(hint)
}

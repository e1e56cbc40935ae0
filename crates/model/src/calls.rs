//! The tool calls of a recording.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallEnd, CallSummary, NativeCall};
use pilothouse_envelope::{Actor, TaskId};

/// Length limit of a summary, in characters; the summary of an answer just given may be longer.
const SUMMARY_CHARS: usize = 200;
/// The status of a call whose client stopped waiting.
pub const ABANDONED: &str = "abandoned";
/// The tool name under which a stream of commands is listed.
pub const STREAM_CALL: &str = "exec";
/// The tool name under which a running program is listed.
pub const PROGRAM_CALL: &str = "run";
/// The tool name under which a command of an agent's own shell is listed.
pub const SHELL_CALL: &str = "Shell";

/// Tells whether a call of this name is a stream of commands or a program: not a tool call itself, but a source of tool
/// calls.
pub fn is_stream(tool: &str) -> bool {
    matches!(tool, STREAM_CALL | PROGRAM_CALL)
}

/// One tool call in full: its input, the canonical envelope, and the receipt exactly as sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRecord {
    /// Number of the call in this recording, from 1.
    pub seq: u64,
    /// Arrival time of the call.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The caller.
    #[schemars(with = "String")]
    pub actor: Actor,
    /// The tool.
    pub tool: String,
    /// The input as recorded: secrets masked; the length of text typed while echo was off in its place.
    pub input: Value,
    /// The canonical envelope; null if the call was never answered.
    pub envelope: Option<Value>,
    /// The receipt exactly as sent; for a command of an agent's own shell, the text that its hook reports as given to
    /// the model.
    pub receipt: Option<String>,
    /// Notices to the agent besides the answer, at the end of the receipt; absent if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Milliseconds from call to answer.
    pub duration_ms: Option<u64>,
    /// Further reports of the agent's hook: whether the agent cut the text, and whether it presented it as a failure.
    #[schemars(with = "Option<Value>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeCall>,
}

impl CallRecord {
    /// Takes in a report of the agent's hook, and its text as the receipt unless an earlier one was exact.
    pub fn tell(&mut self, receipt: String, native: NativeCall) {
        let (native, is_kept) = NativeCall::then(self.native.take(), native);
        self.native = Some(native);
        if is_kept {
            self.receipt = Some(receipt);
        }
    }

    /// Returns the status in its envelope.
    pub fn status(&self) -> Option<&str> {
        self.envelope.as_ref()?["status"].as_str()
    }

    /// Returns the call's summary; while it has no envelope, the summary is made from its input.
    pub fn summary(&self, status: Option<String>, task: Option<TaskId>) -> CallSummary {
        let said = self.envelope.as_ref().and_then(|envelope| envelope["summary_text"].as_str());
        let line = |text: &str| {
            text.lines().next().unwrap_or_default().chars().take(SUMMARY_CHARS).collect::<String>()
        };
        CallSummary {
            seq: self.seq,
            at: self.at,
            actor: self.actor.clone(),
            tool: line(&self.tool),
            status,
            summary: said.map_or_else(|| line(&input_text(&self.input)), line),
            asked: line(&input_text(&self.input)),
            task,
            end: self.envelope.as_ref().and_then(CallEnd::of),
            duration_ms: self.duration_ms,
            native: self.native.clone(),
            stream: None,
        }
    }

    /// Returns the text that an agent or a script typed into a task with this call, if the task accepted it; empty if
    /// the input was named keys or hidden.
    pub fn typed_text(&self) -> Option<String> {
        let is_taken =
            self.envelope.as_ref().is_some_and(|envelope| envelope["result"]["accepted_input"] == true);
        let is_input = self.tool == "TaskInput" && self.actor != Actor::Operator && is_taken;
        let given = |name: &str| self.input.get(name).filter(|value| !value.is_null());
        let typed = given("input").or_else(|| given("keys")).filter(|_| is_input)?;
        Some(typed.as_str().unwrap_or_default().to_owned())
    }
}

/// Returns the input that distinguishes calls: the commands, what was typed, or the task.
fn input_text(input: &Value) -> Cow<'_, str> {
    if let Some(items) = input.get("items").and_then(Value::as_array) {
        let cmds = items.iter().filter_map(|item| item.get("cmd")?.as_str());
        let cmds = cmds.map(|cmd| cmd.lines().next().unwrap_or_default());
        return cmds.collect::<Vec<_>>().join("; ").into();
    }
    let text = |key: &&str| input.get(*key)?.as_str();
    ["cmd", "input", "task_id"].iter().find_map(text).unwrap_or_default().into()
}

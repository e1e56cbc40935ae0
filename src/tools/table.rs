//! The single table of tools. Lists, schemas, command lines and help are derived from it.

use std::pin::Pin;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::budget::Room;
use super::exec_command::ExecCommandTool;
use super::exec_command_batch::ExecCommandBatchTool;
use super::plan::CallPlan;
use super::question_answer::QuestionAnswerTool;
use super::question_list::QuestionListTool;
use super::questions::QuestionTool;
use super::receipt::{self, Receipt, RenderedReceipt};
use super::schema;
use super::task_input::TaskInputTool;
use super::task_list::TaskListTool;
use super::task_output::TaskOutputTool;
use super::task_status::TaskStatusTool;
use super::task_stop::TaskStopTool;
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::config::{DEFAULT_YIELD_MS, Limits};
use crate::envelope::units::Period;
use crate::envelope::{CallOutcome, Envelope, SafeText, ToolError};
use crate::journal::Durability;

type ToolRun<'a> = Pin<Box<dyn Future<Output = Result<ToolOutcome, ToolError>> + Send + 'a>>;

/// One row of the table.
#[derive(Debug)]
pub struct Tool {
    /// Its public name, such as `ExecCommand`.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// Tells a model when to use it; names of limits in braces stand for their values.
    description: &'static str,
    /// What a client may assume about it.
    pub hints: Hints,
    /// Whether it is listed to agents.
    pub is_listed: bool,
    /// Its command line, such as `command run`; empty if it has none.
    pub cli: &'static [&'static str],
    /// Returns the JSON Schema of its input.
    pub input_schema: fn() -> Value,
    /// Returns the JSON Schema of its `result`.
    pub result_schema: fn() -> Value,
    /// Example inputs as JSON, each with a description.
    pub examples: &'static [(&'static str, &'static str)],
    /// Validates an input without running anything.
    pub check: fn(Value) -> Result<(), ToolError>,
    /// Returns the commands that a call would run, read as the call itself reads its input.
    pub plan: fn(Value) -> Result<CallPlan, ToolError>,
    /// Returns a sentence for each part of an input that is interpreted differently from how it was given.
    pub(super) taken_otherwise: fn(&Value, Room) -> Vec<String>,
    pub(super) clamped: &'static [(&'static str, u64, u64)],
    pub(super) durability: Durability,
    known_input: fn() -> &'static Value,
    pub(super) run: for<'a> fn(ToolContext<'a>, Value) -> ToolRun<'a>,
    pub(super) receipt: fn(&Value) -> Option<Receipt>,
}

/// Every tool, in the order clients list them.
///
/// To add one: implement `Verb` in a file of its own beside the others, and add a row here. Lists, schemas, the
/// command line, help and the reference are derived from it.
pub static TOOLS: [Tool; 10] = [
    Tool::of::<ExecCommandTool>(),
    Tool::of::<ExecCommandBatchTool>(),
    Tool::of::<TaskListTool>(),
    Tool::of::<TaskStatusTool>(),
    Tool::of::<TaskOutputTool>(),
    Tool::of::<TaskInputTool>(),
    Tool::of::<TaskStopTool>(),
    Tool::of::<QuestionTool>(),
    Tool::of::<QuestionListTool>(),
    Tool::of::<QuestionAnswerTool>(),
];

/// Finds a tool by its public name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Renders the receipt of an envelope: what a model reads.
pub fn render(envelope: &Envelope) -> SafeText {
    render_with_sources(envelope).text
}

/// Renders the receipt of an envelope, with the fields that its lines were made from.
pub fn render_with_sources(envelope: &Envelope) -> RenderedReceipt {
    receipt_of(envelope).render()
}

/// Returns a receipt as a person at a shell reads it: without the tools to call next, and with what was added to it
/// after it was rendered from the envelope.
pub fn for_a_shell(envelope: &Envelope, receipt: &SafeText) -> String {
    // Most receipts name nothing to do next, and need not be rendered again.
    let rendered = receipt.as_str().contains(receipt::NEXT).then(|| render(envelope));
    match rendered.and_then(|whole| receipt.as_str().strip_prefix(whole.as_str())) {
        Some(added) => format!("{}{added}", receipt_of(envelope).without_next().render().text),
        None => receipt.as_str().to_owned(),
    }
}

fn receipt_of(envelope: &Envelope) -> Receipt {
    match envelope.outcome() {
        CallOutcome::Error(error) => receipt::of_error(envelope.tool_name(), error),
        CallOutcome::Success(result) => find(envelope.tool_name())
            .and_then(|tool| (tool.receipt)(result))
            .unwrap_or_else(|| receipt::of_unknown(envelope.summary_text(), result)),
    }
}

impl Tool {
    /// Returns the text that tells a model when to use this tool, with the limits of the runtime that will run it, or
    /// without their values if they are not known (a runtime on another machine).
    pub fn description(&self, limits: Option<&Limits>) -> String {
        let (grace, deadline) = match limits {
            Some(limits) => {
                (Period(limits.stop_grace).to_string(), Period(limits.batch_deadline).to_string())
            }
            None => ("a grace period".to_owned(), "a deadline".to_owned()),
        };
        self.description.replace("{stop_grace}", &grace).replace("{batch_deadline}", &deadline)
    }

    /// Returns how long a call may wait before it answers, if it can wait at all.
    pub fn longest_wait(&self, given: &Value) -> Option<Duration> {
        let (field, least, most) = self.clamped.first()?;
        let default =
            || (self.known_input)()["properties"][field]["default"].as_u64().unwrap_or(DEFAULT_YIELD_MS);
        let ms = given.get(field).and_then(Value::as_u64).unwrap_or_else(default);
        Some(Duration::from_millis(ms.clamp(*least, *most)))
    }

    const fn of<V: Verb>() -> Self {
        Self {
            name: V::NAME,
            title: V::TITLE,
            description: V::DESCRIPTION,
            hints: V::HINTS,
            is_listed: V::IS_LISTED,
            cli: V::CLI,
            input_schema: schema::input::<V::Input>,
            result_schema: schema::result::<V::Result>,
            examples: V::EXAMPLES,
            check: |given| V::check(V::parse(given)?),
            plan: |given| V::plan(V::parse(given)?),
            taken_otherwise: V::taken_otherwise,
            clamped: V::CLAMPED,
            durability: V::DURABILITY,
            known_input: schema::known_input::<V::Input>,
            run: run::<V>,
            receipt: |result| V::Result::deserialize(result).ok().map(|result| V::receipt(&result)),
        }
    }
}

fn run<V: Verb>(cx: ToolContext<'_>, given: Value) -> ToolRun<'_> {
    Box::pin(async move {
        let input = V::parse(given)?;
        V::run(cx, input).await
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_command_lines_are_unique() {
        for (at, tool) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..at].iter().all(|other| other.name != tool.name && other.cli != tool.cli));
            assert_eq!(find(tool.name).map(|found| found.cli), Some(tool.cli));
        }
        assert!(find("execcommand").is_none());
    }

    #[test]
    fn the_longest_wait_is_what_was_given_within_its_limits_or_the_default() {
        let wait =
            |name, given| find(name).and_then(|tool| tool.longest_wait(&given)).map(|wait| wait.as_millis());
        assert_eq!(wait("ExecCommand", serde_json::json!({"cmd": "x"})), Some(10_000));
        assert_eq!(wait("ExecCommand", serde_json::json!({"yield_time_ms": 90_000})), Some(30_000));
        assert_eq!(wait("TaskOutput", serde_json::json!({"timeout_ms": 1_000})), Some(1_000));
        assert_eq!(wait("TaskStop", serde_json::json!({})), None);
    }

    #[test]
    fn a_tool_that_only_reads_destroys_nothing() {
        assert!(TOOLS.iter().all(|tool| !(tool.hints.read_only && tool.hints.destructive)));
    }
}

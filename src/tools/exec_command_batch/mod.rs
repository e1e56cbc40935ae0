//! ExecCommandBatch: several bounded commands in one call, run one after another, with one receipt that keeps their
//! results apart. None of them becomes a task.

mod input;
mod receipt;
mod result;
mod run;

pub use receipt::{SentItem, sent_of_batch};
pub use result::{BatchDetails, ItemError, ItemOutcome, SkipReason, project};

use serde_json::Value;

use super::budget::Room;
use super::exec_command::ExecCommandTool;
use super::plan::CallPlan;
use super::receipt::Receipt;
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::envelope::ToolError;

pub(super) struct ExecCommandBatchTool;

impl Verb for ExecCommandBatchTool {
    const NAME: &'static str = "ExecCommandBatch";
    const TITLE: &'static str = "Run several commands";
    const DESCRIPTION: &'static str = "\
Runs 1 to 12 short shell commands in order: one answer, with each exit code and output. Use it when you need several \
before your next decision: reading files, searching, checking states.

Items run even if earlier ones failed; `stop_on_error` skips the rest after a failure. An item still running after its \
`yield_time_ms` is ended (exit code 124, its output kept): nothing becomes a pilothouse task. After {batch_deadline} no \
further item starts.

Use ExecCommand for one command, for edits, and for anything interactive or long: items take no `tty` or `accepts_input`. If the \
operator stopped an item, the rest was left out on purpose: ask, or go another way.";
    const HINTS: Hints = Hints::ACTS;
    const CLI: &'static [&'static str] = &["command", "batch"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        (
            "Run two commands, even if the first fails",
            r#"{"items":[{"cmd":"git status --short"},{"cmd":"ls"}]}"#,
        ),
        (
            "Stop at the first that fails",
            r#"{"items":[{"cmd":"cargo check"},{"cmd":"cargo test --lib","yield_time_ms":30000}],"stop_on_error":true}"#,
        ),
    ];

    type Input = input::BatchInput;
    type Result = result::BatchResult;

    fn parse(given: Value) -> Result<Self::Input, ToolError> {
        input::parse(given)
    }

    fn taken_otherwise(given: &Value, room: Room) -> Vec<String> {
        let clamped = ExecCommandTool::CLAMPED;
        let otherwise = crate::tools::input::taken_otherwise(given, input::ALIASES, clamped, room);
        input::shared_in_words(given).into_iter().chain(otherwise).collect()
    }

    fn plan(input: Self::Input) -> Result<CallPlan, ToolError> {
        let stop_on_error = input.stop_on_error;
        let commands = input.items.into_iter().map(run::plan_item).collect();
        Ok(CallPlan { commands, is_batch: true, stop_on_error })
    }

    async fn run(cx: ToolContext<'_>, input: Self::Input) -> Result<ToolOutcome, ToolError> {
        run::admit(&cx, &input).await?;
        let complete = run::run(cx, input).await;
        Ok(ToolOutcome { envelope: project(&complete), task: None })
    }

    fn summary(result: &Self::Result) -> String {
        result.summary()
    }

    fn receipt(result: &Self::Result) -> Receipt {
        receipt::receipt(result)
    }
}

//! ExecCommandBatch: several bounded commands in one call, one after the other, with one receipt that keeps them
//! apart. Nothing in it becomes a task.

mod input;
mod receipt;
mod result;
mod run;

pub use receipt::{SentItem, sent_of_batch};
pub use result::{Complete, ItemOutcome, SkipReason, project};

use serde_json::Value;

use super::exec_command::ExecCommand;
use super::receipt::Receipt;
use super::verb::{Context, Done, Hints, Verb};
use crate::envelope::ToolError;

pub(super) struct ExecCommandBatch;

impl Verb for ExecCommandBatch {
    const NAME: &'static str = "ExecCommandBatch";
    const TITLE: &'static str = "Run several commands";
    const DESCRIPTION: &'static str = "\
Runs 1 to 12 shell commands one after the other and returns one receipt with an entry for each. Use it when several bounded \
commands should run before your next decision: reading files, searching, checking states. It saves a call for each command \
but the first, and unlike commands joined with `;` it keeps their outputs and exit codes apart.

Each item takes the plain fields of ExecCommand and runs on its own, whatever became of the ones before it; with \
`stop_on_error` the rest is skipped after the first that is rejected or fails. An item still running after its `yield_time_ms` \
is ended, with the output so far kept and exit code 124: nothing in a batch becomes a pilothouse task. The whole batch starts \
no item after about 110 s.

Use ExecCommand instead for a single command, for a check whose result alone decides your next step, and for everything \
interactive or long: an item with `tty` or `accepts_input` is rejected. Do not use a batch for edits.

An exit code other than 0 is a result of the item, not an error of this tool. If the answer says that the operator stopped an \
item, the rest was not run on purpose: ask, or go another way.";
    const HINTS: Hints = Hints::ACTS;
    const CLI: &'static [&'static str] = &["command", "batch"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        (
            "Run two commands, whatever becomes of the first",
            r#"{"items":[{"cmd":"git status --short"},{"cmd":"ls"}]}"#,
        ),
        (
            "Stop at the first that fails",
            r#"{"items":[{"cmd":"cargo check"},{"cmd":"cargo test --lib","yield_time_ms":30000}],"stop_on_error":true}"#,
        ),
    ];

    type Input = input::Input;
    type Result = result::BatchResult;

    fn parse(given: Value) -> Result<Self::Input, ToolError> {
        input::parse(given)
    }

    fn taken_otherwise(given: &Value) -> Vec<String> {
        crate::tools::input::taken_otherwise(given, input::ALIASES, ExecCommand::CLAMPED)
    }

    async fn run(cx: Context<'_>, input: Self::Input) -> Result<Done, ToolError> {
        run::admit(&cx, &input).await?;
        let complete = run::run(cx, input).await;
        Ok(Done { envelope: project(&complete), task: None })
    }

    fn summary(result: &Self::Result) -> String {
        result.summary()
    }

    fn receipt(result: &Self::Result) -> Receipt {
        receipt::receipt(result)
    }
}

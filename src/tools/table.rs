//! The one table of tools. Lists, schemas, command lines and help derive from it.

use std::pin::Pin;

use serde::Deserialize;
use serde_json::Value;

use super::exec_command::ExecCommand;
use super::exec_command_batch::ExecCommandBatch;
use super::question_answer::QuestionAnswer;
use super::question_list::QuestionList;
use super::receipt::Receipt;
use super::schema;
use super::task_input::TaskInput;
use super::task_list::TaskList;
use super::task_output::TaskOutput;
use super::task_status::TaskStatus;
use super::task_stop::TaskStop;
use super::verb::{Context, Done, Verb};
use crate::envelope::ToolError;

/// What a client may assume of a tool before it calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or end things that cannot be brought back.
    pub destructive: bool,
    /// Calling it twice does no more than calling it once.
    pub idempotent: bool,
    /// It reaches beyond Pilothouse.
    pub open_world: bool,
}

impl Hints {
    /// Those of a tool that only reads.
    pub(super) const READS: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: false };
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Done, ToolError>> + Send + 'a>>;

/// One row of the table.
#[derive(Debug)]
pub struct Tool {
    /// Public name, e.g. `ExecCommand`.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Teaches a model when to use it.
    pub description: &'static str,
    /// What a client may assume.
    pub hints: Hints,
    /// Its command line, e.g. `command run`.
    pub cli: &'static [&'static str],
    /// Makes the JSON Schema of its input.
    pub input_schema: fn() -> Value,
    /// Makes the JSON Schema of its `result`.
    pub result_schema: fn() -> Value,
    /// Inputs as JSON that a reader may start from, each with what it does.
    pub examples: &'static [(&'static str, &'static str)],
    /// Tells what is wrong with an input, without doing anything.
    pub check: fn(Value) -> Result<(), ToolError>,
    pub(super) run: for<'a> fn(Context<'a>, Value) -> Running<'a>,
    pub(super) receipt: fn(&Value) -> Option<Receipt>,
}

/// Every tool, in the order clients list them.
pub static TOOLS: [Tool; 9] = [
    Tool::of::<ExecCommand>(),
    Tool::of::<ExecCommandBatch>(),
    Tool::of::<TaskList>(),
    Tool::of::<TaskStatus>(),
    Tool::of::<TaskOutput>(),
    Tool::of::<TaskInput>(),
    Tool::of::<TaskStop>(),
    Tool::of::<QuestionList>(),
    Tool::of::<QuestionAnswer>(),
];

/// Finds a tool by its public name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    const fn of<V: Verb>() -> Self {
        Self {
            name: V::NAME,
            title: V::TITLE,
            description: V::DESCRIPTION,
            hints: V::HINTS,
            cli: V::CLI,
            input_schema: schema::input::<V::Input>,
            result_schema: schema::result::<V::Result>,
            examples: V::EXAMPLES,
            check: |given| V::check(V::parse(given)?),
            run: run::<V>,
            receipt: |result| V::Result::deserialize(result).ok().map(|result| V::receipt(&result)),
        }
    }
}

fn run<V: Verb>(cx: Context<'_>, given: Value) -> Running<'_> {
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
    fn a_tool_that_only_reads_destroys_nothing() {
        assert!(TOOLS.iter().all(|tool| !(tool.hints.read_only && tool.hints.destructive)));
    }
}

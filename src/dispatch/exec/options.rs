//! The options of `exec`. To add one: a field of [`ExecInput`] with a doc comment, which is its help; the command line,
//! the manifest and the reference follow. [`super::run`] gets it as `options.input`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::dispatch::command::{Effect, Example, Local, Reach};
use crate::dispatch::run::Flags;

/// How a whole stream is run.
#[derive(Debug, Default)]
pub struct Options {
    /// Its own options.
    pub input: ExecInput,
    /// What holds for every line unless the line says otherwise; a line cannot lift a dry run.
    pub flags: Flags,
}

/// `exec`: the stream of commands.
pub struct Exec;

/// Where the lines come from and how to go about them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecInput {
    /// The file with the lines, read as it grows (a FIFO works line by line); `-` is standard input.
    pub input_file: Option<String>,
    /// Go on after a line that failed.
    #[serde(default)]
    pub ignore_errors: bool,
    /// Check every line and run none.
    #[serde(default)]
    pub validate_only: bool,
    /// Repeat `_cmd` and `_line` beside the five keys of each answer.
    #[serde(default)]
    pub echo_top_level: bool,
}

impl Local for Exec {
    const PATH: &'static str = "exec";
    const ABOUT: &'static str = "Run a stream of commands, one JSON object a line";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Run the lines of standard input", input: "{}" },
        Example {
            about: "Run a plan and go on after failures",
            input: r#"{"input_file":"plan.jsonl","ignore_errors":true}"#,
        },
    ];
    const REACH: Reach = Reach::Exec;

    type Input = ExecInput;
    type Output = Effect;
}

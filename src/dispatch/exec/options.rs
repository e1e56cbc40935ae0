//! The options of `exec`. To add one, add a field to [`ExecInput`] with a doc comment, which is its help text; the
//! command line, the manifest and the reference are derived from it. [`super::run`] gets it as `options.input`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::dispatch::command::{CommandReach, Danger, EffectOutput, Example, LocalCommand};
use crate::dispatch::flags::RunFlags;

/// How to run a whole stream.
#[derive(Debug, Default)]
pub struct StreamOptions {
    /// The options of `exec` itself.
    pub input: ExecInput,
    /// Defaults for every line, which a line can override, except that it cannot lift a dry run.
    pub flags: RunFlags,
}

/// `exec`: the stream of commands.
pub struct Exec;

/// The source of the lines, and the options for running them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecInput {
    /// The file with the lines, read as it grows (a FIFO works line by line); `-` is standard input.
    pub input_file: Option<String>,
    /// Continue after a line that fails.
    #[serde(default)]
    pub ignore_errors: bool,
    /// Check every line and run none.
    #[serde(default)]
    pub validate_only: bool,
    /// Repeat `_cmd` and `_line` beside the five keys of each answer.
    #[serde(default)]
    pub echo_top_level: bool,
}

impl LocalCommand for Exec {
    const PATH: &'static str = "exec";
    const ABOUT: &'static str = "Run a stream of commands, one JSON object per line";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Run the lines of standard input", input: "{}" },
        Example {
            about: "Run a plan and continue after failures",
            input: r#"{"input_file":"plan.jsonl","ignore_errors":true}"#,
        },
    ];
    // Its lines may be any commands; a dry run asks each of them.
    const DANGER: Danger = Danger::Destructive;
    const REACH: CommandReach = CommandReach::Exec;

    type Input = ExecInput;
    type Output = EffectOutput;
}

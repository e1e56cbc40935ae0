//! `completions` and `man`: documents made from the command tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{Example, Local, Nothing};
use super::context::Context;
use super::host::Shell;
use super::response::Failure;

pub(super) struct Completions;

/// For which shell.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The shell to write the script for.
    shell: Shell,
}

/// A completion script.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The shell it is for.
    shell: Shell,
    /// The script.
    script: String,
}

impl Local for Completions {
    const PATH: &'static str = "completions";
    const IS_DATA: bool = true;
    const ABOUT: &'static str = "Print the completion script of a shell";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The script for bash", input: r#"{"shell":"bash"}"# }];

    type Input = Input;
    type Output = Output;

    async fn run(cx: &mut Context, input: Input) -> Result<Output, Failure> {
        Ok(Output { shell: input.shell, script: cx.host.completions(input.shell) })
    }

    fn text(output: &Output) -> String {
        output.script.clone()
    }
}

pub(super) struct Man;

/// The manual page.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ManOutput {
    /// The page in roff.
    page: String,
}

impl Local for Man {
    const PATH: &'static str = "man";
    const IS_DATA: bool = true;
    const ABOUT: &'static str = "Print the manual page";
    const EXAMPLES: &'static [Example] = &[Example { about: "The page in roff", input: "{}" }];

    type Input = Nothing;
    type Output = ManOutput;

    async fn run(cx: &mut Context, _input: Nothing) -> Result<ManOutput, Failure> {
        Ok(ManOutput { page: cx.host.man_page() })
    }

    fn text(output: &ManOutput) -> String {
        output.page.clone()
    }
}

//! `version`: also the example of a command that is not a tool.

use schemars::JsonSchema;
use serde::Serialize;

use super::command::{Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::response::Failure;

pub(super) struct Version;

/// The program and its version.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VersionOutput {
    /// The program.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// Version of the formats that scripts rely on.
    schema_version: &'static str,
}

impl LocalCommand for Version {
    const PATH: &'static str = "version";
    const ABOUT: &'static str = "Print the version";
    const EXAMPLES: &'static [Example] = &[Example { about: "See the version", input: "{}" }];

    type Input = NoInput;
    type Output = VersionOutput;

    async fn run(_cx: &mut CommandContext, _input: NoInput) -> Result<VersionOutput, Failure> {
        Ok(VersionOutput {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            schema_version: super::response::SCHEMA_VERSION,
        })
    }

    fn text(output: &VersionOutput) -> String {
        format!("{} {}", output.name, output.version)
    }
}

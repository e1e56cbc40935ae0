//! `mcp config`: what an agent needs in its configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::Agent;
use super::command::{Example, Local};
use super::context::Context;
use super::response::Failure;

pub(super) struct McpConfig;

/// For which agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The agent to connect.
    agent: Agent,
}

/// How to connect an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The agent.
    agent: Agent,
    /// What to type or to put where; explanations are comments.
    snippet: String,
}

impl Local for McpConfig {
    const PATH: &'static str = "mcp.config";
    const IS_DATA: bool = true;
    const ABOUT: &'static str = "Print what an agent needs in its configuration";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "Connect Claude Code", input: r#"{"agent":"claude"}"# }];

    type Input = Input;
    type Output = Output;

    async fn run(_cx: &mut Context, Input { agent }: Input) -> Result<Output, Failure> {
        Ok(Output { agent, snippet: agent.row().to_string() })
    }

    fn text(output: &Output) -> String {
        output.snippet.clone()
    }
}

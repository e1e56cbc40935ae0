//! The commands that start an agent (`claude` …): declared here like all others, but run by `cli` before the command line
//! is parsed.

use serde_json::{Value, json};

use super::command::{CommandReach, Danger, EffectOutput, Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::response::Failure;
use crate::agents::AgentProgram;

/// The command that starts an agent, by its place among [`AgentProgram::ALL`].
pub(super) struct StartAgent<const AGENT: usize>;

impl<const AGENT: usize> LocalCommand for StartAgent<AGENT> {
    const PATH: &'static str = AgentProgram::ALL[AGENT].profile().programs[0];
    const ABOUT: &'static str = AgentProgram::ALL[AGENT].profile().start;
    const EXITS: &'static [u8] = &[4];
    // The agent decides what it runs.
    const DANGER: Danger = Danger::Destructive;
    const EXAMPLES: &'static [Example] = &[Example { about: "In this workspace", input: "{}" }];
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = NoInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, _input: NoInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_start", "would_start": Self::PATH }))
    }
}

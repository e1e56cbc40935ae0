//! `claude`, `opencode`, `gemini`, `codex`: declared here like all others, but run by `cli` before the command line
//! is parsed.

use serde_json::{Value, json};

use super::command::{CommandReach, Danger, Effect, Example, Local, Nothing};
use super::context::Context;
use super::response::Failure;

/// The agents that can be started, by their index in [`NAMES`].
pub(super) struct StartAgent<const AGENT: usize>;

/// Their names, which are also the commands.
const NAMES: [&str; 4] = ["claude", "opencode", "gemini", "codex"];
/// What each command does.
const ABOUTS: [&str; 4] = [
    "Start Claude Code with its shell routed through Pilothouse; the arguments that follow are its own",
    "Start opencode with its shell routed through Pilothouse; the arguments that follow are its own",
    "Start Gemini CLI with its shell routed through Pilothouse; the arguments that follow are its own",
    "Start Codex, once `adopt codex` has routed its commands through Pilothouse; the arguments that follow \
     are its own",
];

impl<const AGENT: usize> Local for StartAgent<AGENT> {
    const PATH: &'static str = NAMES[AGENT];
    const ABOUT: &'static str = ABOUTS[AGENT];
    const EXITS: &'static [u8] = &[4];
    // The agent decides what it runs.
    const DANGER: Danger = Danger::Destructive;
    const EXAMPLES: &'static [Example] = &[Example { about: "In this workspace", input: "{}" }];
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = Nothing;
    type Output = Effect;

    async fn dry_run(_cx: &mut Context, _input: Nothing) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_start", "would_start": NAMES[AGENT] }))
    }
}

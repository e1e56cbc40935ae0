//! The commands that start an agent (`claude` …): declared here like all others, but run by `cli` before the command line
//! is parsed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{Command, CommandReach, Danger, EffectOutput, Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::response::Failure;
use crate::agents::{AgentProfile, AgentProgram};

/// The command that starts an agent, by its place among [`AgentProgram::ALL`]; one without a name where that agent cannot
/// be started, or where there is none.
struct StartAgent<const AGENT: usize>;

/// Returns the commands that start agents, one for each whose own shell can lead here.
pub(super) fn commands() -> impl Iterator<Item = Command> {
    const { assert!(AgentProgram::ALL.len() <= 24, "more agents than rows below") };
    macro_rules! rows {
        ($($agent:literal)*) => { [$(Command::of::<StartAgent<$agent>>),*] };
    }
    let rows: [fn() -> Command; 24] = rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23);
    let routed = AgentProgram::routed_programs().map(|(agent, _)| agent as usize);
    routed.filter_map(move |agent| Some(rows.get(agent)?()))
}

const fn profile(agent: usize) -> Option<&'static AgentProfile> {
    if agent < AgentProgram::ALL.len() { Some(AgentProgram::ALL[agent].profile()) } else { None }
}

impl<const AGENT: usize> LocalCommand for StartAgent<AGENT> {
    const PATH: &'static str = match profile(AGENT) {
        Some(profile) => profile.programs[0],
        None => "",
    };
    const ABOUT: &'static str = match profile(AGENT) {
        Some(profile) => profile.start,
        None => "",
    };
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

/// The command that starts any other agent.
pub(super) struct StartAny;

/// The agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartAnyInput {
    /// The agent's program and arguments: all words after `--`.
    pub command: Vec<String>,
    /// The agent's name in Pilothouse. Default: the name of its program.
    #[serde(default)]
    pub name: Option<String>,
}

impl LocalCommand for StartAny {
    const PATH: &'static str = "with";
    const ABOUT: &'static str = "Start any agent with its shell routed through Pilothouse, if that is bash";
    const EXITS: &'static [u8] = &[4];
    // The agent decides what it runs.
    const DANGER: Danger = Danger::Destructive;
    const EXAMPLES: &'static [Example] = &[
        Example { about: "An agent that Pilothouse does not know", input: r#"{"command":["my-agent"]}"# },
        Example { about: "Under another name", input: r#"{"command":["my-agent"],"name":"review"}"# },
    ];
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = StartAnyInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, input: StartAnyInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_start", "would_start": input.command.join(" ") }))
    }
}

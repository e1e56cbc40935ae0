//! Commands that need standard input or the terminal: declared here like all others, but run by `cli`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{CommandReach, Danger, EffectOutput, Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;
use crate::agents::AgentProgram;
use crate::link::ResultProfile;

/// `mcp`: the shim that an agent starts.
pub struct McpCommand;

/// The identity of the agent and the location of its runtime.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpInput {
    /// The agent's name; an agent that reconnects under the same name gets its tasks back.
    pub label: Option<String>,
    /// Content of results: the receipt alone, or structured content as well.
    #[serde(default)]
    pub profile: ResultProfile,
    /// The runtime's socket, instead of the workspace's [env: `PILOTHOUSE_SOCKET`].
    pub socket: Option<String>,
    /// The directory to work in, where the agent's program starts its servers somewhere else, as editors do.
    pub workspace: Option<String>,
    /// A path on another machine or in a container, `box:/path`: the agent runs here, its commands run there. The host
    /// is one of `~/.ssh/config` or of `[hosts]` in config.toml.
    pub host: Option<String>,
}

impl LocalCommand for McpCommand {
    const PATH: &'static str = "mcp";
    const ABOUT: &'static str =
        "Serve an agent over standard input and output (its configuration starts this)";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "The command in an agent's configuration", input: r#"{"label":"claude"}"# },
        Example {
            about: "An agent here whose commands run on another machine",
            input: r#"{"host":"box:/srv/project"}"#,
        },
    ];
    // The agent decides what it runs.
    const DANGER: Danger = Danger::Destructive;
    const REACH: CommandReach = CommandReach::Alone("standard input and output");

    type Input = McpInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, _input: McpInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_serve" }))
    }
}

/// `hook`: what an agent runs at its own events.
pub struct HookCommand;

/// The agent of a hook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookInput {
    /// The agent that runs the hook.
    pub agent: AgentProgram,
}

impl LocalCommand for HookCommand {
    const PATH: &'static str = "hook";
    const ABOUT: &'static str =
        "Show an agent's own prompts in the console, and answer them there (its settings run this)";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The command that Claude Code runs on events", input: r#"{"agent":"claude"}"# }];
    // It lets a call of the agent through that a person has allowed.
    const DANGER: Danger = Danger::Mutating;
    const REACH: CommandReach = CommandReach::Alone("standard input and output");

    type Input = HookInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, _input: HookInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_report" }))
    }
}

/// `codex-executor`: the program that Codex starts to run its commands.
pub struct CodexExecutorCommand;

/// The program whose server handles the rest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodexExecutorInput {
    /// The Codex program. Default: the one that started this command, or the one in PATH.
    pub codex: Option<String>,
}

impl LocalCommand for CodexExecutorCommand {
    const PATH: &'static str = "codex-executor";
    const ABOUT: &'static str =
        "Run Codex's commands as tasks, over standard input and output (its environments.toml starts this)";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The command that Codex starts after `adopt codex`", input: "{}" }];
    const EXITS: &'static [u8] = &[4];
    const DANGER: Danger = Danger::Destructive;
    const REACH: CommandReach = CommandReach::Alone("standard input and output");

    type Input = CodexExecutorInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, _input: CodexExecutorInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_serve" }))
    }
}

/// `serve`: the runtime without a console.
pub struct ServeCommand;

/// The choice between serving and stopping, and the idle time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServeInput {
    /// Stop all tasks and end the runtime that serves this workspace.
    #[serde(default)]
    pub stop: bool,
    /// Detach from the starting terminal, and wait for a runtime that is just ending.
    #[serde(default)]
    pub detached: bool,
    /// End after this many seconds without use.
    #[serde(default = "idle_seconds")]
    pub idle_seconds: u64,
}

/// The default time that a runtime without a console may be unused before it ends, in minutes; a macro, so that the help
/// text says the same number.
macro_rules! idle_minutes {
    () => {
        10
    };
}

/// The same in seconds.
pub const IDLE_SECONDS: u64 = 60 * idle_minutes!();

fn idle_seconds() -> u64 {
    IDLE_SECONDS
}

impl LocalCommand for ServeCommand {
    const PATH: &'static str = "serve";
    const ABOUT: &'static str =
        concat!("Run without a console; end after ", idle_minutes!(), " minutes without use");
    const DANGER: Danger = Danger::Destructive;
    const EXITS: &'static [u8] = &[3, 6];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Keep tasks running without a console", input: "{}" },
        Example { about: "End it and all its tasks", input: r#"{"stop":true}"# },
    ];
    const REACH: CommandReach = CommandReach::Alone("the runtime of the workspace");

    type Input = ServeInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, input: ServeInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": if input.stop { "would_stop" } else { "would_serve" } }))
    }
}

/// `demo`: a scripted agent in a temporary workspace.
pub struct DemoCommand;

/// Playback of the demo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemoInput {
    /// Restart at the end, until somebody quits.
    #[serde(default)]
    pub auto: bool,
    /// Play this many times faster, at most 10.
    pub speed: Option<u32>,
}

impl LocalCommand for DemoCommand {
    const PATH: &'static str = "demo";
    const ABOUT: &'static str =
        "Open the console in a throwaway workspace and watch a scripted agent at work";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "See it at work", input: "{}" },
        Example { about: "On an unattended screen", input: r#"{"auto":true}"# },
    ];
    const DANGER: Danger = Danger::Mutating;
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = DemoInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, _input: DemoInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_play" }))
    }
}

/// `open`: the console on a finished recording, read-only.
pub struct OpenCommand;

/// The recording to open.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenInput {
    /// The recording: `latest`, a name, or the beginning of a name.
    pub recording: String,
}

impl LocalCommand for OpenCommand {
    const PATH: &'static str = "open";
    const ABOUT: &'static str = "Open a finished recording read-only in the console";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The last one of this workspace", input: r#"{"recording":"latest"}"# }];
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = OpenInput;
    type Output = EffectOutput;
}

/// `fleet`: one console for all runtimes.
pub struct FleetCommand;

/// The machines besides this one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetInput {
    /// Other machines, by name in `~/.ssh/config` or in the settings.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// On this machine, show only the runtimes in this runtime folder: a second profile's, or a test's.
    #[serde(default)]
    pub here: bool,
}

impl LocalCommand for FleetCommand {
    const PATH: &'static str = "fleet";
    const ABOUT: &'static str = "Open one console for all your runtimes, on this machine and on other hosts";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Every workspace of this machine", input: "{}" },
        Example { about: "And those of another machine", input: r#"{"hosts":["box"]}"# },
        Example { about: "Only those of this profile", input: r#"{"here":true}"# },
    ];
    const DANGER: Danger = Danger::Destructive;
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = FleetInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, _input: FleetInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_open" }))
    }
}

//! `mcp config`: what an agent needs in its configuration, ready to paste.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{losses, scope_of};
use crate::agents::{AgentProgram, Connection, InstallScope};
use crate::config::STARTER_RULES;
use crate::dispatch::code::Code;
use crate::dispatch::command::{Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::forms::PlainDefault;
use crate::dispatch::response::Failure;

pub(in crate::dispatch) struct McpConfig;

/// The agent, and the part of its configuration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct McpConfigInput {
    /// The agent to connect. Not tested with the program itself: cursor, vscode, zed.
    agent: AgentProgram,
    /// The scope: `user` for you everywhere, `project` for everyone, in files that the workspace shares, `local` for
    /// you in this workspace.
    scope: Option<InstallScope>,
    /// The part of the configuration to print.
    #[serde(default)]
    part: ConfigPart,
}

/// A part of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ConfigPart {
    /// The file that names the server.
    #[default]
    Server,
    /// The file that allows the tools and turns off the agent's own shell, if that is a different one.
    Permissions,
    /// Approval rules to begin with, for `config.toml`.
    Approvals,
}

/// The configuration that connects an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct McpConfigOutput {
    /// The agent.
    agent: AgentProgram,
    /// The file that must contain it.
    file: String,
    /// The text for that file.
    snippet: String,
    /// Additional notes.
    notes: Vec<String>,
}

impl LocalCommand for McpConfig {
    const PATH: &'static str = "mcp.config";
    const IS_DATA: bool = true;
    const PASTED: PlainDefault = PlainDefault::Always;
    const ABOUT: &'static str = "Print the configuration an agent needs, ready to paste";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Connect Claude Code", input: r#"{"agent":"claude"}"# },
        Example {
            about: "Allow its tools and turn its own shell off",
            input: r#"{"agent":"claude","part":"permissions"}"#,
        },
    ];

    type Input = McpConfigInput;
    type Output = McpConfigOutput;

    async fn run(
        cx: &mut CommandContext,
        McpConfigInput { agent, scope, part }: McpConfigInput,
    ) -> Result<McpConfigOutput, Failure> {
        let host = &*cx.host;
        let scope = scope_of(agent, scope)?;
        let places = host.places();
        let workspace = places.as_ref().map(|places| places.workspace.as_path());
        let command = agent.command(host, scope);
        let to = Connection { scope, command: &command, workspace: workspace.unwrap_or("/".as_ref()) };
        let targets = agent.additions(to);
        let shown = |path: Option<std::path::PathBuf>| path.unwrap_or_default().display().to_string();
        let wanted = match part {
            ConfigPart::Approvals => {
                let file = places.ok().map(|places| places.config_dir.join(crate::config::FILE));
                let notes = vec!["without rules nothing is asked".to_owned()];
                return Ok(McpConfigOutput {
                    agent,
                    file: shown(file),
                    snippet: STARTER_RULES.to_owned(),
                    notes,
                });
            }
            ConfigPart::Server => targets.first(),
            ConfigPart::Permissions => targets.get(1).or(targets.first()),
        };
        let target = wanted.ok_or_else(|| Failure::new(Code::InternalError, "The agent has no files."))?;
        let mut snippet = String::new();
        for settings in target.settings(false) {
            let merged = target.file.format().add(&snippet, settings);
            snippet = merged.map_err(|error| Failure::internal(&error))?.text;
        }
        let file = shown(target.file.path(host));
        let mut notes =
            vec![format!("put it into {file}, or let `pilothouse mcp install {}` do it", agent.as_str())];
        if part == ConfigPart::Server && targets.len() > 1 {
            notes.push(format!(
                "its tools are allowed and its own shell is turned off in another file: `pilothouse mcp config {} --part \
                 permissions`",
                agent.as_str()
            ));
        }
        notes.push(agent.profile().next.to_owned());
        notes.extend(losses(agent));
        Ok(McpConfigOutput { agent, file, snippet, notes })
    }

    fn text(output: &McpConfigOutput) -> String {
        output.snippet.clone()
    }

    fn notes(output: &McpConfigOutput) -> Vec<String> {
        output.notes.clone()
    }
}

//! GitHub Copilot CLI.

mod hook;

use serde_json::json;

use super::client::McpClient;
use super::config_file::ConfigFolder::Own;
use super::config_file::{Addition, ConfigFile, ConfigFolder, Connection, InstallScope};
use super::own_shell::{
    EnvironmentMarks, OwnShell, ScreenQuestion, ShellRedirect, Trial, TrialScreen, words,
};
use super::profile::AgentProfile;

const FOLDER: ConfigFolder = Own("COPILOT_HOME", ".copilot");

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["copilot"],
    start: started_here!("Copilot CLI"),
    // A workspace's servers are in .mcp.json, which Claude Code reads as well.
    scopes: &[InstallScope::User],
    loss: "Copilot CLI's rules about its shell no longer apply",
    next: "`copilot mcp list` shows it; no setting turns its own shell off or allows a server's tools: start it with \
        `--excluded-tools=bash --allow-tool=pilothouse`",
    client: Some(McpClient::new("copilot-cli", "copilot")),
    own_shell: Some(SHELL),
    hook: Some(hook::HOOK),
    ..AgentProfile::terminal("Copilot CLI", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let server = json!({ "type": "local", "command": to.command, "args": ["mcp"], "tools": ["*"] });
    let servers = ConfigFile::new(FOLDER, &["mcp-config.json"]);
    vec![Addition::new(servers, json!({ "mcpServers": { "pilothouse": server } }))]
}

const SHELL: OwnShell = OwnShell {
    redirect: ShellRedirect::BashEnv { arguments: &["--bash-env=on"], has_input: false },
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks {
        session: Some("COPILOT_AGENT_SESSION_ID"),
        // What npm installed starts the program below itself.
        pid: Some("COPILOT_LOADER_PID"),
        ..EnvironmentMarks::of_program("COPILOT_CLI")
    })
};

const TRIAL: Trial = Trial {
    tools: &["bash"],
    arguments: |model| words(&["-p", model.prompt, "--allow-all"]),
    screen: Some(TrialScreen {
        arguments: |model| words(&["-i", model.prompt, "--allow-all"]),
        // The first answer, which is chosen, holds for this session.
        questions: &[ScreenQuestion { shows: "Do you trust the files in this folder?", keys: Some("\r") }],
        own_terminal: None,
    }),
    unset: &[],
    variables: |model| {
        vec![
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url)),
            ("COPILOT_PROVIDER_API_KEY", "none".to_owned()),
            ("COPILOT_MODEL", "gpt-4.1".to_owned()),
        ]
    },
    settings: None,
};

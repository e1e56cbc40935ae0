//! Qwen Code.

mod hook;

use serde_json::json;

use super::client::McpClient;
use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, Connection};
use super::own_shell::{EnvironmentMarks, OwnShell, ScriptedModel, Trial, TrialScreen, words};
use super::profile::AgentProfile;

/// The user's settings.
const OWN_SETTINGS: ConfigFile = ConfigFile::new(Own("QWEN_HOME", ".qwen"), &["settings.json"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["qwen"],
    start: started_here!("Qwen Code"),
    loss: "Qwen Code's sandbox and command confirmation no longer apply",
    next: "`qwen mcp list` shows it",
    client: Some(McpClient {
        defers: "every tool, behind its search",
        ..McpClient::new("qwen-cli-mcp-client", "qwen")
    }),
    own_shell: Some(SHELL),
    hook: Some(hook::HOOK),
    ..AgentProfile::terminal("Qwen Code", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let mut server = to.server();
    server["trust"] = json!(true);
    let file =
        if to.is_project() { ConfigFile::new(Workspace, &[".qwen/settings.json"]) } else { OWN_SETTINGS };
    let deny = json!({ "permissions": { "deny": [TOOL] } });
    vec![Addition::new(file, json!({ "mcpServers": { "pilothouse": server } })).shell(deny)]
}

const TOOL: &str = "run_shell_command";

const SHELL: OwnShell = OwnShell {
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks {
        session: Some("QWEN_CODE_SESSION_ID"),
        ..EnvironmentMarks::of_program("QWEN_CODE")
    })
};

const TRIAL: Trial = Trial {
    tools: &[TOOL],
    arguments: |model| trial(model, "-p"),
    screen: Some(TrialScreen {
        arguments: |model| trial(model, "-i"),
        questions: &[],
        own_terminal: Some("tools.shell.enableInteractiveShell"),
    }),
    unset: &[],
    variables: |_| Vec::new(),
    settings: None,
};

fn trial(model: ScriptedModel<'_>, form: &str) -> Vec<String> {
    let url = format!("{}/v1", model.url);
    let openai = ["--auth-type", "openai", "--openai-api-key", "none", "--openai-base-url", &url, "-m", "m"];
    words(&[&openai[..], &["--approval-mode", "yolo", form, model.prompt]].concat())
}

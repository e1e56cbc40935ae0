//! Gemini CLI.

use serde_json::json;

use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, Connection};
use super::profile::{AgentProfile, PassedVariables};

/// The folder that has `.gemini` in it.
const HOME: super::ConfigFolder = Own("GEMINI_CLI_HOME", "");

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["gemini"],
    loss: "Gemini CLI's sandbox and command confirmation no longer apply",
    next: "`gemini mcp list` shows it; it is disabled in an untrusted folder",
    // Words by which it recognises variables that contain a secret, or lead to one.
    environment: PassedVariables::Without(&[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "KEY",
        "AUTH",
        "CREDENTIAL",
        "CREDS",
        "PRIVATE",
        "CERT",
    ]),
    ..AgentProfile::terminal("Gemini CLI", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let settings = json!({ "mcpServers": { "pilothouse": to.server() } });
    let folder = if to.is_project() { Workspace } else { HOME };
    let allow = json!({ "mcpName": "pilothouse", "toolName": "*", "decision": "allow", "priority": 100 });
    let deny = json!({ "toolName": "run_shell_command", "decision": "deny", "priority": 100 });
    // A workspace has no policies of its own.
    let policies = ConfigFile::new(HOME, &[".gemini/policies/pilothouse.toml"]);
    let policy = Addition::new(policies, json!({ "rule": [allow] }));
    let server = Addition::new(ConfigFile::new(folder, &[".gemini/settings.json"]), settings);
    vec![server, policy.shell(json!({ "rule": [deny] }))]
}

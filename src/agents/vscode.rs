//! VS Code.

use serde_json::json;

use super::config_file::ConfigFolder::{Config, Workspace};
use super::config_file::{Addition, ConfigFile, Connection};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["code"],
    next: "turn the built-in terminal tools off in the chat's tool picker (\"Configure Tools\")",
    ..AgentProfile::editor("VS Code", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let file = if to.is_project() {
        ConfigFile::new(Workspace, &[".vscode/mcp.json"])
    } else {
        ConfigFile::new(Config, &["Code/User/mcp.json"])
    };
    // It starts servers in the home.
    let mut server = to.stdio_server();
    server["args"] = json!(["mcp", "--workspace", "${workspaceFolder}"]);
    vec![Addition::new(file, json!({ "servers": { "pilothouse": server } }))]
}

//! Zed.

use serde_json::json;

use super::config_file::ConfigFolder::{Config, Workspace};
use super::config_file::{Addition, ConfigFile, Connection};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["zed", "zeditor"],
    next: "turn the tool `terminal` off in the agent profile you use",
    ..AgentProfile::editor("Zed", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let server = json!({ "source": "custom", "command": to.command, "args": ["mcp"], "env": {} });
    let file = if to.is_project() {
        ConfigFile::new(Workspace, &[".zed/settings.json"])
    } else {
        ConfigFile::new(Config, &["zed/settings.json"])
    };
    vec![Addition::new(file, json!({ "context_servers": { "pilothouse": server } }))]
}

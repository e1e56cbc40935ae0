//! Goose.

use serde_json::json;

use super::config_file::{Addition, ConfigFile, ConfigFolder, Connection, InstallScope};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["goose"],
    scopes: &[InstallScope::User],
    next: "the built-in shell is a tool of the extension `developer`: turn that off with `goose configure`",
    ..AgentProfile::editor("goose", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let server = json!({
        "type": "stdio", "name": "pilothouse", "cmd": to.command, "args": ["mcp"], "enabled": true, "timeout": 300,
    });
    let file = ConfigFile::new(ConfigFolder::Config, &["goose/config.yaml"]);
    vec![Addition::new(file, json!({ "extensions": { "pilothouse": server } }))]
}

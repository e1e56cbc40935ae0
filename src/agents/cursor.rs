//! Cursor.

use serde_json::json;

use super::config_file::ConfigFolder::{Home, Workspace};
use super::config_file::{Addition, ConfigFile, Connection};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["cursor-agent", "cursor"],
    next: "no known setting turns off Cursor's own terminal tool: ask for pilothouse in a project rule",
    ..AgentProfile::editor("Cursor", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let folder = if to.is_project() { Workspace } else { Home };
    let settings = json!({ "mcpServers": { "pilothouse": to.server() } });
    vec![Addition::new(ConfigFile::new(folder, &[".cursor/mcp.json"]), settings)]
}

//! opencode.

use serde_json::json;

use super::config_file::ConfigFolder::{Config, Workspace};
use super::config_file::{Addition, ConfigFile, Connection, ShellSetting};
use super::profile::AgentProfile;

/// The user's settings.
const SETTINGS: ConfigFile = ConfigFile::new(Config, &["opencode/opencode.json", "opencode/opencode.jsonc"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["opencode"],
    loss: "opencode's permissions for `bash` no longer apply",
    next: "`opencode mcp list` shows it",
    shell_setting: Some(ShellSetting { file: SETTINGS, keys: &["shell"] }),
    ..AgentProfile::terminal("opencode", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    // The timeout, in milliseconds, applies to calls too.
    let server = json!({
        "type": "local", "command": [to.command, "mcp"], "enabled": true, "timeout": 120_000,
    });
    let settings = json!({ "mcp": { "pilothouse": server } });
    let shared = ConfigFile::new(Workspace, &["opencode.json", "opencode.jsonc"]);
    let file = if to.is_project() { shared } else { SETTINGS };
    vec![Addition::new(file, settings).shell(json!({ "permission": { "bash": "deny" } }))]
}

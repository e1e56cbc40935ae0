//! Claude Code.

use serde_json::json;

use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, Connection, InstallScope, ShellSetting};
use super::profile::AgentProfile;

/// Its own folder.
const FOLDER: super::ConfigFolder = Own("CLAUDE_CONFIG_DIR", ".claude");
/// The file with its servers and state.
const STATE: ConfigFile = ConfigFile::new(Own("CLAUDE_CONFIG_DIR", ""), &[".claude.json"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["claude"],
    scopes: &[InstallScope::Local, InstallScope::Project, InstallScope::User],
    loss: "Claude Code's Bash rules and sandbox no longer apply",
    next: "`claude mcp list` shows it; Claude Code asks once before it uses a shared .mcp.json",
    shell_setting: Some(ShellSetting {
        file: ConfigFile::new(FOLDER, &["settings.json"]),
        keys: &["env", "CLAUDE_CODE_SHELL"],
    }),
    ..AgentProfile::terminal("Claude Code", connect)
};

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let mut server = to.stdio_server();
    server["alwaysLoad"] = json!(true);
    let servers = json!({ "mcpServers": { "pilothouse": server } });
    let (server, settings) = match to.scope {
        InstallScope::Local => {
            let projects = json!({ "projects": { to.workspace.to_string_lossy(): servers } });
            (Addition::new(STATE, projects), ConfigFile::new(Workspace, &[".claude/settings.local.json"]))
        }
        InstallScope::Project => {
            let shared = ConfigFile::new(Workspace, &[".mcp.json"]);
            (Addition::new(shared, servers), ConfigFile::new(Workspace, &[".claude/settings.json"]))
        }
        InstallScope::User => (Addition::new(STATE, servers), ConfigFile::new(FOLDER, &["settings.json"])),
    };
    let allow = json!({ "permissions": { "allow": ["mcp__pilothouse__*"] } });
    let deny = json!({ "permissions": { "deny": ["Bash", "Monitor"] } });
    vec![server, Addition::new(settings, allow).shell(deny)]
}

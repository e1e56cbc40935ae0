//! Codex CLI.

use serde_json::json;

use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, Connection};
use super::profile::{AgentProfile, PassedVariables};

/// Its own folder.
const FOLDER: super::ConfigFolder = Own("CODEX_HOME", ".codex");
/// The file in which it names its executors.
pub const ENVIRONMENTS: ConfigFile = ConfigFile::new(FOLDER, &["environments.toml"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["codex"],
    loss: "Codex's sandbox and command approval no longer apply",
    next: "`codex mcp list` shows it; a project's own file takes effect once the project is trusted",
    environment: PassedVariables::Listed(&[
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "USER",
        "LANG",
        "LC_ALL",
        "TERM",
        "TMPDIR",
        "TZ",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "NODE_EXTRA_CA_CERTS",
        "PIP_CERT",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_FILE",
    ]),
    ..AgentProfile::terminal("Codex CLI", connect)
};

/// Variables that it is to pass on if set: the location of the runtime, and what commands need.
const VARIABLES: [&str; 7] = [
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
];

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let mut server = to.server();
    server["env_vars"] = json!(VARIABLES);
    server["tool_timeout_sec"] = json!(300);
    // Without this, `codex exec` refuses tools that change things.
    server["default_tools_approval_mode"] = json!("approve");
    let file = if to.is_project() {
        ConfigFile::new(Workspace, &[".codex/config.toml"])
    } else {
        ConfigFile::new(FOLDER, &["config.toml"])
    };
    let settings = json!({ "mcp_servers": { "pilothouse": server } });
    vec![Addition::new(file, settings).shell(json!({ "features": { "shell_tool": false } }))]
}

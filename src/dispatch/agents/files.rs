//! The configuration files of each agent, and the settings to add to each.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::Base::{Config, Home, Own, Workspace};
use super::{Agent, Scope};
use crate::dispatch::host::{Host, on_path};
use crate::dispatch::merge::Format;
use crate::files::{self, Links};

/// The location of a file: a folder, and the names it may have there, the usual one first.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) struct Place {
    base: Base,
    names: &'static [&'static str],
}

/// A folder that contains configuration files of agents.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) enum Base {
    /// The workspace.
    Workspace,
    /// The user's home.
    Home,
    /// `$XDG_CONFIG_HOME`, or `.config` in the home.
    Config,
    /// The folder named by a variable, or a folder in the home.
    Own(&'static str, &'static str),
}

/// A configuration file of an agent, and the settings to add to it.
#[derive(Debug)]
pub(in crate::dispatch) struct Target {
    /// The file.
    pub(in crate::dispatch) place: Place,
    /// The settings that connect the agent and allow it to call our tools.
    pub(in crate::dispatch) connect: Value,
    /// The settings that turn off the agent's own shell; null if this file has no such setting.
    pub(in crate::dispatch) shell: Value,
}

/// Variables that Codex is to pass on if set: the location of the runtime, and what commands need.
const CODEX_VARIABLES: [&str; 7] = [
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
];
impl Place {
    pub(in crate::dispatch) const fn new(base: Base, names: &'static [&'static str]) -> Self {
        Self { base, names }
    }

    /// Returns the path of the existing file, or the usual path if there is none.
    pub(in crate::dispatch) fn path(self, host: &dyn Host) -> Option<PathBuf> {
        let variable = |name: &str| host.variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let folder = match self.base {
            Workspace => host.places().ok()?.workspace,
            Home => variable("HOME")?,
            Config => variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")))?,
            Own(name, usual) => variable(name).or_else(|| Some(variable("HOME")?.join(usual)))?,
        };
        let mut paths = self.names.iter().map(|name| folder.join(name));
        let usual = paths.next()?;
        let other = if usual.exists() { None } else { paths.find(|path| path.exists()) };
        Some(other.unwrap_or(usual))
    }

    /// Returns whether the file is shared with others who work in the workspace.
    pub(in crate::dispatch) fn is_in_workspace(self) -> bool {
        matches!(self.base, Workspace)
    }

    /// Returns the file's format.
    pub(in crate::dispatch) fn format(self) -> Format {
        Format::of(Path::new(self.names.first().unwrap_or(&"")))
    }
}

impl Target {
    fn new(base: Base, names: &'static [&'static str], connect: Value) -> Self {
        Self { place: Place::new(base, names), connect, shell: Value::Null }
    }

    fn shell(self, shell: Value) -> Self {
        Self { shell, ..self }
    }

    /// Returns the settings to add to the file.
    pub(in crate::dispatch) fn settings(&self, keeps_shell: bool) -> impl Iterator<Item = &Value> {
        let shell = Some(&self.shell).filter(|shell| !keeps_shell && !shell.is_null());
        std::iter::once(&self.connect).chain(shell)
    }
}

impl Agent {
    /// Returns the files that connect the agent in a scope, the one with the server entry first, and the settings to
    /// add to each. `command` is the command that starts our program.
    pub(in crate::dispatch) fn targets(self, scope: Scope, command: &str, workspace: &Path) -> Vec<Target> {
        let server = json!({ "command": command, "args": ["mcp"] });
        let stdio = json!({ "type": "stdio", "command": command, "args": ["mcp"] });
        let is_project = scope == Scope::Project;
        match self {
            Self::Claude => {
                let mut server = stdio;
                server["alwaysLoad"] = json!(true);
                let servers = json!({ "mcpServers": { "pilothouse": server } });
                let state = || Own("CLAUDE_CONFIG_DIR", "");
                let (server, settings) = match scope {
                    Scope::Local => {
                        let projects = json!({ "projects": { workspace.to_string_lossy(): servers } });
                        let names: &[_] = &[".claude/settings.local.json"];
                        (Target::new(state(), &[".claude.json"], projects), (Workspace, names))
                    }
                    Scope::Project => {
                        let names: &[_] = &[".claude/settings.json"];
                        (Target::new(Workspace, &[".mcp.json"], servers), (Workspace, names))
                    }
                    Scope::User => {
                        let names: &[_] = &["settings.json"];
                        let base = Own("CLAUDE_CONFIG_DIR", ".claude");
                        (Target::new(state(), &[".claude.json"], servers), (base, names))
                    }
                };
                let allow = json!({ "permissions": { "allow": ["mcp__pilothouse__*"] } });
                let deny = json!({ "permissions": { "deny": ["Bash", "Monitor"] } });
                vec![server, Target::new(settings.0, settings.1, allow).shell(deny)]
            }
            Self::Codex => {
                let mut server = server;
                server["env_vars"] = json!(CODEX_VARIABLES);
                server["tool_timeout_sec"] = json!(300);
                // Without this, `codex exec` refuses tools that change things.
                server["default_tools_approval_mode"] = json!("approve");
                let settings = json!({ "mcp_servers": { "pilothouse": server } });
                let target = if is_project {
                    Target::new(Workspace, &[".codex/config.toml"], settings)
                } else {
                    Target::new(Own("CODEX_HOME", ".codex"), &["config.toml"], settings)
                };
                vec![target.shell(json!({ "features": { "shell_tool": false } }))]
            }
            Self::Gemini => {
                let settings = json!({ "mcpServers": { "pilothouse": server } });
                let home = Own("GEMINI_CLI_HOME", "");
                let base = if is_project { Workspace } else { home };
                let allow =
                    json!({ "mcpName": "pilothouse", "toolName": "*", "decision": "allow", "priority": 100 });
                let deny = json!({ "toolName": "run_shell_command", "decision": "deny", "priority": 100 });
                // A workspace has no policies of its own.
                let policy =
                    Target::new(home, &[".gemini/policies/pilothouse.toml"], json!({ "rule": [allow] }));
                let server = Target::new(base, &[".gemini/settings.json"], settings);
                vec![server, policy.shell(json!({ "rule": [deny] }))]
            }
            Self::Opencode => {
                // The timeout, in milliseconds, applies to calls too.
                let server = json!({
                    "type": "local", "command": [command, "mcp"], "enabled": true, "timeout": 120_000,
                });
                let settings = json!({ "mcp": { "pilothouse": server } });
                let target = if is_project {
                    Target::new(Workspace, &["opencode.json", "opencode.jsonc"], settings)
                } else {
                    Target::new(Config, &["opencode/opencode.json", "opencode/opencode.jsonc"], settings)
                };
                vec![target.shell(json!({ "permission": { "bash": "deny" } }))]
            }
            Self::Cursor => {
                let base = if is_project { Workspace } else { Home };
                vec![Target::new(
                    base,
                    &[".cursor/mcp.json"],
                    json!({ "mcpServers": { "pilothouse": server } }),
                )]
            }
            Self::Vscode => {
                let settings = json!({ "servers": { "pilothouse": stdio } });
                vec![if is_project {
                    Target::new(Workspace, &[".vscode/mcp.json"], settings)
                } else {
                    Target::new(Config, &["Code/User/mcp.json"], settings)
                }]
            }
            Self::Zed => {
                let server = json!({ "source": "custom", "command": command, "args": ["mcp"], "env": {} });
                let settings = json!({ "context_servers": { "pilothouse": server } });
                vec![if is_project {
                    Target::new(Workspace, &[".zed/settings.json"], settings)
                } else {
                    Target::new(Config, &["zed/settings.json"], settings)
                }]
            }
            Self::Goose => {
                let server = json!({
                    "type": "stdio", "name": "pilothouse", "cmd": command, "args": ["mcp"], "enabled": true,
                    "timeout": 300,
                });
                let settings = json!({ "extensions": { "pilothouse": server } });
                vec![Target::new(Config, &["goose/config.yaml"], settings)]
            }
        }
    }

    /// Returns the command by which the agent starts our program: its name if found on the agent's PATH, otherwise
    /// its path. A shared file always uses the name.
    pub(in crate::dispatch) fn command(self, host: &dyn Host, scope: Scope) -> String {
        const NAME: &str = "pilothouse";
        let Some(own) = host.program() else { return NAME.to_owned() };
        let is_found =
            on_path(host, NAME).is_some_and(|path| path.canonicalize().ok() == own.canonicalize().ok());
        if scope == Scope::Project || is_found && !self.row().is_graphical {
            return NAME.to_owned();
        }
        own.to_string_lossy().into_owned()
    }
}

/// The longest file of an agent that is read.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a file of an agent: its settings, its rules; `None` if there is none that can be read.
pub(in crate::dispatch) fn text(path: &Path) -> Option<String> {
    files::read_text(path, Links::Followed, MOST_BYTES).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_connected_in_each_of_its_scopes_by_files_that_can_be_read() {
        for agent in Agent::ALL {
            let row = agent.row();
            for scope in row.scopes {
                let targets = agent.targets(*scope, "/bin/pilothouse", Path::new("/w"));
                assert!(targets[0].connect.to_string().contains("/bin/pilothouse"), "{agent:?}");
                for target in targets {
                    let format = target.place.format();
                    let mut text = String::new();
                    for settings in target.settings(false) {
                        text = format.add(&text, settings).expect("a file").text;
                    }
                    let read = format.read(&text).expect(&text);
                    assert!(
                        target.settings(false).all(|one| format
                            .add(&text, one)
                            .expect("one")
                            .added
                            .is_empty())
                    );
                    assert!(read.is_object(), "{agent:?}: {text}");
                }
            }
            assert_eq!(serde_json::to_value(agent).expect("a word"), agent.as_str());
        }
    }

    #[test]
    fn every_row_speaks_of_the_loss_and_of_the_agents_own_shell() {
        for agent in Agent::ALL {
            let row = agent.row();
            assert!(row.loss.ends_with("no longer apply"), "{agent:?}");
            let targets = agent.targets(row.scopes[0], "x", Path::new("/w"));
            let has_setting = targets.iter().any(|target| !target.shell.is_null());
            assert!(has_setting || row.next.contains("shell") || row.next.contains("terminal"), "{agent:?}");
        }
    }
}

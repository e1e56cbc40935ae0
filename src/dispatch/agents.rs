//! The agents that `mcp install` and `mcp config` connect and `doctor` looks for.
//!
//! **To add one**: a variant of [`Agent`], its place in [`Agent::ALL`], its row in [`Agent::row`] and what its files
//! get in [`Agent::targets`], all in this file; the compiler asks for the last two. Nothing else names an agent.
//!
//! Facts about other programs, which change: Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and opencode 1.18.33
//! were checked with the programs themselves (November 2026), the others against their manuals (docs/decisions).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::IntoStaticStr;

use self::Base::{Config, Home, Own, Workspace};
use super::host::{Host, on_path};
use super::merge::{Format, OURS};

/// An agent that can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Zed.
    Zed,
    /// Goose.
    Goose,
}

/// For whom an agent is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum Scope {
    /// You, in this workspace.
    Local,
    /// Everybody who works in this workspace: the files are shared.
    Project,
    /// You, everywhere.
    User,
}

/// How one agent is found on a machine and connected.
#[derive(Debug)]
pub(super) struct Row {
    /// What it is called.
    pub(super) name: &'static str,
    /// The names its program may have.
    pub(super) programs: &'static [&'static str],
    /// The scopes it has, the usual one first.
    pub(super) scopes: &'static [Scope],
    /// It is started from a desktop, without the PATH of a shell.
    pub(super) is_graphical: bool,
    /// What the agent itself no longer keeps from happening.
    pub(super) loss: &'static str,
    /// What is left to do by hand, and how to see that it is connected.
    pub(super) next: &'static str,
    /// What it keeps of results, and which tools its model does not see at once.
    pub(super) results: &'static str,
    /// Which variables its server gets.
    pub(super) environment: Environment,
}

/// What an agent hands on of its environment to a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Environment {
    /// All of it.
    Whole,
    /// These variables, and those that the server's entry names.
    Listed(&'static [&'static str]),
    /// All but those whose names contain one of these words.
    Without(&'static [&'static str]),
}

/// How an agent's configuration starts our program.
#[derive(Debug)]
pub(super) struct Entry {
    /// The file.
    pub(super) file: PathBuf,
    /// For whom the file holds.
    pub(super) scope: Scope,
    /// The program.
    pub(super) command: String,
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// Variables it sets.
    set: Vec<(String, String)>,
    /// Variables it has handed on.
    handed_on: Vec<String>,
}

/// Where a file lies: a folder, and the names it may have there, the usual one first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    base: Base,
    names: &'static [&'static str],
}

/// A folder that files of agents lie in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base {
    /// The workspace.
    Workspace,
    /// The person's home.
    Home,
    /// `$XDG_CONFIG_HOME`, else `.config` in the home.
    Config,
    /// The folder that a variable names, else one in the home.
    Own(&'static str, &'static str),
}

/// A file of an agent, and what it gets.
#[derive(Debug)]
pub(super) struct Target {
    /// The file.
    pub(super) place: Place,
    /// What connects the agent and lets it call our tools.
    pub(super) connect: Value,
    /// What turns its own shell off; null where it has no setting for that in this file.
    pub(super) shell: Value,
}

/// Variables that Codex hands on when they are set: where the runtime is, and what commands need.
const CODEX_VARIABLES: [&str; 7] = [
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
];
/// Variables that Codex hands on to every server.
const CODEX_LIST: [&str; 16] = [
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
];
/// What Gemini CLI takes for the name of a secret, or of what leads to one.
const GEMINI_SECRETS: [&str; 10] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "AUTH", "CREDENTIAL", "CREDS", "PRIVATE", "CERT"];
/// The loss of an agent whose rules have no name of their own.
const OWN_TERMINAL: &str = "the agent's own rules for its terminal no longer hold";

impl Place {
    pub(super) const fn new(base: Base, names: &'static [&'static str]) -> Self {
        Self { base, names }
    }

    /// Returns the path: that of the file that is there, else the usual one.
    pub(super) fn path(self, host: &dyn Host) -> Option<PathBuf> {
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

    /// Tells whether others who work in the workspace have the file too.
    pub(super) fn is_in_workspace(self) -> bool {
        matches!(self.base, Workspace)
    }

    /// Returns how the file is written.
    pub(super) fn format(self) -> Format {
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

    /// Returns what the file gets.
    pub(super) fn settings(&self, keeps_shell: bool) -> impl Iterator<Item = &Value> {
        let shell = Some(&self.shell).filter(|shell| !keeps_shell && !shell.is_null());
        std::iter::once(&self.connect).chain(shell)
    }
}

impl Agent {
    /// All of them, in the order of help texts.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Cursor,
        Self::Vscode,
        Self::Zed,
        Self::Goose,
    ];

    /// Returns the word it is called by.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns what is known of it.
    pub(super) fn row(self) -> Row {
        let editor = |name, programs, next| Row {
            name,
            programs,
            scopes: &[Scope::User, Scope::Project],
            is_graphical: true,
            loss: OWN_TERMINAL,
            next,
            results: "what it keeps of a result was not measured",
            environment: Environment::Whole,
        };
        let terminal = |name, programs, loss, next| Row {
            name,
            programs,
            scopes: &[Scope::User, Scope::Project],
            is_graphical: false,
            loss,
            next,
            results: "",
            environment: Environment::Whole,
        };
        match self {
            Self::Claude => Row {
                scopes: &[Scope::Local, Scope::Project, Scope::User],
                results: "tools are deferred behind its tool search unless the entry has alwaysLoad",
                ..terminal(
                    "Claude Code",
                    &["claude"],
                    "Claude Code's Bash rules and its sandbox no longer hold",
                    "`claude mcp list` shows it; of a shared .mcp.json Claude Code asks once",
                )
            },
            Self::Codex => Row {
                results: "with a model that Codex knows, tools are deferred behind its tool search, which returns 8, and results \
                          are cut at 40,000 characters; with any other model at about 9,500",
                environment: Environment::Listed(&CODEX_LIST),
                ..terminal(
                    "Codex CLI",
                    &["codex"],
                    "Codex's sandbox and its approval of commands no longer hold",
                    "`codex mcp list` shows it; a project's own file counts once the project is trusted",
                )
            },
            Self::Gemini => Row {
                results: "results are cut at 40,000 characters; no tool is deferred",
                environment: Environment::Without(&GEMINI_SECRETS),
                ..terminal(
                    "Gemini CLI",
                    &["gemini"],
                    "Gemini CLI's sandbox and its confirmation of commands no longer hold",
                    "`gemini mcp list` shows it; in a folder that is not trusted it is disabled",
                )
            },
            Self::Opencode => Row {
                results: "of a result the first 2,000 lines or 50 KB are kept; no tool is deferred",
                ..terminal(
                    "opencode",
                    &["opencode"],
                    "opencode's permissions for `bash` no longer hold",
                    "`opencode mcp list` shows it",
                )
            },
            Self::Cursor => editor(
                "Cursor",
                &["cursor-agent", "cursor"],
                "no setting is known that turns Cursor's own terminal tool off: ask for pilothouse in a project rule",
            ),
            Self::Vscode => editor(
                "VS Code",
                &["code"],
                "turn the built-in terminal tools off in the chat's tool picker (\"Configure Tools\")",
            ),
            Self::Zed => editor(
                "Zed",
                &["zed", "zeditor"],
                "turn the tool `terminal` off in the agent profile you use",
            ),
            Self::Goose => Row {
                scopes: &[Scope::User],
                ..editor(
                    "goose",
                    &["goose"],
                    "the built-in shell is a tool of the extension `developer`: turn that off with `goose configure`",
                )
            },
        }
    }

    /// Returns the files that connect it in a scope, the one with the server first, and what each gets. `command` is
    /// how our program is started.
    pub(super) fn targets(self, scope: Scope, command: &str, workspace: &Path) -> Vec<Target> {
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
                // Without it `codex exec` refuses tools that change things.
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
                // The timeout, in milliseconds, covers calls too.
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

    /// Returns how the agent starts our program: by name where its own PATH leads to this very program, else by path.
    /// A file that others share names it.
    pub(super) fn command(self, host: &dyn Host, scope: Scope) -> String {
        const NAME: &str = "pilothouse";
        let Some(own) = host.program() else { return NAME.to_owned() };
        let is_found =
            on_path(host, NAME).is_some_and(|path| path.canonicalize().ok() == own.canonicalize().ok());
        if scope == Scope::Project || is_found && !self.row().is_graphical {
            return NAME.to_owned();
        }
        own.to_string_lossy().into_owned()
    }

    /// Finds what starts our program: in the files of the scopes from the narrowest, the first that does.
    pub(super) fn entry(self, host: &dyn Host) -> Option<Entry> {
        let workspace = host.places().map(|places| places.workspace).unwrap_or_default();
        [Scope::Local, Scope::Project, Scope::User].into_iter().find_map(|scope| {
            let is_known = self.row().scopes.contains(&scope);
            let target = self.targets(scope, "", &workspace).into_iter().next().filter(|_| is_known)?;
            let file = target.place.path(host)?;
            let text = std::fs::read_to_string(&file).ok()?;
            let settings = target.place.format().read(&text).ok()?;
            let found = keys(&target.connect).iter().try_fold(&settings, |at, key| at.get(key))?;
            Entry::read(file, scope, found)
        })
    }

    /// Returns the variables that the agent would start our program with, were it started from here.
    pub(super) fn environment(self, host: &dyn Host, entry: &Entry) -> Vec<(String, OsString)> {
        let is_handed_on = |name: &str| match self.row().environment {
            Environment::Whole => true,
            Environment::Listed(list) => {
                list.contains(&name) || entry.handed_on.iter().any(|own| own == name)
            }
            Environment::Without(words) => {
                let name = name.to_ascii_uppercase();
                !words.iter().any(|word| name.contains(word))
            }
        };
        let all = host.variables().into_iter().filter(|(name, _)| is_handed_on(name));
        let set = entry.set.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
        all.chain(set).collect()
    }
}

impl Entry {
    fn read(file: PathBuf, scope: Scope, entry: &Value) -> Option<Self> {
        let texts = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        let (command, args) = match &entry["command"] {
            Value::Array(_) => {
                let mut words = texts(&entry["command"]).into_iter();
                (words.next()?, words.collect())
            }
            command => (command.as_str().or(entry["cmd"].as_str())?.to_owned(), texts(&entry["args"])),
        };
        let set =
            ["env", "environment", "envs"].into_iter().filter_map(|key| entry[key].as_object()).flatten();
        let set = set.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Some(Self { file, scope, command, args, set: set.collect(), handed_on: texts(&entry["env_vars"]) })
    }

    /// Says how our program is started, as it would be typed.
    pub(super) fn told(&self) -> String {
        std::iter::once(&self.command).chain(&self.args).cloned().collect::<Vec<_>>().join(" ")
    }
}

/// Returns the keys that lead to our entry in what an agent's file gets.
fn keys(settings: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    let mut at = settings;
    while let Some((key, inner)) = at.as_object().and_then(|object| object.iter().next()) {
        keys.push(key.clone());
        if key == OURS {
            break;
        }
        at = inner;
    }
    keys
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
            assert!(row.loss.ends_with("no longer hold"), "{agent:?}");
            let targets = agent.targets(row.scopes[0], "x", Path::new("/w"));
            let has_setting = targets.iter().any(|target| !target.shell.is_null());
            assert!(has_setting || row.next.contains("shell") || row.next.contains("terminal"), "{agent:?}");
        }
    }
}

//! The agents that `mcp config` connects and `doctor` looks for.
//!
//! **To add one**: a variant of [`Agent`], its place in [`Agent::ALL`] and its row in [`Agent::row`], all in this
//! file; the compiler asks for the row. Nothing else names an agent.
//!
//! Facts about other programs, which change: Claude Code, Codex, Gemini CLI and opencode were checked
//! with the programs themselves (November 2026), the others against their manuals.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use self::Body::{Json, Shell, Toml, Yaml};
use self::Configuration::{Home, Own, Workspace};
use crate::config::STARTER_RULES;

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

/// How one agent is found on a machine and connected.
#[derive(Debug)]
pub struct Row {
    /// The names its program may have.
    pub(super) programs: &'static [&'static str],
    /// The files it may be configured by.
    pub(super) configurations: &'static [Configuration],
    /// What the agent itself no longer keeps from happening.
    loss: &'static str,
    /// What to do to connect it.
    parts: &'static [Part],
}

/// Where a configuration lies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Configuration {
    /// In the folder that a variable names.
    Own(&'static str, &'static str),
    /// In the person's home.
    Home(&'static str),
    /// In the workspace.
    Workspace(&'static str),
}

/// One thing to do.
#[derive(Debug)]
struct Part {
    note: &'static str,
    body: Body,
}

/// What to type or to put into a file.
#[derive(Debug)]
enum Body {
    Shell(&'static str),
    Json(&'static str),
    Toml(&'static str),
    Yaml(&'static str),
    /// The note says it all.
    None,
}

/// The loss of an agent whose rules have no name of their own.
const OWN_TERMINAL: &str = "the agent's own rules for its terminal no longer hold";
/// What follows from commands that go another way than the agent's own shell.
const PROTECTION: &str =
    "Pilothouse runs each one with your rights and in no sandbox, and asks about none until
there are approval rules. These are some to begin with: put them into config.toml
(pilothouse config edit) and add your own.";

impl Row {
    /// Returns the command that connects the agent, where it has one.
    pub(super) fn command(&self) -> Option<&'static str> {
        self.parts.iter().find_map(|part| if let Shell(command) = part.body { Some(command) } else { None })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            for line in part.note.lines() {
                writeln!(f, "# {line}")?;
            }
            if let Shell(text) | Json(text) | Toml(text) | Yaml(text) = part.body {
                writeln!(f, "{text}")?;
            }
        }
        writeln!(f, "\n# What this takes away: {} for commands run here.", self.loss)?;
        for line in PROTECTION.lines() {
            writeln!(f, "# {line}")?;
        }
        f.write_str(STARTER_RULES)
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

    /// Returns what is known of it; printed, how to connect it.
    #[must_use]
    pub fn row(self) -> Row {
        match self {
            Self::Claude => Row {
                programs: &["claude"],
                configurations: &[Home(".claude.json"), Workspace(".mcp.json")],
                loss: "Claude Code's Bash rules and its sandbox no longer hold",
                parts: &[
                    Part {
                        note: "Claude Code: once, in the project",
                        body: Shell("claude mcp add pilothouse -- pilothouse mcp"),
                    },
                    Part {
                        note: "or in .mcp.json (alwaysLoad keeps the tools in sight instead of behind a tool search)",
                        body: Json(
                            r#"{
  "mcpServers": {
    "pilothouse": { "type": "stdio", "command": "pilothouse", "args": ["mcp"], "alwaysLoad": true }
  }
}"#,
                        ),
                    },
                    Part {
                        note: "Turn the built-in shell off and allow these tools: .claude/settings.json\n(for one run: claude --disallowedTools \"Bash,Monitor\")",
                        body: Json(
                            r#"{
  "permissions": { "allow": ["mcp__pilothouse__*"], "deny": ["Bash", "Monitor"] }
}"#,
                        ),
                    },
                ],
            },
            Self::Codex => Row {
                programs: &["codex"],
                configurations: &[
                    Own("CODEX_HOME", "config.toml"),
                    Home(".codex/config.toml"),
                    Workspace(".codex/config.toml"),
                ],
                loss: "Codex's sandbox and its approval of commands no longer hold",
                parts: &[
                    Part {
                        note: "Codex CLI: once",
                        body: Shell("codex mcp add pilothouse -- pilothouse mcp"),
                    },
                    Part {
                        note: "or in ~/.codex/config.toml; the approval mode lets `codex exec` use tools that change things,\nand the feature turns the built-in shell off (for one run: codex -c features.shell_tool=false)",
                        body: Toml(
                            r#"[mcp_servers.pilothouse]
command = "pilothouse"
args = ["mcp"]
tool_timeout_sec = 300
default_tools_approval_mode = "approve"

[features]
shell_tool = false"#,
                        ),
                    },
                ],
            },
            Self::Gemini => Row {
                programs: &["gemini"],
                configurations: &[Home(".gemini/settings.json"), Workspace(".gemini/settings.json")],
                loss: "Gemini CLI's sandbox and its confirmation of commands no longer hold",
                parts: &[
                    Part {
                        note: "Gemini CLI: once (a folder that is not trusted shows the server as disabled)",
                        body: Shell("gemini mcp add --scope user --trust pilothouse pilothouse mcp"),
                    },
                    Part {
                        note: "or in ~/.gemini/settings.json; `exclude` turns the built-in shell off",
                        body: Json(
                            r#"{
  "mcpServers": {
    "pilothouse": { "command": "pilothouse", "args": ["mcp"], "trust": true }
  },
  "tools": { "exclude": ["run_shell_command"] }
}"#,
                        ),
                    },
                ],
            },
            Self::Opencode => Row {
                programs: &["opencode"],
                configurations: &[
                    Home(".config/opencode/opencode.json"),
                    Home(".config/opencode/opencode.jsonc"),
                    Workspace("opencode.json"),
                    Workspace("opencode.jsonc"),
                ],
                loss: "opencode's permissions for `bash` no longer hold",
                parts: &[Part {
                    note: "opencode: opencode.json; the timeout (ms) covers calls too, `deny` turns the built-in shell off",
                    body: Json(
                        r#"{
  "mcp": {
    "pilothouse": { "type": "local", "command": ["pilothouse", "mcp"], "enabled": true, "timeout": 120000 }
  },
  "permission": { "bash": "deny" }
}"#,
                    ),
                }],
            },
            Self::Cursor => Row {
                programs: &["cursor-agent", "cursor"],
                configurations: &[Home(".cursor/mcp.json"), Workspace(".cursor/mcp.json")],
                loss: OWN_TERMINAL,
                parts: &[
                    Part {
                        note: "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in the project",
                        body: Json(
                            r#"{
  "mcpServers": {
    "pilothouse": { "command": "pilothouse", "args": ["mcp"] }
  }
}"#,
                        ),
                    },
                    Part {
                        note: "No setting is known that turns Cursor's own terminal tool off: ask for pilothouse in a project rule.",
                        body: Body::None,
                    },
                ],
            },
            Self::Vscode => Row {
                programs: &["code"],
                configurations: &[Home(".config/Code/User/mcp.json"), Workspace(".vscode/mcp.json")],
                loss: OWN_TERMINAL,
                parts: &[
                    Part {
                        note: "VS Code: .vscode/mcp.json",
                        body: Json(
                            r#"{
  "servers": {
    "pilothouse": { "type": "stdio", "command": "pilothouse", "args": ["mcp"] }
  }
}"#,
                        ),
                    },
                    Part {
                        note: "Turn the built-in terminal tools off in the chat's tool picker (\"Configure Tools\").",
                        body: Body::None,
                    },
                ],
            },
            Self::Zed => Row {
                programs: &["zed", "zeditor"],
                configurations: &[Home(".config/zed/settings.json"), Workspace(".zed/settings.json")],
                loss: OWN_TERMINAL,
                parts: &[
                    Part {
                        note: "Zed: settings.json",
                        body: Json(
                            r#"{
  "context_servers": {
    "pilothouse": { "command": "pilothouse", "args": ["mcp"], "env": {} }
  }
}"#,
                        ),
                    },
                    Part {
                        note: "Turn the tool `terminal` off in the agent profile you use.",
                        body: Body::None,
                    },
                ],
            },
            Self::Goose => Row {
                programs: &["goose"],
                configurations: &[Home(".config/goose/config.yaml")],
                loss: OWN_TERMINAL,
                parts: &[
                    Part {
                        note: "goose: ~/.config/goose/config.yaml",
                        body: Yaml(
                            "extensions:
  pilothouse:
    type: stdio
    name: pilothouse
    cmd: pilothouse
    args: [mcp]
    enabled: true
    timeout: 300",
                        ),
                    },
                    Part {
                        note: "The built-in shell is a tool of the extension `developer`: turn that off with `goose configure`.",
                        body: Body::None,
                    },
                ],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_snippet_that_starts_the_shim_and_speaks_of_its_own_shell() {
        for agent in Agent::ALL {
            let text = agent.row().to_string();
            assert!(text.contains("pilothouse") && text.contains("mcp"), "{agent:?}: {text}");
            let speaks = ["shell", "terminal", "Bash"].iter().any(|word| text.contains(word));
            assert!(speaks, "{agent:?}: {text}");
            assert!(text.contains("no longer hold for commands run here"), "{agent:?}: {text}");
            assert!(text.contains("in no sandbox") && text.ends_with(STARTER_RULES), "{agent:?}: {text}");
            assert_eq!(serde_json::to_value(agent).expect("a word"), agent.as_str());
        }
    }

    #[test]
    fn every_body_is_what_it_says() {
        for part in Agent::ALL.into_iter().flat_map(|agent| agent.row().parts) {
            match part.body {
                Body::Json(text) => drop(serde_json::from_str::<serde_json::Value>(text).expect(text)),
                Body::Toml(text) => drop(text.parse::<toml::Table>().expect(text)),
                Body::Shell(text) => assert!(text.ends_with("pilothouse mcp"), "{text}"),
                Body::Yaml(text) => assert!(!text.contains('\t'), "{text}"),
                Body::None => {}
            }
        }
    }
}

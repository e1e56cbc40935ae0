//! What each coding agent needs in its configuration to run its commands through Pilothouse.
//!
//! Facts about other programs, which change: Claude Code, Codex, Gemini CLI and opencode were checked
//! with the programs themselves (November 2026), the others against their manuals.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::STARTER_RULES;

/// An agent with a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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

/// The agents with a snippet, in the order of help texts.
pub const AGENTS: [Agent; 8] = [
    Agent::Claude,
    Agent::Codex,
    Agent::Gemini,
    Agent::Opencode,
    Agent::Cursor,
    Agent::Vscode,
    Agent::Zed,
    Agent::Goose,
];

impl Agent {
    /// Returns the word it is called by, which is the name of its program but for VS Code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Zed => "zed",
            Self::Goose => "goose",
        }
    }
}

/// How to connect one agent.
#[derive(Debug)]
pub struct Snippet {
    parts: &'static [Part],
    /// What the agent itself no longer keeps from happening.
    loss: &'static str,
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

/// Returns the snippet of an agent.
#[must_use]
pub fn snippet(agent: Agent) -> Snippet {
    let parts: &[Part] = match agent {
        Agent::Claude => CLAUDE,
        Agent::Codex => CODEX,
        Agent::Gemini => GEMINI,
        Agent::Opencode => OPENCODE,
        Agent::Cursor => CURSOR,
        Agent::Vscode => VSCODE,
        Agent::Zed => ZED,
        Agent::Goose => GOOSE,
    };
    let loss = match agent {
        Agent::Claude => "Claude Code's Bash rules and its sandbox no longer hold",
        Agent::Codex => "Codex's sandbox and its approval of commands no longer hold",
        Agent::Gemini => "Gemini CLI's sandbox and its confirmation of commands no longer hold",
        Agent::Opencode => "opencode's permissions for `bash` no longer hold",
        Agent::Cursor | Agent::Vscode | Agent::Zed | Agent::Goose => {
            "the agent's own rules for its terminal no longer hold"
        }
    };
    Snippet { parts, loss }
}

/// What follows from commands that go another way than the agent's own shell.
const PROTECTION: &str =
    "Pilothouse runs each one with your rights and in no sandbox, and asks about none until
there are approval rules. These are some to begin with: put them into config.toml
(pilothouse config edit) and add your own.";

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            for line in part.note.lines() {
                writeln!(f, "# {line}")?;
            }
            if let Body::Shell(text) | Body::Json(text) | Body::Toml(text) | Body::Yaml(text) = part.body {
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

const CLAUDE: &[Part] = &[
    Part {
        note: "Claude Code: once, in the project",
        body: Body::Shell("claude mcp add pilothouse -- pilothouse mcp"),
    },
    Part {
        note: "or in .mcp.json (alwaysLoad keeps the tools in sight instead of behind a tool search)",
        body: Body::Json(
            r#"{
  "mcpServers": {
    "pilothouse": { "type": "stdio", "command": "pilothouse", "args": ["mcp"], "alwaysLoad": true }
  }
}"#,
        ),
    },
    Part {
        note: "Turn the built-in shell off and allow these tools: .claude/settings.json\n(for one run: claude --disallowedTools \"Bash,Monitor\")",
        body: Body::Json(
            r#"{
  "permissions": { "allow": ["mcp__pilothouse__*"], "deny": ["Bash", "Monitor"] }
}"#,
        ),
    },
];

const CODEX: &[Part] = &[
    Part { note: "Codex CLI: once", body: Body::Shell("codex mcp add pilothouse -- pilothouse mcp") },
    Part {
        note: "or in ~/.codex/config.toml; the approval mode lets `codex exec` use tools that change things,\nand the feature turns the built-in shell off (for one run: codex -c features.shell_tool=false)",
        body: Body::Toml(
            r#"[mcp_servers.pilothouse]
command = "pilothouse"
args = ["mcp"]
tool_timeout_sec = 300
default_tools_approval_mode = "approve"

[features]
shell_tool = false"#,
        ),
    },
];

const GEMINI: &[Part] = &[
    Part {
        note: "Gemini CLI: once (a folder that is not trusted shows the server as disabled)",
        body: Body::Shell("gemini mcp add --scope user --trust pilothouse pilothouse mcp"),
    },
    Part {
        note: "or in ~/.gemini/settings.json; `exclude` turns the built-in shell off",
        body: Body::Json(
            r#"{
  "mcpServers": {
    "pilothouse": { "command": "pilothouse", "args": ["mcp"], "trust": true }
  },
  "tools": { "exclude": ["run_shell_command"] }
}"#,
        ),
    },
];

const OPENCODE: &[Part] = &[Part {
    note: "opencode: opencode.json; the timeout (ms) covers calls too, `deny` turns the built-in shell off",
    body: Body::Json(
        r#"{
  "mcp": {
    "pilothouse": { "type": "local", "command": ["pilothouse", "mcp"], "enabled": true, "timeout": 120000 }
  },
  "permission": { "bash": "deny" }
}"#,
    ),
}];

const CURSOR: &[Part] = &[
    Part {
        note: "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in the project",
        body: Body::Json(
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
];

const VSCODE: &[Part] = &[
    Part {
        note: "VS Code: .vscode/mcp.json",
        body: Body::Json(
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
];

const ZED: &[Part] = &[
    Part {
        note: "Zed: settings.json",
        body: Body::Json(
            r#"{
  "context_servers": {
    "pilothouse": { "command": "pilothouse", "args": ["mcp"], "env": {} }
  }
}"#,
        ),
    },
    Part { note: "Turn the tool `terminal` off in the agent profile you use.", body: Body::None },
];

const GOOSE: &[Part] = &[
    Part {
        note: "goose: ~/.config/goose/config.yaml",
        body: Body::Yaml(
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
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_snippet_that_starts_the_shim_and_speaks_of_its_own_shell() {
        for agent in AGENTS {
            let text = snippet(agent).to_string();
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
        for part in AGENTS.iter().flat_map(|agent| snippet(*agent).parts) {
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

//! The agents that `mcp install` and `mcp config` connect and `doctor` looks for.
//!
//! **To add one**: add a variant of [`Agent`], its entry in [`Agent::ALL`] and its row in [`Agent::row`], all in this
//! file, and its files' settings in [`Agent::targets`] (`files.rs`); the compiler enforces the last two.
//!
//! Contains facts about other programs, which change: Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and
//! opencode 1.18.33 were checked with the programs themselves (November 2026), the others against their manuals
//! (docs/decisions).

mod entry;
mod files;
mod shell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::tools::clients;

pub(super) use self::entry::Entry;
pub(super) use self::files::{Base, Place, text};
pub(super) use self::shell::{CodexExecutor, codex_environments};

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
    /// Everyone who works in this workspace: the files are shared.
    Project,
    /// You, everywhere.
    User,
}

/// How one agent is found on a machine and connected.
#[derive(Debug)]
pub(super) struct Row {
    /// Its display name.
    pub(super) name: &'static str,
    /// The names its program may have.
    pub(super) programs: &'static [&'static str],
    /// Its scopes, the usual one first.
    pub(super) scopes: &'static [Scope],
    /// Whether it is started from a desktop, without a shell's PATH.
    pub(super) is_graphical: bool,
    /// Which of the agent's own safeguards no longer apply.
    pub(super) loss: &'static str,
    /// What is left to do by hand, and how to check that it is connected.
    pub(super) next: &'static str,
    /// Which variables its servers get.
    pub(super) environment: Environment,
}

/// The environment that an agent passes on to a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Environment {
    /// All of it.
    Whole,
    /// These variables, and those that the server's entry names.
    Listed(&'static [&'static str]),
    /// All variables except those whose names contain one of these words.
    Without(&'static [&'static str]),
}

/// Variables that Codex passes on to every server.
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
/// Words by which Gemini CLI recognises variables that contain a secret, or lead to one.
const GEMINI_SECRETS: [&str; 10] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "AUTH", "CREDENTIAL", "CREDS", "PRIVATE", "CERT"];
/// The loss for an agent whose rules have no name of their own.
const OWN_TERMINAL: &str = "the agent's own terminal rules no longer apply";

impl Agent {
    /// All agents, in the order of help texts.
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

    /// Returns its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Describes how much of a result it keeps, and which tools its model does not see at once.
    pub(super) fn results(self) -> String {
        let label = if self == Self::Claude { "claude-code" } else { self.as_str() };
        let measured = clients::of_agent(label).map(clients::Client::about);
        measured.unwrap_or_else(|| "how much of a result it keeps was not measured".to_owned())
    }

    /// Returns what is known about it.
    pub(super) fn row(self) -> Row {
        let editor = |name, programs, next| Row {
            name,
            programs,
            scopes: &[Scope::User, Scope::Project],
            is_graphical: true,
            loss: OWN_TERMINAL,
            next,
            environment: Environment::Whole,
        };
        let terminal = |name, programs, loss, next| Row {
            name,
            programs,
            scopes: &[Scope::User, Scope::Project],
            is_graphical: false,
            loss,
            next,
            environment: Environment::Whole,
        };
        match self {
            Self::Claude => Row {
                scopes: &[Scope::Local, Scope::Project, Scope::User],
                ..terminal(
                    "Claude Code",
                    &["claude"],
                    "Claude Code's Bash rules and sandbox no longer apply",
                    "`claude mcp list` shows it; Claude Code asks once before it uses a shared .mcp.json",
                )
            },
            Self::Codex => Row {
                environment: Environment::Listed(&CODEX_LIST),
                ..terminal(
                    "Codex CLI",
                    &["codex"],
                    "Codex's sandbox and command approval no longer apply",
                    "`codex mcp list` shows it; a project's own file takes effect once the project is \
                     trusted",
                )
            },
            Self::Gemini => Row {
                environment: Environment::Without(&GEMINI_SECRETS),
                ..terminal(
                    "Gemini CLI",
                    &["gemini"],
                    "Gemini CLI's sandbox and command confirmation no longer apply",
                    "`gemini mcp list` shows it; it is disabled in an untrusted folder",
                )
            },
            Self::Opencode => terminal(
                "opencode",
                &["opencode"],
                "opencode's permissions for `bash` no longer apply",
                "`opencode mcp list` shows it",
            ),
            Self::Cursor => editor(
                "Cursor",
                &["cursor-agent", "cursor"],
                "no known setting turns off Cursor's own terminal tool: ask for pilothouse in a project rule",
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

    /// Returns the command that shows approval rules for its commands: its own rules if they can be read, otherwise a
    /// starter set.
    pub(super) fn rules(self) -> String {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => {
                format!("pilothouse config approvals --from {}", self.as_str())
            }
            _ => format!("pilothouse mcp config {} --part approvals", self.as_str()),
        }
    }
}

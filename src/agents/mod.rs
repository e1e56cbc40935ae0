//! What is known about other people's programs: a file for each, as data and pure forms that the layers above use. Effects
//! stay with them: nothing here reads a file or starts a process.
//!
//! **To add one**: a file with its [`AgentProfile`], and its three lines here (`mod`, variant, [`AgentProgram::profile`]).
//!
//! These are facts about programs that change: Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, opencode 1.18.33,
//! Copilot CLI 1.0.102, pi 1.5.2, Qwen Code 0.24.4, Kilo 7.7.9 and Cline 3.0.65 were checked with the programs themselves
//! (November 2026), the others against their manuals (docs/decisions).

/// What the command that starts a program says of itself.
macro_rules! started_here {
    ($name:literal) => {
        concat!(
            "Start ",
            $name,
            " with its shell routed through Pilothouse; the arguments that follow are its own"
        )
    };
}

mod claude;
mod client;
mod cline;
mod codex;
mod config_file;
mod copilot;
mod cursor;
mod gemini;
mod hook;
mod hook_entry;
mod kilo;
mod number;
mod opencode;
mod own_shell;
mod permission;
mod pi;
mod profile;
mod qwen;
mod session;
mod vscode;
mod zed;

use std::borrow::Cow;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::consequence::rule_words::quote;

pub use self::client::{McpClient, RECEIPT_CHARS, Room};
pub use self::codex::ENVIRONMENTS as CODEX_ENVIRONMENTS;
pub use self::config_file::{Addition, ConfigFile, ConfigFolder, Connection, InstallScope, ShellSetting};
pub use self::hook::{
    AgentHook, HookEvent, HookReport, PromptAnswering, PromptVerdict, RefusedTool, ToolUse, UsedTool,
};
pub use self::hook_entry::{HookEntry, HookPassing, HookSetup};
pub use self::number::spell_numbers;
pub use self::own_shell::{
    EnvironmentMarks, OwnShell, ScreenQuestion, ScriptedModel, ShellRedirect, Trial, TrialFile, TrialScreen,
};
pub use self::permission::{
    EnforcedPermissions, PermissionKind, PermissionLine, PermissionRule, Permissions,
};
pub use self::profile::{AgentProfile, PassedVariables};
pub use self::session::{ReadReply, SessionPreset, SessionReply, no_json, session_id};

/// A program that a person works with and that can be connected.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schemars(rename = "Agent")]
pub enum AgentProgram {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// GitHub Copilot CLI.
    Copilot,
    /// pi.
    Pi,
    /// Qwen Code.
    Qwen,
    /// Kilo.
    Kilo,
    /// Cline.
    Cline,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Zed.
    Zed,
}

impl AgentProgram {
    /// All of them, in the order of help texts.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns what is known about it.
    #[must_use]
    pub const fn profile(self) -> &'static AgentProfile {
        match self {
            Self::Claude => &claude::PROFILE,
            Self::Codex => &codex::PROFILE,
            Self::Gemini => &gemini::PROFILE,
            Self::Opencode => &opencode::PROFILE,
            Self::Copilot => &copilot::PROFILE,
            Self::Pi => &pi::PROFILE,
            Self::Qwen => &qwen::PROFILE,
            Self::Kilo => &kilo::PROFILE,
            Self::Cline => &cline::PROFILE,
            Self::Cursor => &cursor::PROFILE,
            Self::Vscode => &vscode::PROFILE,
            Self::Zed => &zed::PROFILE,
        }
    }

    /// Returns what is known about its own shell, if that can lead here.
    #[must_use]
    pub const fn own_shell(self) -> Option<&'static OwnShell> {
        self.profile().own_shell.as_ref()
    }

    /// Returns how it runs hooks, if ours can be one of them.
    #[must_use]
    pub const fn hook(self) -> Option<&'static AgentHook> {
        self.profile().hook.as_ref()
    }

    /// Returns what leads it to our hook, if it can run that; `program` starts this program, and a plugin is at a path.
    #[must_use]
    pub fn hook_setup(self, program: &str, plugin: &Path) -> Option<HookSetup> {
        let line = format!("{} hook {}", quote(program), self.as_str());
        Some(self.hook()?.entry.setup(&[program, "hook", self.as_str()], &line, plugin))
    }

    /// Returns the programs whose own shell can lead here.
    pub fn routed_programs() -> impl Iterator<Item = (Self, &'static OwnShell)> {
        Self::ALL.iter().filter_map(|agent| Some((*agent, agent.own_shell()?)))
    }

    /// Returns the program with this name on the command line whose own shell can lead here.
    #[must_use]
    pub fn routed_as(word: &str) -> Option<Self> {
        word.parse::<Self>().ok().filter(|agent| agent.own_shell().is_some())
    }

    /// Returns the program whose client has this name.
    #[must_use]
    pub fn of_client(name: &str) -> Option<Self> {
        let is_it =
            |agent: &&Self| agent.profile().client.as_ref().is_some_and(|known| name.starts_with(known.name));
        Self::ALL.iter().find(is_it).copied()
    }

    /// Returns the known client with this name.
    #[must_use]
    pub fn client(name: &str) -> Option<&'static McpClient> {
        Self::of_client(name)?.profile().client.as_ref()
    }

    /// Returns what its sessions are called.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.profile().client.as_ref().map_or_else(|| self.as_str(), |client| client.label)
    }

    /// Returns the files that connect it, the one with the server entry first, and the settings to add to each.
    #[must_use]
    pub fn additions(self, to: Connection<'_>) -> Vec<Addition> {
        (self.profile().connect)(to)
    }
}

/// Returns what a model wrote, out of the script in which its program wraps it; `None` if the form is not recognised: it is
/// shown whole rather than guessed at.
#[must_use]
pub fn unwrap(agent: Option<AgentProgram>, script: &str) -> Option<Cow<'_, str>> {
    (agent?.own_shell()?.unwrap)(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_is_started_by_name_is_recognised_by_it() {
        for (agent, _) in AgentProgram::routed_programs() {
            assert_eq!(
                agent.profile().programs.first().copied().and_then(AgentProgram::routed_as),
                Some(agent)
            );
        }
    }

    #[test]
    fn the_sentence_about_a_client_tells_the_limits_of_its_receipts() {
        let about = AgentProgram::client("opencode").map(McpClient::about).unwrap_or_default();
        assert_eq!(
            about,
            "it cuts what is beyond 2,000 lines or 50 KB, and defers no tool; a receipt for it has at most 40000 \
             characters, 48 KB, 1900 lines"
        );
        assert_eq!(
            AgentProgram::Gemini.profile().client.as_ref(),
            AgentProgram::client("gemini-cli-mcp-client-x")
        );
        assert_eq!(AgentProgram::client("cursor"), None);
    }

    #[test]
    fn a_program_that_wraps_nothing_is_shown_as_it_writes_and_an_unknown_one_not_at_all() {
        assert_eq!(unwrap(Some(AgentProgram::Opencode), "ls").as_deref(), Some("ls"));
        assert_eq!(unwrap(Some(AgentProgram::Cursor), "ls"), None);
        assert_eq!(unwrap(None, "ls"), None);
    }
}

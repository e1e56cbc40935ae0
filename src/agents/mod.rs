//! What is known about other people's programs: a file for each, as data and pure forms that the layers above use. Effects
//! stay with them: nothing here reads a file or starts a process.
//!
//! **To add one**: a file with its [`AgentProfile`], and its three lines here (`mod`, variant, [`AgentProgram::profile`]).
//!
//! These are facts about programs that change: Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and opencode 1.18.33
//! were checked with the programs themselves (November 2026), the others against their manuals (docs/decisions).

mod claude;
mod codex;
mod config_file;
mod cursor;
mod gemini;
mod goose;
mod opencode;
mod profile;
mod vscode;
mod zed;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

pub use self::codex::ENVIRONMENTS as CODEX_ENVIRONMENTS;
pub use self::config_file::{Addition, ConfigFile, ConfigFolder, Connection, InstallScope, ShellSetting};
pub use self::profile::{AgentProfile, PassedVariables};

/// A program that a person works with and that can be connected.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr, VariantArray,
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
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Zed.
    Zed,
    /// Goose.
    Goose,
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
            Self::Cursor => &cursor::PROFILE,
            Self::Vscode => &vscode::PROFILE,
            Self::Zed => &zed::PROFILE,
            Self::Goose => &goose::PROFILE,
        }
    }

    /// Returns the files that connect it, the one with the server entry first, and the settings to add to each.
    #[must_use]
    pub fn additions(self, to: Connection<'_>) -> Vec<Addition> {
        (self.profile().connect)(to)
    }
}

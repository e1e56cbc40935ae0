//! The setting in an agent's own configuration that determines its shell, or what runs its commands.

use std::path::PathBuf;

use serde_json::Value;

use super::files::text;
use crate::agents::{CODEX_ENVIRONMENTS, ShellSetting};
use crate::dispatch::host::{Host, on_path};
use crate::dispatch::merge::SERVER_NAME;

impl ShellSetting {
    /// Returns the shell that the file names.
    pub(in crate::dispatch) fn read(self, host: &dyn Host) -> Option<String> {
        let text = text(&self.file.path(host)?)?;
        let settings = self.file.format().read(&text).ok()?;
        let found = self.keys.iter().try_fold(&settings, |at, key| at.get(key))?;
        Some(found.as_str()?.to_owned())
    }
}

/// What Codex's settings say about our executor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::dispatch) struct CodexExecutor {
    /// The program that Codex starts, and whether it exists.
    pub(in crate::dispatch) program: PathBuf,
    pub(in crate::dispatch) is_there: bool,
    /// Whether Codex silently runs commands itself if no executor is available.
    pub(in crate::dispatch) falls_back: bool,
}

impl CodexExecutor {
    /// Reads the settings; `None` if our executor is not the default there.
    pub(in crate::dispatch) fn read(host: &dyn Host) -> Option<Self> {
        let text = text(&CODEX_ENVIRONMENTS.path(host)?)?;
        let settings = CODEX_ENVIRONMENTS.format().read(&text).ok()?;
        let is_ours = |one: &&Value| one["id"] == SERVER_NAME;
        let ours = settings["environments"].as_array()?.iter().find(is_ours)?;
        let program = PathBuf::from(ours["program"].as_str().unwrap_or_default());
        let is_there = match program.components().count() {
            1 => on_path(host, &program.to_string_lossy()).is_some(),
            _ => program.is_file(),
        };
        (settings["default"] == SERVER_NAME).then_some(Self {
            program,
            is_there,
            falls_back: settings["include_local"] != false,
        })
    }
}

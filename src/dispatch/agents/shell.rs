//! The setting in an agent's own configuration that determines its shell, or what runs its commands.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::files::{Base, text};
use super::{Agent, Place};
use crate::dispatch::host::{Host, on_path};
use crate::dispatch::merge::SERVER_NAME;

/// The setting for an agent's shell.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) struct ShellSetting {
    /// The file.
    pub(in crate::dispatch) place: Place,
    /// The keys that lead to it.
    keys: &'static [&'static str],
}

impl ShellSetting {
    /// Returns the settings to add to the file so that it names a shell.
    pub(in crate::dispatch) fn naming(self, shell: &str) -> Value {
        self.keys.iter().rev().fold(Value::from(shell), |inner, key| {
            Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
        })
    }

    /// Returns the shell that the file names.
    pub(in crate::dispatch) fn read(self, host: &dyn Host) -> Option<String> {
        let text = text(&self.place.path(host)?)?;
        let settings = self.place.format().read(&text).ok()?;
        let found = self.keys.iter().try_fold(&settings, |at, key| at.get(key))?;
        Some(found.as_str()?.to_owned())
    }
}

/// Returns the file in which Codex names its executors.
pub(in crate::dispatch) const fn codex_environments() -> Place {
    Place::new(Base::Own("CODEX_HOME", ".codex"), &["environments.toml"])
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
        let place = codex_environments();
        let text = text(&place.path(host)?)?;
        let settings = place.format().read(&text).ok()?;
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

impl Agent {
    /// Returns the setting for its own shell, if it has one.
    pub(in crate::dispatch) fn shell_setting(self) -> Option<ShellSetting> {
        let (place, keys): (_, &[_]) = match self {
            Self::Claude => (
                Place::new(Base::Own("CLAUDE_CONFIG_DIR", ".claude"), &["settings.json"]),
                &["env", "CLAUDE_CODE_SHELL"],
            ),
            Self::Opencode => {
                (Place::new(Base::Config, &["opencode/opencode.json", "opencode/opencode.jsonc"]), &["shell"])
            }
            _ => return None,
        };
        Some(ShellSetting { place, keys })
    }
}

//! Where an agent's own settings name the shell it runs commands in.

use serde_json::{Map, Value};

use super::files::Base;
use super::{Agent, Place};
use crate::dispatch::host::Host;

/// The setting of an agent's own shell.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) struct ShellSetting {
    /// The file.
    pub(in crate::dispatch) place: Place,
    /// The keys that lead to it.
    keys: &'static [&'static str],
}

impl ShellSetting {
    /// Returns what the file gets to name a shell.
    pub(in crate::dispatch) fn naming(self, shell: &str) -> Value {
        self.keys.iter().rev().fold(Value::from(shell), |inner, key| {
            Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
        })
    }

    /// Returns the shell that the file names.
    pub(in crate::dispatch) fn read(self, host: &dyn Host) -> Option<String> {
        let text = std::fs::read_to_string(self.place.path(host)?).ok()?;
        let settings = self.place.format().read(&text).ok()?;
        let found = self.keys.iter().try_fold(&settings, |at, key| at.get(key))?;
        Some(found.as_str()?.to_owned())
    }
}

impl Agent {
    /// Returns the setting of its own shell, if it has one.
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

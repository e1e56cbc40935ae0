//! How a program is configured to run our hook, for one process or for all its sessions. Pure.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::config_file::ConfigFile;

/// The beginning of every plugin: how it starts our hook.
const START: &str = include_str!("hook_start.js");
/// The placeholder there for the words of the command line that starts our hook.
const WORDS: &str = "\"pilothouse hook\"";

/// How a program is configured to run our hook.
#[derive(Debug, Clone, Copy)]
pub struct HookEntry {
    /// The text of a plugin that starts our hook, without its beginning, if the program runs no commands at its events.
    pub plugin: Option<&'static str>,
    /// Returns the settings that name it: the words of a shell's line that start our hook, or the path of the plugin.
    pub settings: fn(&str) -> Value,
    /// The file with such settings for all its sessions.
    pub file: Option<ConfigFile>,
    /// What its user does before it runs a hook of that file; empty if that is nothing.
    pub next: &'static str,
    /// How one process is configured, if it can be.
    pub process: Option<HookPassing>,
}

/// How one process of a program is configured to run our hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookPassing {
    /// By an argument that takes the settings, whose `env` holds variables of the process as well.
    Settings {
        argument: &'static str,
        /// The arguments that start a session in a service of the program's own, which has another environment.
        in_service: &'static [&'static str],
    },
    /// By an argument that takes the path of the plugin.
    Plugin(&'static str),
    /// By an argument that takes the path of a folder with the settings, where no file has them: it would run both.
    Folder(&'static str),
    /// By a variable that names a file with the settings.
    File(&'static str),
}

/// A program's own way to our hook, with the names that it has on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSetup {
    /// The text of the plugin, if there is one.
    pub plugin: Option<String>,
    pub settings: Value,
}

impl HookSetup {
    /// Lets a program wait for its hook at a prompt as long as that may be answered here, and a little longer.
    pub fn hold(&mut self, patience: Duration) {
        let hook = self.settings.pointer_mut("/hooks/PermissionRequest/0/hooks/0/timeout");
        hook.into_iter().for_each(|timeout| *timeout = json!(patience.as_secs() + 5));
    }

    /// Tells whether settings let a program wait for this hook at a prompt, but not as long.
    #[must_use]
    pub fn waits_otherwise(&self, settings: &Value) -> bool {
        let hooks = |settings: &Value| settings["hooks"]["PermissionRequest"].as_array().cloned();
        let of =
            |settings: &Value| hooks(settings).into_iter().flatten().map(|entry| entry["hooks"][0].clone());
        let is_other = |own: &Value, known: &Value| own["command"] == known["command"] && own != known;
        of(&self.settings).any(|own| of(settings).any(|known| is_other(&own, &known)))
    }
}

impl HookEntry {
    /// Returns it for a program of ours that is started by these `words`, with the plugin at a path.
    pub(super) fn setup(&self, words: &[&str], line: &str, plugin: &Path) -> HookSetup {
        let text = self.plugin.map(|text| START.replacen(WORDS, &json!(words).to_string(), 1) + text);
        let named = if text.is_some() { &*plugin.to_string_lossy() } else { line };
        HookSetup { settings: (self.settings)(named), plugin: text }
    }
}

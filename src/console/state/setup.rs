//! What a console is given from outside: settings, terminal, runtime.

use std::path::PathBuf;

use jiff::tz::TimeZone;

use crate::console::keys::Keymap;
use crate::console::theme::{Preferences, Theme, ThemeSet, UiSettings};

/// Everything that comes from outside: settings, terminal, runtime.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The style of each role.
    pub theme: Theme,
    /// The key bindings.
    pub keymap: Keymap,
    /// The available themes, and which one is active.
    pub theme_set: ThemeSet,
    pub ui: UiSettings,
    /// The path of this executable, to be started beside a task.
    pub program: Option<PathBuf>,
    /// The agents found on this machine, by the word that starts each here.
    pub agents: Vec<&'static str>,
    /// The time zone for local times.
    pub zone: TimeZone,
    /// Whether the program runs as root.
    pub is_root: bool,
    /// Whether the runtime is another process and can outlive this console.
    pub is_remote: bool,
    /// Whether the runtime is in this process, which can continue without its terminal.
    pub can_detach: bool,
    /// Whether the console was opened to show a program that ends with it, wherever the runtime is.
    pub shows_run: bool,
    /// Whether it shows all of this user's runtimes, wherever they were started.
    pub is_fleet: bool,
    /// The recording that is open, read-only.
    pub recording: Option<String>,
}

impl Setup {
    /// Applies changed settings.
    pub(in crate::console) fn apply(&mut self, preferences: Preferences) {
        let Preferences { theme, keymap, theme_set, ui } = preferences;
        (self.theme, self.keymap, self.theme_set, self.ui) = (theme, keymap, theme_set, ui);
    }
}

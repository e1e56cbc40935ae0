//! What a console is told from outside: settings, terminal, runtime.
//! Other settings while the console runs: what changes at once, and what is said about it.

use std::path::PathBuf;

use jiff::tz::TimeZone;

use crate::config::Mouse;

use super::App;
use crate::console::keys::Keymap;
use crate::console::msg::Effect;
use crate::console::text::visible;
use crate::console::theme::{Preferences, Theme, ThemeSet, UiSettings};

/// What comes from outside: settings, terminal, runtime.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Styles by role.
    pub theme: Theme,
    /// The keys.
    pub keymap: Keymap,
    /// The themes there are, and which is worn.
    pub theme_set: ThemeSet,
    /// How the console behaves.
    pub ui: UiSettings,
    /// This very program, to start beside a task.
    pub program: Option<PathBuf>,
    /// For local times.
    pub zone: TimeZone,
    /// The program runs as root.
    pub is_root: bool,
    /// The runtime is another process and can go on without this console.
    pub is_remote: bool,
    /// It was opened to show a program that ends with it, wherever the runtime is.
    pub shows_run: bool,
    /// The recording that is looked at; nothing can be done to it.
    pub recording: Option<String>,
}

impl App {
    /// Takes over what the files say now.
    pub(super) fn reload(&mut self, preferences: Preferences, faults: Vec<String>) {
        if !faults.is_empty() {
            // A file half written, or with a slip in it: what held goes on until it is mended.
            for fault in faults {
                self.toasts.fail(visible::one_line(&fault), None);
            }
            return;
        }
        let changes = preferences.changes(&self.setup.theme_set, &self.setup.ui);
        let mouse = preferences.ui.mouse;
        let mouse_changed = mouse != self.setup.ui.mouse;
        self.apply_preferences(preferences);
        if !changes.is_empty() {
            self.say(format!("settings: {}", changes.join(", ")));
        }
        if !mouse_changed {
            return;
        }
        self.has_mouse = mouse != Mouse::Off;
        self.effects.push(Effect::Mouse(self.has_mouse));
    }

    /// Looks so from now on.
    pub(crate) fn apply_preferences(&mut self, preferences: Preferences) {
        let Preferences { theme, keymap, theme_set, ui } = preferences;
        (self.setup.theme, self.setup.keymap) = (theme, keymap);
        (self.setup.theme_set, self.setup.ui) = (theme_set, ui);
        // Texts laid out with the old marks are laid out anew.
        self.calls.sheet = None;
        self.touch();
    }
}

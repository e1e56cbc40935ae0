//! What a console is given from outside (settings, terminal, runtime), and how the person arranged it: screen, zoom,
//! pins, split and layout, kept for each workspace.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::config::Mouse;
use crate::envelope::TaskId;

use super::task_list::Listing;
use super::tiling::Tilings;
use super::{App, Screen};
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
    /// The themes, and which one is active.
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
    /// The runtime is in this process, which can go on without its terminal.
    pub can_detach: bool,
    /// It was opened to show a program that ends with it, wherever the runtime is.
    pub shows_run: bool,
    /// It shows every runtime of this user, wherever it was started.
    pub is_fleet: bool,
    /// The recording that is open, read-only.
    pub recording: Option<String>,
}

impl App {
    /// Applies changed settings files.
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
        self.ring();
        if !changes.is_empty() {
            self.say(format!("settings: {}", changes.join(", ")));
        }
        if !mouse_changed {
            return;
        }
        self.has_mouse = mouse != Mouse::Off;
        self.effects.push(Effect::Mouse(self.has_mouse));
    }

    /// Uses other preferences from now on.
    pub(crate) fn apply_preferences(&mut self, preferences: Preferences) {
        let Preferences { theme, keymap, theme_set, ui } = preferences;
        (self.setup.theme, self.setup.keymap) = (theme, keymap);
        (self.setup.theme_set, self.setup.ui) = (theme_set, ui);
        // Texts laid out with the old marks are laid out anew.
        self.calls.sheet = None;
        // Rules may have changed that tasks are measured for.
        self.view.usage.renew();
        self.touch();
    }
}

/// Panes that can be pinned: as many as are on screen at once.
pub const MOST_PINS: usize = 4;
/// Steps by which the list may be made smaller or larger.
const MOST_SPLIT: i16 = 12;

/// The saved arrangement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The screen: `tasks`, `focus`, `receipts`, `metrics`.
    pub screen: Screen,
    /// The selected task is shown alone.
    pub zoom: bool,
    /// Tasks that keep their pane, in order.
    pub pins: Vec<TaskId>,
    /// Steps by which the list is larger than usual.
    pub split: i16,
    /// The order, groups and columns of the list of tasks.
    pub list: Listing,
    /// How the screen of all tasks is divided, and the divisions with a name.
    pub layout: Tilings,
}

impl App {
    /// Returns how the console is arranged now.
    pub fn arrangement(&self) -> Arrangement {
        // A program is over sooner or later; the screen of one is not come back to.
        let screen = if self.screen == Screen::Program { Screen::Tasks } else { self.screen };
        let (list, layout) = (self.list.listing.clone(), self.tilings.clone());
        let (zoom, pins, split) = (self.is_zoomed, self.pins.clone(), self.split);
        Arrangement { screen, zoom, pins, split, list, layout }
    }

    /// Arranges the console as it was.
    pub fn arrange(&mut self, kept: Arrangement) {
        self.screen = match kept.screen {
            Screen::Program => Screen::Tasks,
            Screen::Focus if self.selected().is_none() => Screen::Tasks,
            screen => screen,
        };
        self.is_zoomed = kept.zoom;
        self.pins.clear();
        for pin in kept.pins {
            if self.pins.len() < MOST_PINS && !self.pins.contains(&pin) {
                self.pins.push(pin);
            }
        }
        self.split = kept.split.clamp(-MOST_SPLIT, MOST_SPLIT);
        self.list.listing = kept.list;
        self.tilings = kept.layout.checked();
        self.touch();
    }

    /// Pins or unpins the selected task.
    pub(crate) fn toggle_pin(&mut self) {
        let Some(id) = self.selected().map(|task| task.id.clone()) else { return };
        if self.pins.contains(&id) {
            self.pins.retain(|pin| *pin != id);
        } else if self.pins.len() < MOST_PINS {
            self.pins.push(id);
        } else {
            self.say("four panes are pinned already");
        }
    }

    /// Makes the list a step larger or smaller.
    pub(crate) fn resize_list(&mut self, by: i16) {
        self.split = (self.split + by).clamp(-MOST_SPLIT, MOST_SPLIT);
    }

    /// Forgets pins of tasks that are no longer there.
    pub(crate) fn keep_pins(&mut self) {
        let tasks = &self.view.snapshot.tasks;
        self.pins.retain(|pin| tasks.iter().any(|task| task.id == *pin));
    }
}

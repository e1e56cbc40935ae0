//! What a console is given from outside (settings, terminal, runtime), and how the user has arranged it:
//! screen, zoom, pins, split and layout, saved per workspace.

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

/// Everything that comes from outside: settings, terminal, runtime.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The style of each role.
    pub theme: Theme,
    /// The key bindings.
    pub keymap: Keymap,
    /// The available themes, and which one is active.
    pub theme_set: ThemeSet,
    /// The UI settings.
    pub ui: UiSettings,
    /// The path of this executable, to be started beside a task.
    pub program: Option<PathBuf>,
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

impl App {
    /// Applies changed settings files.
    pub(super) fn reload(&mut self, preferences: Preferences, faults: Vec<String>) {
        if !faults.is_empty() {
            // The file may be half written or contain a mistake: the previous settings apply until it is
            // fixed.
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

    /// Applies new preferences.
    pub(crate) fn apply_preferences(&mut self, preferences: Preferences) {
        let Preferences { theme, keymap, theme_set, ui } = preferences;
        (self.setup.theme, self.setup.keymap) = (theme, keymap);
        (self.setup.theme_set, self.setup.ui) = (theme_set, ui);
        // Texts that were laid out with the old glyphs must be laid out again.
        self.calls.sheet = None;
        // The rules that decide which tasks are measured may have changed.
        self.view.usage.renew();
        self.touch();
    }
}

/// Maximum number of pinned panes: as many as fit on screen at once.
pub const MOST_PINS: usize = 4;
/// How many steps the list can be made smaller or larger than the default.
const MOST_SPLIT: i16 = 12;

/// The saved arrangement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The screen: `tasks`, `focus`, `receipts`, `metrics`.
    pub screen: Screen,
    /// The selected task is shown alone.
    pub zoom: bool,
    /// Tasks whose pane is pinned, in order.
    pub pins: Vec<TaskId>,
    /// How many steps larger than the default the list is.
    pub split: i16,
    /// The sort order, grouping and columns of the task list.
    pub list: Listing,
    /// How the tasks screen is split into panes, and the saved layouts.
    pub layout: Tilings,
}

impl App {
    /// Returns the current arrangement.
    pub fn arrangement(&self) -> Arrangement {
        // A program ends sooner or later, so its screen is never restored.
        let screen = if self.screen == Screen::Program { Screen::Tasks } else { self.screen };
        let (list, layout) = (self.list.listing.clone(), self.tilings.clone());
        let (zoom, pins, split) = (self.is_zoomed, self.pins.clone(), self.split);
        Arrangement { screen, zoom, pins, split, list, layout }
    }

    /// Restores a saved arrangement.
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

    /// Makes the list larger or smaller by a number of steps.
    pub(crate) fn resize_list(&mut self, by: i16) {
        self.split = (self.split + by).clamp(-MOST_SPLIT, MOST_SPLIT);
    }

    /// Drops the pins of tasks that no longer exist.
    pub(crate) fn keep_pins(&mut self) {
        let tasks = &self.view.snapshot.tasks;
        self.pins.retain(|pin| tasks.iter().any(|task| task.id == *pin));
    }
}

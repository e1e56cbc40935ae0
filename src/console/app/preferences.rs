//! Changed settings.

use crate::config::Mouse;
use crate::console::app::App;
use crate::console::effect::Effect;
use crate::console::text::visible;
use crate::console::theme::Preferences;

impl App {
    /// Applies changed settings files.
    pub(in crate::console) fn reload(&mut self, preferences: Preferences, faults: Vec<String>) {
        if !faults.is_empty() {
            // The file may be half written or contain a mistake: the previous settings apply until it is
            // fixed.
            for fault in faults {
                self.state.toasts.fail(visible::one_line(&fault), None);
            }
            return;
        }
        let changes = preferences.changes(&self.state.setup.theme_set, &self.state.setup.ui);
        let mouse = preferences.ui.mouse;
        let mouse_changed = mouse != self.state.setup.ui.mouse;
        self.apply_preferences(preferences);
        self.attention.ring(&mut self.state);
        if !changes.is_empty() {
            self.state.say(format!("settings: {}", changes.join(", ")));
        }
        if !mouse_changed {
            return;
        }
        self.state.outer.has_mouse = mouse != Mouse::Off;
        self.state.effects.push(Effect::Mouse(self.state.outer.has_mouse));
    }

    /// Applies new preferences.
    pub(crate) fn apply_preferences(&mut self, preferences: Preferences) {
        let Preferences { theme, keymap, theme_set, ui } = preferences;
        (self.state.setup.theme, self.state.setup.keymap) = (theme, keymap);
        (self.state.setup.theme_set, self.state.setup.ui) = (theme_set, ui);
        // Texts that were laid out with the old glyphs must be laid out again.
        self.receipts.sheet = None;
        // The rules that decide which tasks are measured may have changed.
        self.state.view.usage.renew();
        self.state.touch();
    }
}

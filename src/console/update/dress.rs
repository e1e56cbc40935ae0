//! Other settings while the console runs: what changes at once, and what is said about it.

use super::super::app::App;
use super::super::looks::Looks;
use super::super::msg::Effect;
use super::super::text::visible;
use crate::config::Mouse;

impl App {
    /// Takes over what the files say now.
    pub(super) fn dress(&mut self, looks: Looks, faults: Vec<String>) -> Vec<Effect> {
        if !faults.is_empty() {
            // A file half written, or with a slip in it: what held goes on until it is mended.
            for fault in faults {
                self.toasts.fail(visible::one_line(&fault), None);
            }
            return Vec::new();
        }
        let changes = looks.changes(&self.setup.wardrobe, &self.setup.taste);
        let mouse = looks.taste.mouse;
        let mouse_changed = mouse != self.setup.taste.mouse;
        self.redress(looks);
        if !changes.is_empty() {
            self.toasts.say(format!("settings: {}", changes.join(", ")), None, self.now);
        }
        if !mouse_changed {
            return Vec::new();
        }
        self.has_mouse = mouse != Mouse::Off;
        vec![Effect::Mouse(self.has_mouse)]
    }

    /// Looks so from now on.
    pub(in crate::console) fn redress(&mut self, looks: Looks) {
        let Looks { theme, keymap, wardrobe, taste } = looks;
        (self.setup.theme, self.setup.keymap) = (theme, keymap);
        (self.setup.wardrobe, self.setup.taste) = (wardrobe, taste);
        // Texts laid out with the old marks are laid out anew.
        self.calls.sheet = None;
        self.touch();
    }
}

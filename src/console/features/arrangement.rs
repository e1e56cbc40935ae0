//! How the user has arranged the screen: screen, zoom, pins and split, saved per workspace.

use crate::console::state::State;
use crate::console::state::arrangement::Arrangement;
use crate::console::state::focus::Screen;

/// Maximum number of pinned panes: as many as fit on screen at once.
pub const MOST_PINS: usize = 4;

/// How many steps the list can be made smaller or larger than the default.
pub(in crate::console) const MOST_SPLIT: i16 = 12;

impl State {
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

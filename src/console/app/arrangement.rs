//! How a person has arranged a console: the screen, the zoom, the pins, the split. Kept for each workspace.

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;

use super::{App, Screen};

/// Panes that can be pinned: as many as are on screen at once.
pub const MOST_PINS: usize = 4;
/// Steps by which the list may be made smaller or larger.
const MOST_SPLIT: i16 = 12;

/// What is kept.
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
}

impl App {
    /// Returns how the console is arranged now.
    pub fn arrangement(&self) -> Arrangement {
        // A program is over sooner or later; the screen of one is not come back to.
        let screen = if self.screen == Screen::Program { Screen::Tasks } else { self.screen };
        Arrangement { screen, zoom: self.is_zoomed, pins: self.pins.clone(), split: self.split }
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
        self.touch();
    }

    /// Lets the selected task keep its pane, or gives the pane free.
    pub(crate) fn turn_pin(&mut self) {
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
    pub(crate) fn turn_split(&mut self, by: i16) {
        self.split = (self.split + by).clamp(-MOST_SPLIT, MOST_SPLIT);
    }

    /// Forgets pins of tasks that are no longer there.
    pub(crate) fn keep_pins(&mut self) {
        let tasks = &self.view.snapshot.tasks;
        self.pins.retain(|pin| tasks.iter().any(|task| task.id == *pin));
    }
}

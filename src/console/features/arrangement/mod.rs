//! How the user has arranged the screen: screen, zoom, pins and split, saved per workspace.

pub mod border;
pub mod tilings;

use crate::console::state::{Arrangement, Screen, State};

/// Maximum number of pinned panes: as many as fit on screen at once.
pub const MOST_PINS: usize = 4;

/// How many steps the list can be made smaller or larger than the default.
pub(in crate::console) const MOST_SPLIT: i16 = 12;

impl Arrangement {
    /// Returns the current arrangement.
    pub fn of(state: &State) -> Self {
        // A program ends sooner or later, so its screen is never restored.
        let screen = if state.focus.screen == Screen::Program { Screen::Tasks } else { state.focus.screen };
        let (list, layout) = (state.list.listing.clone(), state.division.tiling);
        let (zoom, pins, split) =
            (state.division.is_zoomed, state.division.pins.clone(), state.division.split);
        Self { screen, zoom, pins, split, list, layout, saved_at: Some(state.clock.now) }
    }

    /// Restores a saved arrangement.
    pub fn apply(self, state: &mut State) {
        state.focus.screen = match self.screen {
            Screen::Program => Screen::Tasks,
            Screen::Focus if state.selected().is_none() => Screen::Tasks,
            screen => screen,
        };
        state.division.is_zoomed = self.zoom;
        state.division.pins.clear();
        for pin in self.pins {
            if state.division.pins.len() < MOST_PINS && !state.division.pins.contains(&pin) {
                state.division.pins.push(pin);
            }
        }
        state.division.split = self.split.clamp(-MOST_SPLIT, MOST_SPLIT);
        state.list.listing = self.list;
        state.division.tiling = self.layout;
        state.touch();
    }
}

/// Pins or unpins the selected task.
pub(crate) fn toggle_pin(state: &mut State) {
    let Some(id) = state.selected().map(|task| task.id.clone()) else { return };
    if state.division.pins.contains(&id) {
        state.division.pins.retain(|pin| *pin != id);
    } else if state.division.pins.len() < MOST_PINS {
        state.division.pins.push(id);
    } else {
        state.say("four panes are pinned already");
    }
}

/// Makes the list larger or smaller by a number of steps.
pub(crate) fn resize_list(state: &mut State, by: i16) {
    state.division.split = (state.division.split + by).clamp(-MOST_SPLIT, MOST_SPLIT);
}

/// Drops the pins of tasks that no longer exist.
pub(crate) fn keep_pins(state: &mut State) {
    let tasks = &state.view.snapshot.tasks;
    state.division.pins.retain(|pin| tasks.iter().any(|task| task.id == *pin));
}

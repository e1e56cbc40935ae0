//! How the user has arranged the screen: screen, zoom, pins and split, saved per workspace.

use crate::console::effect::Effect;
use crate::console::features::tilings::layout_items;
use crate::console::state::tiling::Tiling;
use crate::console::state::{Arrangement, ListChoice, Screen, State};
use crate::console::widgets::ListItem;

/// Maximum number of pinned panes: as many as fit on screen at once.
const MOST_PINS: usize = 4;

/// How many steps the list can be made smaller or larger than the default.
const MOST_SPLIT: i16 = 12;

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
            Screen::Focus if state.selected_task().is_none() => Screen::Tasks,
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

impl State {
    /// Pins or unpins the selected task.
    pub(super) fn toggle_pin(&mut self) {
        let Some(id) = self.selected_task().map(|task| task.id.clone()) else { return };
        if self.division.pins.contains(&id) {
            self.division.pins.retain(|pin| *pin != id);
        } else if self.division.pins.len() < MOST_PINS {
            self.division.pins.push(id);
        } else {
            self.say("four panes are pinned already");
        }
    }

    /// Makes the list larger or smaller by a number of steps.
    pub(super) fn resize_list(&mut self, by: i16) {
        self.division.split = (self.division.split + by).clamp(-MOST_SPLIT, MOST_SPLIT);
    }

    /// Drops the pins of tasks that no longer exist.
    pub(super) fn keep_pins(&mut self) {
        let tasks = &self.view.snapshot.tasks;
        self.division.pins.retain(|pin| tasks.iter().any(|task| task.id == *pin));
    }

    /// Switches to a layout; `None` is the automatic one.
    pub(super) fn pick_layout(&mut self, tiling: Option<Tiling>) {
        self.division.tiling = tiling;
        self.division.is_zoomed = false;
        self.effects.push(Effect::Arranged(Arrangement::of(self)));
    }

    /// Switches to the next layout that fits: automatic, then the others with the list at its current position.
    pub(super) fn next_layout(&mut self) {
        let list = self.division.tiling.map(|tiling| tiling.list).unwrap_or_default();
        let fits = |item: &ListItem| {
            let moves = |tiling: &Tiling| tiling.list != list;
            item.obstacle.is_none()
                && !matches!(&item.choice, ListChoice::Layout(Some(tiling)) if moves(tiling))
        };
        let items: Vec<ListItem> = layout_items(self).into_iter().filter(fits).collect();
        let picked = ListChoice::Layout(self.division.tiling);
        let at = items.iter().position(|item| item.choice == picked).map_or(0, |at| at + 1);
        let Some(item) = items.get(at).or(items.first()) else { return };
        if let ListChoice::Layout(tiling) = item.choice {
            self.pick_layout(tiling);
            self.say(format!("layout: {}", item.about));
        }
    }
}

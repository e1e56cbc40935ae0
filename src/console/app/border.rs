//! The border between the list and the panes, moved with the mouse.

use ratatui::layout::Position;

use crate::console::state::{Layout, Screen, State};

/// Where the border is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListBorder {
    /// Below the list: the row with the titles of the panes.
    Below,
    /// Beside it: the rule.
    Beside,
}

impl ListBorder {
    /// Returns the border at a position of the screen.
    pub(super) fn at(state: &State, layout: &Layout, at: Position) -> Option<Self> {
        let (list, stage) = (layout.list, layout.stage);
        if state.focus.screen != Screen::Tasks || list.is_empty() || layout.panes.is_empty() {
            return None;
        }
        if stage.y == list.bottom() && at.y == stage.y {
            return Some(Self::Below);
        }
        let is_beside = stage.x > list.right() && at.x == list.right();
        (is_beside && (list.y..list.bottom()).contains(&at.y)).then_some(Self::Beside)
    }

    /// Moves it to a position of the screen, or as near as it goes.
    pub(super) fn drag(self, state: &mut State, to: Position) {
        let distance = |state: &State| {
            let layout = state.layout();
            let (is, to) = match self {
                Self::Below => (layout.stage.y, to.y),
                Self::Beside => (layout.list.right(), to.x),
            };
            i32::from(to) - i32::from(is)
        };
        loop {
            let (before, split) = (distance(state), state.division.split);
            state.resize_list(if before > 0 { 1 } else { -1 });
            if distance(state).abs() >= before.abs() {
                state.division.split = split;
                return;
            }
        }
    }
}

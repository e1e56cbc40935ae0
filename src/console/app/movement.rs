//! Moving through lists, texts and a task's past. At the end = follow; one step up = frozen.

use super::receipts::Column;
use super::{App, Screen};
use crate::console::keys::Action;

impl App {
    /// Moves what the screen's keys move: the selection, a text, or the pane's view into the log.
    pub(super) fn go(&mut self, action: Action) {
        if self.reader.is_some() {
            self.go_in_reader(action);
            return;
        }
        match (self.screen, self.calls.column) {
            (Screen::Tasks | Screen::Metrics, _) => self.go_in_tasks(action),
            (Screen::Focus, _) => self.go_in_log(action),
            (Screen::Program, _) if self.programs.in_pane => self.go_in_log(action),
            (Screen::Program, _) => {
                self.go_in_source(action);
            }
            (Screen::Receipts, Column::Calls) => self.go_in_calls(action),
            (Screen::Receipts, column) => self.go_in_text(column, action),
        }
    }
}

/// Returns where a position goes.
pub(crate) fn moved(at: usize, action: Action, page: usize, last: usize) -> usize {
    let to = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at.saturating_add(1),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::First => 0,
        _ => last,
    };
    to.min(last)
}

/// Returns the first item to show so that the selected one is on screen and no room is wasted.
pub(super) fn window(top: usize, selected: usize, count: usize, shown: usize) -> usize {
    let last_top = count.saturating_sub(shown);
    let top = top.min(last_top);
    if selected < top {
        selected
    } else if shown > 0 && selected >= top + shown {
        (selected + 1 - shown).min(last_top)
    } else {
        top
    }
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn the_selected_item_is_always_on_screen() {
        for (top, selected, count, shown, expected) in [
            (0, 0, 0, 5, 0),
            (0, 7, 10, 5, 3),
            (6, 2, 10, 5, 2),
            (9, 9, 10, 5, 5),
            (3, 4, 10, 5, 3),
            (0, 3, 9, 0, 0),
        ] {
            assert_eq!(window(top, selected, count, shown), expected, "{top} {selected} {count} {shown}");
        }
    }
}

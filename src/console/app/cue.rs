//! What a demonstration shows by itself. User input takes precedence: whoever uses the keys decides what is
//! on screen.

use jiff::SignedDuration;

use super::mode::Mode;
use super::receipts::Column;
use super::{App, Layer, Screen};
use crate::console::options::Cue;

/// For this long after a key press, the demonstration does not change the screen.
const HANDS_ON: SignedDuration = SignedDuration::from_secs(8);

impl App {
    pub(super) fn cue(&mut self, cue: Cue) {
        let is_busy = self.touched.is_some_and(|at| self.now.duration_since(at) < HANDS_ON);
        // The card of a call that the demonstration itself has decided: nobody is there to close it.
        if !is_busy && matches!(self.layers.last(), Some(Layer::Approval(_))) {
            self.layers.pop();
        }
        if is_busy || !matches!(self.mode, Mode::Observe) || !self.layers.is_empty() {
            return;
        }
        self.is_overall = cue == Cue::Timeline;
        match cue {
            Cue::Tasks => self.show(Screen::Tasks),
            Cue::Receipt => self.show_column(Column::Receipt),
            Cue::Envelope => self.show_column(Column::Envelope),
            Cue::Timeline => self.show(Screen::Focus),
            Cue::Approvals => {
                self.show(Screen::Tasks);
                self.show_held();
            }
        }
    }

    /// Shows the newest call; where only one column fits, this one.
    fn show_column(&mut self, column: Column) {
        self.show(Screen::Receipts);
        (self.calls.selected, self.calls.column) = (None, column);
    }
}

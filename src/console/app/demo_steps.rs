//! What a demonstration shows by itself. User input takes precedence: whoever uses the keys decides what is
//! on screen.

use jiff::SignedDuration;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::options::DemoCue;
use crate::console::state::{Column, Mode, Screen};

/// For this long after a key press, the demonstration does not change the screen.
const HANDS_ON: SignedDuration = SignedDuration::from_secs(8);

impl App {
    pub(in crate::console) fn cue(&mut self, cue: DemoCue) {
        let is_busy =
            self.state.clock.touched.is_some_and(|at| self.state.clock.now.duration_since(at) < HANDS_ON);
        // The card of a call that the demonstration itself has decided: nobody is there to close it.
        if !is_busy && matches!(self.layers.last(), Some(Layer::Approval(_))) {
            self.layers.pop();
        }
        if is_busy || !matches!(self.state.focus.mode, Mode::Observe) || !self.layers.is_empty() {
            return;
        }
        self.state.division.is_overall = cue == DemoCue::Timeline;
        match cue {
            DemoCue::Tasks => self.state.show(Screen::Tasks),
            DemoCue::Receipt => self.show_column(Column::Receipt),
            DemoCue::Envelope => self.show_column(Column::Envelope),
            DemoCue::Timeline => self.state.show(Screen::Focus),
            DemoCue::Approvals => {
                self.state.show(Screen::Tasks);
                self.show_held();
            }
        }
    }

    /// Shows the newest call; where only one column fits, this one.
    fn show_column(&mut self, column: Column) {
        self.state.show(Screen::Receipts);
        (self.state.calls.selected, self.state.calls.column) = (None, column);
    }
}

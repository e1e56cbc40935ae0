//! Where the receipts screen shows its calls and the texts of the current one.

use ratatui::layout::Rect;

use crate::console::state::State;
use crate::console::state::areas::cut_top;
use crate::console::state::calls::Column;
use crate::console::state::layout::{Breakpoint, Layout};

/// The columns from which receipt and envelope stand side by side.
const BESIDE: u16 = 100;

/// The rows below which only one of list, receipt and envelope is shown.
const LEAST_ROWS: u16 = 11;

/// Rows of what a call asked for, with its title: side by side, one below the other, alone.
const ASKED_ROWS: [u16; 3] = [3, 2, 4];

impl Layout {
    /// Lays out the calls above, in full width and in a third of the rows at most, and below them receipt and
    /// envelope: side by side, or if the screen is narrower, one below the other, the one that is read the
    /// larger. Zoomed, or with few rows, the current one is alone.
    pub(super) fn receipts(&mut self, state: &State, body: Rect) {
        if state.view.snapshot.calls.is_empty() {
            return;
        }
        self.stage = Rect::ZERO;
        let column = state.calls.column;
        if state.division.is_zoomed || self.breakpoint == Breakpoint::Small || body.height < LEAST_ROWS {
            match column {
                Column::Calls => self.list = body,
                Column::Receipt => {
                    (self.asked, self.receipt) = cut_top(body, ASKED_ROWS[2].min(body.height / 3))
                }
                Column::Envelope => self.envelope = body,
            }
            return;
        }
        let calls = u16::try_from(state.call_rows().len()).unwrap_or(u16::MAX).max(1);
        let (list, rest) = cut_top(body, calls.saturating_add(1).min(body.height / 3));
        let is_beside = body.width >= BESIDE;
        let (asked, texts) = cut_top(rest, if is_beside { ASKED_ROWS[0] } else { ASKED_ROWS[1] });
        (self.list, self.asked) = (list, asked);
        (self.receipt, self.envelope) = match (is_beside, column) {
            (true, _) => self.ruled_left(texts, texts.width.saturating_sub(1) / 2),
            (false, Column::Receipt) => cut_top(texts, texts.height * 2 / 3),
            (false, Column::Calls) => cut_top(texts, texts.height.div_ceil(2)),
            (false, Column::Envelope) => cut_top(texts, texts.height.div_ceil(3)),
        };
    }

    /// Returns the area for one of the texts of the current call.
    pub fn text(&self, column: Column) -> Rect {
        if column == Column::Envelope { self.envelope } else { self.receipt }
    }
}

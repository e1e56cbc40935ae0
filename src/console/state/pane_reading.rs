//! What the user does in a pane: scrolling back, searching, panning, dragging.

use crate::console::state::page::{PageView, Scroll};
use crate::console::state::search::LogSearch;
use crate::console::state::timestamps::Timestamps;

/// How a pane is read.
#[derive(Debug, Clone)]
pub struct PaneReading {
    /// The scrolled-back pane, if any.
    pub scroll: Option<Scroll>,
    /// The current or finished search; cleared when the pane follows its output again.
    pub search: Option<LogSearch>,
    /// The line from which the search being typed goes backwards.
    pub search_from: u64,
    /// The timestamps beside the pane's lines, if they are shown.
    pub timestamps: Timestamps,
    /// How many columns the pane is panned to the right.
    pub pan: u16,
    /// Where a mouse press on a pane may start a drag.
    pub pressed: Option<(u16, u16)>,
}

impl PaneReading {
    /// Returns the page shown of the scrolled-back pane.
    pub(in crate::console) fn page(&self) -> Option<&PageView> {
        self.scroll.as_ref()?.page.as_ref()
    }
}

impl Default for PaneReading {
    fn default() -> Self {
        Self {
            scroll: None,
            search: None,
            search_from: u64::MAX,
            timestamps: Timestamps::default(),
            pan: 0,
            pressed: None,
        }
    }
}

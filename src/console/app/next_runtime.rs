//! The console's runtime was gone, and the next one of its workspace is attached.

use std::sync::Arc;

use crate::console::app::App;
use crate::console::features::receipts::Receipts;
use crate::console::state::calls::Calls;
use crate::console::state::{Mode, ProgramScreen};
use crate::console::text::visible;
use crate::model::Snapshot;

impl App {
    /// Shows the next runtime. Its calls and tasks are numbered from 1 again: nothing that was open, selected or written
    /// for the last one may reach it.
    pub(in crate::console) fn take_next_runtime(&mut self, snapshot: Arc<Snapshot>) {
        self.state.view.begin_again(snapshot);
        self.layers.clear();
        (self.state.focus.mode, self.state.focus.in_pane) = (Mode::Observe, false);
        (self.state.reading.scroll, self.state.reading.search, self.state.reader, self.state.replay) =
            (None, None, None, None);
        (self.state.calls, self.state.programs, self.receipts) =
            (Calls::default(), ProgramScreen::default(), Receipts::default());
        (self.state.list.selected, self.state.list.is_held) = (None, false);
        (self.select_next, self.to_enter, self.entered_from) = (None, None, None);
        (self.own, self.stopping.restarts, self.state.toasts.notices_seen) =
            (Default::default(), Vec::new(), 0);
        self.attention.begin_again(self.state.clock.now);
        self.state.view.usual.note(&self.state.view.snapshot.tasks);
        self.state.follow();
        self.state.toasts.keep("attached to the next runtime of this workspace", self.state.clock.now);
    }

    /// Says at once what others do with this runtime, whatever else is on screen.
    pub(in crate::console) fn say_of_others(&mut self, before: &Snapshot) {
        let seen = before.notices.last().map_or(0, |notice| notice.seq);
        let snapshot = Arc::clone(&self.state.view.snapshot);
        let new = snapshot.notices.iter().filter(|notice| notice.seq > seen && notice.from.is_some());
        new.for_each(|notice| self.state.toasts.keep(visible::one_line(&notice.text), self.state.clock.now));
    }
}

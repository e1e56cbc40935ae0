//! The console's runtime was gone, and the next one of its workspace is attached.

use std::sync::Arc;

use super::bell::Bell;
use super::program::Programs;
use super::receipts::Calls;
use super::view::View;
use super::watch::Watching;
use super::{App, Mode};
use crate::console::text::visible;
use crate::model::Snapshot;

impl App {
    /// Shows the next runtime. Its calls and tasks are numbered from 1 again: nothing that was open, selected or written
    /// for the last one may reach it.
    pub(super) fn take_next_runtime(&mut self, snapshot: Arc<Snapshot>) {
        self.view = View::new(snapshot);
        self.layers.clear();
        (self.mode, self.in_pane) = (Mode::Observe, false);
        (self.scroll, self.search, self.reader, self.replay) = (None, None, None, None);
        (self.calls, self.programs) = (Calls::default(), Programs::default());
        self.bell = Bell::default();
        (self.list.selected, self.list.is_held) = (None, false);
        (self.select_next, self.to_enter, self.entered_from) = (None, None, None);
        (self.own, self.restarts, self.notices_seen) = (Default::default(), Vec::new(), 0);
        self.watching = Watching::since(self.now);
        self.note_durations();
        self.follow();
        self.toasts.keep("attached to the next runtime of this workspace", self.now);
    }

    /// Says at once what others do with this runtime, whatever else is on screen.
    pub(super) fn say_of_others(&mut self, before: &Snapshot) {
        let seen = before.notices.last().map_or(0, |notice| notice.seq);
        let snapshot = Arc::clone(&self.view.snapshot);
        let new = snapshot.notices.iter().filter(|notice| notice.seq > seen && notice.from.is_some());
        new.for_each(|notice| self.toasts.keep(visible::one_line(&notice.text), self.now));
    }
}

//! State that is derived after each message: what to fetch, what to show, how far lists are scrolled.

use crate::envelope::TaskId;
use crate::link::Shown;
use crate::model::Input;

use super::{App, Breakpoint, Layout, Mode, Screen, window};
use crate::console::msg::{Anchor, Effect};

/// Number of rows read for an ended task, enough to fill a larger pane too.
const TAIL_ROWS: u16 = 80;

impl App {
    pub(super) fn derive(&mut self) {
        self.close_outdated();
        self.refresh_card();
        if self.mode.task().is_some_and(|task| self.view.task(task).is_none()) {
            self.observe();
        }
        self.enter_started();
        self.review_places();
        let layout = self.layout();
        self.keep_places(&layout);
        self.place_lists(&layout);
        self.want_usage(&layout);
        self.show_panes(&layout);
        self.tell_programs();
        self.fit_watched(&layout);
        self.read_tails(&layout);
        self.read_at_width(&layout);
        self.read_stamped(&layout);
        let wanted = self.fetch_call(&layout);
        self.effects.extend(wanted);
        self.lay_out_sheet(&layout);
        self.lay_out_reader(&layout);
        let next = self.play_on();
        self.effects.extend(next);
        self.find_in_shown_text();
        self.meet_terms(&layout);
    }

    fn place_lists(&mut self, layout: &Layout) {
        let shown = layout.list_items();
        if self.screen == Screen::Receipts {
            let (at, count) = (self.call_at(), self.call_rows().len());
            self.calls.top = window(self.calls.top, at, count, shown);
        } else if self.screen == Screen::Tasks {
            self.place_list(shown);
        }
    }

    /// Announces all visible panes again, because a replaced operator handle does not know about them yet.
    pub(in crate::console) fn show_again(&mut self) {
        self.shown = Default::default();
        self.touch();
    }

    /// Returns the tasks with a pane that have not ended: their screens may still change.
    pub fn live_panes(&self) -> Vec<TaskId> {
        let is_live = |id: &&TaskId| self.view.task(id).is_some_and(|task| !task.status.is_terminal());
        self.shown.visible.iter().filter(is_live).cloned().collect()
    }

    fn show_panes(&mut self, layout: &Layout) {
        let visible: Vec<TaskId> = layout.panes.iter().map(|pane| pane.task.clone()).collect();
        let focus = self.at_hand().map(|task| task.id.clone()).filter(|id| visible.contains(id));
        let columns = layout.panes.iter().map(|pane| (pane.task.clone(), self.columns(pane))).collect();
        let shown = Shown { visible, focus, columns, colours: self.outer.colours };
        if shown == self.shown {
            return;
        }
        // The emulator of a screen that was off screen may have restarted its generation counter, and a
        // screen at another width is a different one.
        let is_as_it_was = |task: &&TaskId| {
            self.shown.visible.contains(task) && self.shown.columns.get(*task) == shown.columns.get(*task)
        };
        for task in shown.visible.iter().filter(|task| !is_as_it_was(task)) {
            if let Some(picture) = self.view.pictures.get_mut(task) {
                picture.generation = 0;
            }
        }
        for dropped in self.view.drop_pictures(&shown.visible) {
            self.paged.remove(&dropped);
        }
        self.shown = shown.clone();
        self.effects.push(Effect::Show(shown));
    }

    /// Resizes a task that is shown full size or typed into to fit its pane, unless its size was chosen
    /// explicitly. Done once per pane size, so that two consoles, or an agent's resize, do not keep
    /// overriding each other.
    fn fit_watched(&mut self, layout: &Layout) {
        let is_typed = self.screen == Screen::Program && matches!(self.mode, Mode::Input(_));
        let is_watched = self.screen == Screen::Focus || is_typed;
        let is_watched = is_watched && !self.view.is_lost && layout.breakpoint != Breakpoint::Sentence;
        let pane = self.at_hand().filter(|_| is_watched).and_then(|task| layout.pane(&task.id));
        let Some((task, size)) = pane.map(|pane| (pane.task.clone(), pane.size())) else {
            self.fitted = None;
            return;
        };
        let needs_it = self
            .view
            .task(&task)
            .is_some_and(|task| (!task.size_asked || self.own.contains(&task.id)) && self.fits_badly(task));
        let wanted = Some((task.clone(), size));
        if needs_it && self.fitted != wanted {
            self.fitted = wanted;
            self.effects.push(Effect::send(task, Input::Resize(size)));
        }
    }

    /// Reads the last rows of ended tasks from the log, because these have no live screen: once per pane
    /// width.
    fn read_tails(&mut self, layout: &Layout) {
        for pane in &layout.panes {
            let is_ended = self.view.task(&pane.task).is_some_and(|task| task.status.is_terminal());
            let columns = self.columns(pane);
            if is_ended && self.paged.insert(pane.task.clone(), columns) != Some(columns) {
                self.ask_for_page(pane, Anchor::Tail, pane.size().rows().max(TAIL_ROWS));
            }
        }
    }
}

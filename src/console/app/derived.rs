//! State that is derived after each message: what to fetch, what to show, how far lists are scrolled.

use crate::console::app::App;
use crate::console::effect::Effect;
use crate::console::features::pane::{fit, reflow, timestamps};
use crate::console::features::{outer, reader, receipts, replay, task_list};
use crate::console::state::{Anchor, Breakpoint, Layout, Mode, Screen};
use crate::console::text::reading::window;
use crate::envelope::TaskId;
use crate::link::ConsoleView;
use crate::model::{TaskStatus, TaskView, TypedInput};

/// Number of rows read for an ended task, enough to fill a larger pane too.
const TAIL_ROWS: u16 = 80;

impl App {
    pub(in crate::console) fn derive(&mut self) {
        self.close_outdated();
        self.refresh_card();
        if self.state.focus.mode.task().is_some_and(|task| self.state.view.task(task).is_none()) {
            self.state.observe();
        }
        self.enter_started();
        self.state.review_places(!self.layers.is_empty());
        let layout = self.state.layout();
        self.state.keep_places(&layout);
        self.place_lists(&layout);
        self.want_usage(&layout);
        self.show_panes(&layout);
        outer::tell_programs(&mut self.state, !self.layers.is_empty());
        self.fit_watched(&layout);
        self.read_tails(&layout);
        reflow::read_at_width(&mut self.state, &layout);
        timestamps::read_stamped(&mut self.state, &layout);
        let wanted = receipts::fetch_call(&mut self.state, &layout);
        self.state.effects.extend(wanted);
        self.receipts.lay_out_sheet(&self.state, &layout);
        reader::lay_out_reader(&mut self.state, &layout);
        let next = replay::play_on(&mut self.state);
        self.state.effects.extend(next);
        self.receipts.find_in_shown_text(&mut self.state);
        self.meet_terms(&layout);
    }

    fn place_lists(&mut self, layout: &Layout) {
        let shown = layout.list_items();
        if self.state.focus.screen == Screen::Receipts {
            let (at, count) = (self.state.call_at(), self.state.call_rows().len());
            self.state.calls.top = window(self.state.calls.top, at, count, shown);
        } else if self.state.focus.screen == Screen::Tasks {
            task_list::place_list(&mut self.state, shown);
        }
    }

    /// Announces all visible panes again, because a replaced operator handle does not know about them yet.
    pub(in crate::console) fn show_again(&mut self) {
        self.shown = Default::default();
        self.state.touch();
    }

    /// Returns the tasks with a pane that have not ended: their screens may still change.
    pub fn live_panes(&self) -> Vec<TaskId> {
        let is_live = |id: &&TaskId| self.state.view.task(id).is_some_and(|task| !task.status.is_terminal());
        self.shown.visible.iter().filter(is_live).cloned().collect()
    }

    fn show_panes(&mut self, layout: &Layout) {
        let visible: Vec<TaskId> = layout.panes.iter().map(|pane| pane.task.clone()).collect();
        let focus = self.state.at_hand().map(|task| task.id.clone()).filter(|id| visible.contains(id));
        let columns =
            layout.panes.iter().map(|pane| (pane.task.clone(), reflow::columns(&self.state, pane))).collect();
        let shown = ConsoleView { visible, focus, columns, colours: self.state.outer.colours };
        if shown == self.shown {
            return;
        }
        // The emulator of a screen that was off screen may have restarted its generation counter, and a
        // screen at another width is a different one.
        let is_as_it_was = |task: &&TaskId| {
            self.shown.visible.contains(task) && self.shown.columns.get(*task) == shown.columns.get(*task)
        };
        for task in shown.visible.iter().filter(|task| !is_as_it_was(task)) {
            if let Some(picture) = self.state.view.pictures.get_mut(task) {
                picture.generation = 0;
            }
        }
        for dropped in self.state.view.drop_pictures(&shown.visible) {
            self.paged.remove(&dropped);
        }
        self.shown = shown.clone();
        self.state.effects.push(Effect::Show(shown));
    }

    /// Resizes a task that is shown full size or typed into to fit its pane, unless its size was chosen
    /// explicitly. Done once per pane size, so that two consoles, or an agent's resize, do not keep
    /// overriding each other.
    fn fit_watched(&mut self, layout: &Layout) {
        let is_typed =
            self.state.focus.screen == Screen::Program && matches!(self.state.focus.mode, Mode::Input(_));
        let is_watched = self.state.focus.screen == Screen::Focus || is_typed;
        let is_watched = is_watched && !self.state.view.is_lost && layout.breakpoint != Breakpoint::Sentence;
        let pane = self.state.at_hand().filter(|_| is_watched).and_then(|task| layout.pane(&task.id));
        let Some((task, size)) = pane.map(|pane| (pane.task.clone(), pane.size())) else {
            self.fitted = None;
            return;
        };
        let needs_it = self.state.view.task(&task).is_some_and(|task| {
            (!task.size_asked || self.own.contains(&task.id)) && fit::fits_badly(&self.state, task)
        });
        let wanted = Some((task.clone(), size));
        if needs_it && self.fitted != wanted {
            self.fitted = wanted;
            self.state.effects.push(Effect::send(task, TypedInput::Resize(size)));
        }
    }

    /// Reads the last rows of ended tasks from the log, because these have no live screen: once per pane
    /// width.
    fn read_tails(&mut self, layout: &Layout) {
        for pane in &layout.panes {
            let is_ended = self.state.view.task(&pane.task).is_some_and(|task| task.status.is_terminal());
            let columns = reflow::columns(&self.state, pane);
            if is_ended && self.paged.insert(pane.task.clone(), columns) != Some(columns) {
                reflow::ask_for_page(&mut self.state, pane, Anchor::Tail, pane.size().rows().max(TAIL_ROWS));
            }
        }
    }
}

/// Maximum number of tasks measured on a screen that shows as many as fit.
pub(in crate::console) const MOST: usize = 50;

impl App {
    /// Determines which tasks are measured: those on screen.
    pub(in crate::console) fn want_usage(&mut self, layout: &Layout) {
        let can_look = !self.state.view.is_lost
            && self.state.setup.recording.is_none()
            && layout.breakpoint != Breakpoint::Sentence;
        let (from, many) = match self.state.focus.screen {
            Screen::Tasks if can_look && !layout.list.is_empty() => {
                (self.state.list.top, layout.list_items())
            }
            Screen::Metrics if can_look => (0, MOST),
            _ => (0, 0),
        };
        let listed = self.state.listed();
        if !self.state.view.usage.is_new(&listed, from..from + many) {
            return;
        }
        let is_live = |task: &&TaskView| matches!(task.status, TaskStatus::Running | TaskStatus::Cancelling);
        let rows = listed.rows.iter().skip(from).take(many);
        let shown: Vec<_> = rows.filter_map(|row| self.state.task_in(row)).cloned().collect();
        let watched = match self.state.setup.recording.is_none() && !self.state.view.is_lost {
            true => {
                self.attention.watching.measured(&self.state.setup.ui.watch, &self.state.view.snapshot.tasks)
            }
            false => Vec::new(),
        };
        let more: Vec<_> = watched.into_iter().filter(|task| !shown.contains(task)).cloned().collect();
        let wanted = shown.iter().map(|task| &**task).filter(is_live).chain(more.iter().map(|task| &**task));
        self.state.view.usage.want(wanted);
    }
}

//! State that is derived after each message: what to fetch, what to show, how far lists are scrolled.

use crate::console::app::App;
use crate::console::app::glossary::TermSurroundings;
use crate::console::app::layer::Layer;
use crate::console::features::question::QuestionDialog;
use crate::console::features::reader::lay_out_reader;
use crate::console::state::{Breakpoint, Layout, Screen};
use crate::console::text::reading::window;
use crate::model::{QuestionKind, TaskStatus, TaskView};

impl App {
    pub(in crate::console) fn derive(&mut self) {
        self.close_outdated();
        self.refresh_card();
        if !self.is_occupied() && std::mem::take(&mut self.follows_late) {
            self.state.follow();
        }
        if self.state.focus.mode.task().is_some_and(|task| self.state.view.task(task).is_none()) {
            self.state.observe();
        }
        self.enter_started();
        self.state.review_stage(self.is_occupied());
        let layout = self.state.layout();
        self.place_lists(&layout);
        self.want_usage(&layout);
        self.panes.show(&mut self.state, &layout);
        self.state.tell_programs(!self.layers.is_empty());
        self.panes.fit_own(&mut self.state, &self.own, &layout);
        self.panes.read_tails(&mut self.state, &layout);
        self.state.read_at_width(&layout);
        self.state.read_stamped(&layout);
        let wanted = self.state.fetch_call(&layout);
        self.state.effects.extend(wanted);
        self.receipts.lay_out_sheet(&self.state, &layout);
        self.state.reader.iter_mut().for_each(|reader| lay_out_reader(reader, &layout));
        let next = self.state.play_on();
        self.state.effects.extend(next);
        self.find_in_shown_text();
        let around = self.around();
        self.state.meet_terms(around, &layout);
    }

    /// Tells whether the user is in a dialog or a list, types, or reads something that must not move.
    pub(in crate::console) fn is_occupied(&self) -> bool {
        !self.layers.is_empty() || self.state.is_reading()
    }

    /// Returns what the terms on screen depend on beside the state.
    fn around(&self) -> TermSurroundings {
        let gate = |dialog: &QuestionDialog| matches!(dialog.question.kind, QuestionKind::Gate { .. });
        TermSurroundings {
            has_sheet: self.receipts.sheet.is_some(),
            is_bare: self.layers.is_empty(),
            is_card: matches!(self.layers.last(), Some(Layer::Approval(_))),
            is_gate: matches!(self.layers.last(), Some(Layer::Question(dialog)) if gate(dialog)),
        }
    }

    fn place_lists(&mut self, layout: &Layout) {
        let shown = layout.list_items();
        if self.state.focus.screen == Screen::Receipts {
            let (at, count) = (self.state.call_at(), self.state.call_rows().len());
            self.state.calls.top = window(self.state.calls.top, at, count, shown);
        } else if self.state.focus.screen == Screen::Tasks {
            self.state.place_list(shown);
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
        let selected = self.state.list.selected.clone();
        let is_detailed = can_look && self.state.focus.screen == Screen::Metrics;
        self.state.view.usage.show(selected.filter(|_| is_detailed), is_detailed);
        let listed = self.state.list_rows();
        if !self.state.view.usage.is_new(&listed, from..from + many) {
            return;
        }
        let is_live = |task: &&TaskView| matches!(task.status, TaskStatus::Running | TaskStatus::Cancelling);
        let rows = listed.rows.iter().skip(from).take(many);
        let shown: Vec<_> = rows.filter_map(|row| self.state.task_in(row)).cloned().collect();
        let watched = match self.state.setup.recording.is_none() && !self.state.view.is_lost {
            true => self
                .attention
                .watching
                .measured_tasks(&self.state.setup.ui.console.watch, &self.state.view.snapshot.tasks),
            false => Vec::new(),
        };
        let more: Vec<_> = watched.into_iter().filter(|task| !shown.contains(task)).cloned().collect();
        let wanted = shown.iter().map(|task| &**task).filter(is_live).chain(more.iter().map(|task| &**task));
        self.state.view.usage.want(wanted);
    }
}

//! The panes on screen: which ones the runtime was told of, and what was done for each once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::features::pane::{fit, reflow};
use crate::console::state::{Anchor, Breakpoint, Layout, Mode, Screen, State};
use crate::envelope::TaskId;
use crate::link::ConsoleView;
use crate::model::{TaskView, TypedInput};
use crate::terminal::Size;

/// Number of rows read for an ended task, enough to fill a larger pane too.
const TAIL_ROWS: u16 = 80;

/// What is known of the panes on screen.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct VisiblePanes {
    /// What the runtime was told; the default announces them all again.
    told: ConsoleView,
    /// The width at which the end of an ended task was read.
    paged: BTreeMap<TaskId, u16>,
    /// The task that was fitted to its pane, and the size it got.
    fitted: Option<(TaskId, Size)>,
}

impl VisiblePanes {
    /// Announces all visible panes again, because a replaced operator handle does not know about them yet.
    pub(in crate::console) fn show_again(&mut self) {
        self.told = ConsoleView::default();
    }

    /// Returns the tasks with a pane that have not ended: their screens may still change.
    pub(in crate::console) fn live(&self, state: &State) -> Vec<TaskId> {
        let is_live = |id: &&TaskId| state.view.task(id).is_some_and(|task| !task.status.is_terminal());
        self.told.visible.iter().filter(is_live).cloned().collect()
    }

    /// Tells the runtime which panes are visible, when that has changed.
    pub(in crate::console) fn show(&mut self, state: &mut State, layout: &Layout) {
        let visible: Vec<TaskId> = layout.panes.iter().map(|pane| pane.task.clone()).collect();
        let focus = state.at_hand().map(|task| task.id.clone()).filter(|id| visible.contains(id));
        let columns =
            layout.panes.iter().map(|pane| (pane.task.clone(), reflow::columns(state, pane))).collect();
        let shown = ConsoleView { visible, focus, columns, colours: state.outer.colours };
        if shown == self.told {
            return;
        }
        // The emulator of a screen that was off screen may have restarted its generation counter, and a
        // screen at another width is a different one.
        let is_as_it_was = |task: &&TaskId| {
            self.told.visible.contains(task) && self.told.columns.get(*task) == shown.columns.get(*task)
        };
        for task in shown.visible.iter().filter(|task| !is_as_it_was(task)) {
            if let Some(picture) = state.view.pictures.get_mut(task) {
                picture.generation = 0;
            }
        }
        for dropped in state.view.drop_pictures(&shown.visible) {
            self.paged.remove(&dropped);
        }
        self.told = shown.clone();
        state.effects.push(Effect::Show(shown));
    }

    /// Resizes a task that was started here, and is shown full size or typed into, to fit its pane. Any other keeps its size.
    /// Done once per pane size, so that two consoles, or an agent's resize, do not keep overriding each other.
    pub(in crate::console) fn fit_own(&mut self, state: &mut State, own: &BTreeSet<TaskId>, layout: &Layout) {
        let is_typed = state.focus.screen == Screen::Program && matches!(state.focus.mode, Mode::Input(_));
        let is_watched = state.focus.screen == Screen::Focus || is_typed;
        let is_watched = is_watched && !state.view.is_lost && layout.breakpoint != Breakpoint::Sentence;
        let pane = state.at_hand().filter(|_| is_watched).and_then(|task| layout.pane(&task.id));
        let Some((task, size)) = pane.map(|pane| (pane.task.clone(), pane.size())) else {
            self.fitted = None;
            return;
        };
        let is_own = |task: &&Arc<TaskView>| own.contains(&task.id);
        let needs_it = state.view.task(&task).filter(is_own).is_some_and(|task| fit::fits_badly(state, task));
        let wanted = Some((task.clone(), size));
        if needs_it && self.fitted != wanted {
            self.fitted = wanted;
            state.effects.push(Effect::send(task, TypedInput::Resize(size)));
        }
    }

    /// Reads the last rows of ended tasks from the log, because these have no live screen: once per pane
    /// width.
    pub(in crate::console) fn read_tails(&mut self, state: &mut State, layout: &Layout) {
        for pane in &layout.panes {
            let is_ended = state.view.task(&pane.task).is_some_and(|task| task.status.is_terminal());
            let columns = reflow::columns(state, pane);
            if is_ended && self.paged.insert(pane.task.clone(), columns) != Some(columns) {
                state.ask_for_page(pane, Anchor::Tail, pane.size().rows().max(TAIL_ROWS));
            }
        }
    }
}

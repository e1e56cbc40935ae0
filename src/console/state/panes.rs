//! Which tasks get a pane, and when that is reviewed.

use std::cmp::Reverse;

use jiff::SignedDuration;

use crate::console::state::State;
use crate::console::state::focus::Mode;
use crate::console::state::layout::Layout;
use crate::console::state::pane_slots::{Rank, SlotBasis};
use crate::envelope::TaskId;
use crate::model::TaskView;

/// A task that has ended keeps its pane for at least this long, whatever keys are pressed.
const SEEN_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// Returns the pinned tasks, limited so that the selected one gets a pane.
fn pinned(state: &State, most: usize) -> Vec<TaskId> {
    let selected = state.list.selected.as_ref();
    let is_pinned = selected.is_some_and(|id| state.division.pins.contains(id));
    let room = if is_pinned { most } else { most.saturating_sub(1) };
    let mut pins: Vec<TaskId> =
        state.division.pins.iter().filter(|pin| state.view.task(pin).is_some()).cloned().collect();
    if let Some(at) = pins.iter().position(|pin| is_pinned && Some(pin) == selected).filter(|at| *at >= room)
    {
        pins.swap(at, room.saturating_sub(1));
    }
    pins.truncate(room);
    pins
}

/// Returns the listed tasks that are not at these positions, in list order.
fn others<'a>(state: &'a State, places: &[TaskId]) -> Vec<&'a TaskView> {
    let listed = state.tasks().into_iter().map(|task| &**task);
    listed.filter(|task| !places.contains(&task.id)).collect()
}

impl State {
    /// Returns the tasks that have a pane, at most this many, in order of position.
    pub(in crate::console) fn pane_tasks(&self, most: usize) -> Vec<TaskId> {
        if self.division.slots.decided.as_ref() == Some(&self.pane_choice(most)) {
            return self.division.slots.order.clone();
        }
        let pins = pinned(self, most);
        let mut others = others(self, &pins);
        others.sort_by_key(|task| {
            let is_selected = self.list.selected.as_ref() == Some(&task.id);
            (Reverse(is_selected), Rank::of(task), !self.division.slots.order.contains(&task.id))
        });
        let chosen: Vec<&TaskId> = others.iter().map(|task| &task.id).take(most - pins.len()).collect();
        [pins.clone(), self.division.slots.seated(&chosen, &pins)].concat()
    }

    /// Returns what determines the positions now.
    fn pane_choice(&self, room: usize) -> SlotBasis {
        SlotBasis { room, selected: self.list.selected.clone(), pins: self.division.pins.clone() }
    }

    /// Decides whether to change positions although the selection has not changed.
    pub(in crate::console) fn review_places(&mut self, has_dialog: bool) {
        let is_due = std::mem::take(&mut self.division.slots.is_due);
        let Some(decided) = self.division.slots.decided.as_ref().filter(|_| is_due) else { return };
        let order = &self.division.slots.order;
        let is_gone = order.iter().any(|id| self.view.task(id).is_none());
        let others = others(self, order);
        let has_room = order.len() < decided.room && !others.is_empty();
        let has_better = others.iter().any(|task| Rank::of(task) < Rank::Still);
        let was_seen = order.iter().any(|id| !decided.pins.contains(id) && self.was_seen_to_end(id));
        if is_gone || !has_dialog && !self.is_reading() && (has_room || has_better && was_seen) {
            self.division.slots.decided = None;
        }
    }

    /// Keeps the positions as currently laid out.
    pub(in crate::console) fn keep_places(&mut self, layout: &Layout) {
        let decided = self.pane_choice(layout.room);
        if layout.room > 0 && self.division.slots.decided.as_ref() != Some(&decided) {
            self.division.slots.order = layout.panes.iter().map(|pane| pane.task.clone()).collect();
            self.division.slots.decided = Some(decided);
        }
    }

    /// Tells whether a task other than the selected one has ended long enough ago, with a key pressed since.
    pub(in crate::console) fn was_seen_to_end(&self, id: &TaskId) -> bool {
        let ended = self.view.task(id).and_then(|task| task.ended.as_ref()).map(|ended| ended.at);
        let was_there = ended.is_some_and(|at| {
            self.clock.touched.is_some_and(|touched| touched > at)
                && self.clock.now.duration_since(at) >= SEEN_AFTER
        });
        was_there && self.list.selected.as_ref() != Some(id)
    }

    /// Tells whether the user is typing, or reading something that must not move.
    pub(in crate::console) fn is_reading(&self) -> bool {
        !matches!(self.focus.mode, Mode::Observe) || self.reading.scroll.is_some() || self.focus.in_pane
    }
}

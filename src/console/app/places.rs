//! Which tasks have a pane where several fit, and in which place: those pinned, the selected one, those that wait for the
//! person, live ones. Places change when another task is selected or one that has ended was seen, never by themselves
//! under the eyes of somebody who reads or types.

use std::cmp::Reverse;

use jiff::SignedDuration;

use crate::envelope::TaskId;
use crate::runtime::{TaskStatus, TaskView, Waiting};

use super::{App, Layout, Mode};

/// A task that has ended stays in its pane for so long, whatever is pressed.
const SEEN_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// The tasks that have a pane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// Each in its place; the pinned ones first.
    order: Vec<TaskId>,
    /// What that was decided for.
    decided: Option<Decided>,
    /// Something happened since that may change it.
    is_due: bool,
}

/// What decides places: they stay as long as it does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decided {
    room: usize,
    selected: Option<TaskId>,
    pins: Vec<TaskId>,
}

impl Decided {
    fn now(app: &App, room: usize) -> Self {
        Self { room, selected: app.list.selected.clone(), pins: app.pins.clone() }
    }
}

/// How much a task deserves a pane; the least is the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It waits for the person.
    Waits,
    /// It runs.
    Live,
    /// There is nothing to see of it: not yet, or no longer anything new.
    Still,
}

impl Rank {
    fn of(task: &TaskView) -> Self {
        match task {
            task if task.status.is_terminal() => Self::Still,
            task if task.held.is_some() => Self::Waits,
            task if task.status == TaskStatus::Queued => Self::Still,
            task if task.waiting.as_ref().is_some_and(Waiting::is_certain) => Self::Waits,
            _ => Self::Live,
        }
    }
}

impl Places {
    /// Says that tasks have changed or a key was pressed.
    pub(super) fn review(&mut self) {
        self.is_due = true;
    }

    /// Returns the tasks that have a pane, at most so many, each in its place.
    pub(super) fn shown(&self, app: &App, most: usize) -> Vec<TaskId> {
        if self.decided.as_ref() == Some(&Decided::now(app, most)) {
            return self.order.clone();
        }
        let pins = pinned(app, most);
        let mut others = others(app, &pins);
        others.sort_by_key(|task| {
            let is_selected = app.list.selected.as_ref() == Some(&task.id);
            (Reverse(is_selected), Rank::of(task), !self.order.contains(&task.id))
        });
        let chosen: Vec<&TaskId> = others.iter().map(|task| &task.id).take(most - pins.len()).collect();
        [pins.clone(), self.seated(&chosen, &pins)].concat()
    }

    /// Gives each its old place, and those that are new the places left.
    fn seated(&self, chosen: &[&TaskId], pins: &[TaskId]) -> Vec<TaskId> {
        let mut places: Vec<Option<&TaskId>> = vec![None; chosen.len()];
        let before = self.order.iter().filter(|id| !pins.contains(id));
        for (place, old) in places.iter_mut().zip(before) {
            *place = chosen.contains(&old).then_some(old);
        }
        let kept: Vec<&TaskId> = places.iter().copied().flatten().collect();
        let mut new = chosen.iter().copied().filter(|id| !kept.contains(id));
        places.into_iter().filter_map(|place| place.or_else(|| new.next())).cloned().collect()
    }
}

/// The pinned tasks, as many as leave the selected one a place.
fn pinned(app: &App, most: usize) -> Vec<TaskId> {
    let selected = app.list.selected.as_ref();
    let is_pinned = selected.is_some_and(|id| app.pins.contains(id));
    let room = if is_pinned { most } else { most.saturating_sub(1) };
    let mut pins: Vec<TaskId> = app.pins.iter().filter(|pin| app.view.task(pin).is_some()).cloned().collect();
    if let Some(at) = pins.iter().position(|pin| is_pinned && Some(pin) == selected).filter(|at| *at >= room)
    {
        pins.swap(at, room.saturating_sub(1));
    }
    pins.truncate(room);
    pins
}

/// The tasks listed that are not in these places, in the order of the list.
fn others<'a>(app: &'a App, places: &[TaskId]) -> Vec<&'a TaskView> {
    let listed = app.tasks().into_iter().map(|task| &**task);
    listed.filter(|task| !places.contains(&task.id)).collect()
}

impl App {
    /// Decides whether places are to change although the selection has not.
    pub(super) fn review_places(&mut self) {
        let is_due = std::mem::take(&mut self.places.is_due);
        let Some(decided) = self.places.decided.as_ref().filter(|_| is_due) else { return };
        let order = &self.places.order;
        let is_gone = order.iter().any(|id| self.view.task(id).is_none());
        let others = others(self, order);
        let has_room = order.len() < decided.room && !others.is_empty();
        let has_better = others.iter().any(|task| Rank::of(task) < Rank::Still);
        let was_seen = order.iter().any(|id| !decided.pins.contains(id) && self.was_seen_to_end(id));
        if is_gone || !self.is_reading() && (has_room || has_better && was_seen) {
            self.places.decided = None;
        }
    }

    /// Keeps the places as they are laid out now.
    pub(super) fn keep_places(&mut self, layout: &Layout) {
        let decided = Decided::now(self, layout.room);
        if layout.room > 0 && self.places.decided.as_ref() != Some(&decided) {
            self.places.order = layout.panes.iter().map(|pane| pane.task.clone()).collect();
            self.places.decided = Some(decided);
        }
    }

    /// A task other than the selected one is over, for long enough, and a key was pressed since.
    fn was_seen_to_end(&self, id: &TaskId) -> bool {
        let ended = self.view.task(id).and_then(|task| task.ended.as_ref()).map(|ended| ended.at);
        let was_there = ended.is_some_and(|at| {
            self.touched.is_some_and(|touched| touched > at) && self.now.duration_since(at) >= SEEN_AFTER
        });
        was_there && self.list.selected.as_ref() != Some(id)
    }

    /// Somebody types, or reads what must not move.
    fn is_reading(&self) -> bool {
        !matches!(self.mode, Mode::Observe)
            || self.scroll.is_some()
            || self.in_pane
            || !self.layers.is_empty()
    }
}

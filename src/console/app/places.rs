//! Which tasks have a pane where several fit, and at which position: pinned ones, the selected one, those
//! that wait for the user, live ones. Positions change when another task is selected or an ended task has
//! been seen, but never by themselves while the user is reading or typing.

use std::cmp::Reverse;

use jiff::SignedDuration;

use crate::envelope::TaskId;
use crate::model::{TaskStatus, TaskView, Waiting};

use super::{App, Layout, Mode};

/// A task that has ended keeps its pane for at least this long, whatever keys are pressed.
const SEEN_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// The tasks that have a pane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The tasks by position, pinned ones first.
    order: Vec<TaskId>,
    /// The state for which the positions were decided.
    decided: Option<Decided>,
    /// Whether something has happened since that may change them.
    is_due: bool,
}

/// The state that determines the positions: they stay while it does.
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

/// The priority of a task for getting a pane; the lowest value has the highest priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It waits for the user.
    Waits,
    /// It is running.
    Live,
    /// It has nothing to show: not yet, or nothing new any more.
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
    /// Records that tasks have changed or a key was pressed.
    pub(super) fn review(&mut self) {
        self.is_due = true;
    }

    /// Returns the tasks that have a pane, at most this many, in order of position.
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

    /// Keeps tasks that had a pane at their position, and fills the free positions with new ones.
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

/// Returns the pinned tasks, limited so that the selected one gets a pane.
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

/// Returns the listed tasks that are not at these positions, in list order.
fn others<'a>(app: &'a App, places: &[TaskId]) -> Vec<&'a TaskView> {
    let listed = app.tasks().into_iter().map(|task| &**task);
    listed.filter(|task| !places.contains(&task.id)).collect()
}

impl App {
    /// Decides whether to change positions although the selection has not changed.
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

    /// Keeps the positions as currently laid out.
    pub(super) fn keep_places(&mut self, layout: &Layout) {
        let decided = Decided::now(self, layout.room);
        if layout.room > 0 && self.places.decided.as_ref() != Some(&decided) {
            self.places.order = layout.panes.iter().map(|pane| pane.task.clone()).collect();
            self.places.decided = Some(decided);
        }
    }

    /// Tells whether a task other than the selected one has ended long enough ago, with a key pressed since.
    fn was_seen_to_end(&self, id: &TaskId) -> bool {
        let ended = self.view.task(id).and_then(|task| task.ended.as_ref()).map(|ended| ended.at);
        let was_there = ended.is_some_and(|at| {
            self.touched.is_some_and(|touched| touched > at) && self.now.duration_since(at) >= SEEN_AFTER
        });
        was_there && self.list.selected.as_ref() != Some(id)
    }

    /// Tells whether the user is typing, or reading something that must not move.
    fn is_reading(&self) -> bool {
        !matches!(self.mode, Mode::Observe)
            || self.scroll.is_some()
            || self.in_pane
            || !self.layers.is_empty()
    }
}

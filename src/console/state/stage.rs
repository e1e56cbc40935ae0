//! The stage of the tasks screen: how many panes it has room for, and which tasks were given one.

use jiff::{SignedDuration, Timestamp};

use crate::console::state::focus::{Mode, Screen};
use crate::console::state::seats::{SeatWishes, Stage, StageTask, TaskStage, assign_seats};
use crate::console::state::{PointedRow, State};
use crate::envelope::TaskId;
use crate::model::TaskView;

/// For this long after its last output a task counts as one that prints.
const FRESH: SignedDuration = SignedDuration::from_secs(30);

/// A task that has ended keeps its pane for at least this long.
const READABLE: SignedDuration = SignedDuration::from_secs(5);

impl State {
    /// Returns what the tasks in so many places depend on besides the tasks.
    pub(in crate::console) fn seat_wishes(&self, room: usize, fills: bool) -> SeatWishes {
        let has_match = self.list.pointed != Some(PointedRow::Nothing);
        let selected = self.list.selected.clone().filter(|_| has_match);
        let pins = self.division.pins.clone();
        SeatWishes { room, fills, selected, is_made: self.has_chosen(), pins }
    }

    /// Returns the task at each place.
    pub(in crate::console) fn seats(&self, wishes: &SeatWishes) -> Vec<Option<TaskId>> {
        let stage = &self.division.stage;
        if stage.decided.as_ref() == Some(wishes) {
            return stage.seats.clone();
        }
        assign_seats(&stage.seats, &self.stage_tasks(), wishes, self.is_reading())
    }

    /// Decides again who has which place, if anything has happened that matters for it; `is_still` as in [`assign_seats`].
    pub(in crate::console) fn review_stage(&mut self, is_still: bool) {
        let Some(wishes) = (self.focus.screen == Screen::Tasks).then(|| self.stage_wishes()).flatten() else {
            return;
        };
        let is_over = self.division.stage.until.is_some_and(|at| at <= self.clock.now);
        if !self.division.stage.is_due && !is_over && self.division.stage.decided.as_ref() == Some(&wishes) {
            return;
        }
        let tasks = self.stage_tasks();
        let seats = assign_seats(&self.division.stage.seats, &tasks, &wishes, is_still);
        let is_seated = |task: &&StageTask<'_>| seats.iter().flatten().any(|seat| seat == task.id);
        let until = tasks.iter().filter(is_seated).filter_map(|task| task.until).min();
        self.division.stage = Stage { seats, decided: Some(wishes), is_due: false, until };
    }

    /// Returns the task that has waited longest, if the user has selected another one.
    pub(in crate::console) fn unselected_waiter(&self) -> Option<&TaskId> {
        let waiter = self.waiter().filter(|_| self.has_chosen())?;
        (self.list.selected.as_ref() != Some(&waiter.id)).then_some(&waiter.id)
    }

    /// Tells whether the user chose the selected task, or is at it.
    fn has_chosen(&self) -> bool {
        let is_read = self.reading.scroll.is_some() || self.focus.in_pane;
        self.list.is_held || is_read || self.focus.mode.task().is_some()
    }

    fn stage_tasks(&self) -> Vec<StageTask<'_>> {
        let holds = self.list.filters.holding();
        let tasks = self.view.snapshot.tasks.iter().filter(|task| !self.view.cleared.contains(&task.id));
        tasks.map(|task| self.stage_task(task, holds(task))).collect()
    }

    fn stage_task<'a>(&self, task: &'a TaskView, is_listed: bool) -> StageTask<'a> {
        let until = |at: Timestamp, time| at.checked_add(time).ok().filter(|until| *until > self.clock.now);
        let ended = task.ended.as_ref().map(|ended| ended.at);
        let readable = ended.and_then(|at| until(at, READABLE));
        let stage = match ended {
            None if !task.status.is_terminal() => TaskStage::Live,
            Some(_) if readable.is_some() => TaskStage::JustEnded,
            Some(at) if self.clock.touched.is_none_or(|touched| touched <= at) => TaskStage::Ended,
            _ => TaskStage::SeenToEnd,
        };
        let begun_at = task.started_at.unwrap_or(task.created_at);
        let printed_at = (task.output.bytes > 0).then(|| task.output.last_at.unwrap_or(begun_at));
        let fresh = ended.max(printed_at).and_then(|at| until(at, FRESH));
        let waits = task.certain_wait().filter(|_| stage == TaskStage::Live && task.held.is_none());
        let waits_since = waits.map(|waiting| waiting.since);
        let until = match stage {
            TaskStage::JustEnded => readable,
            TaskStage::SeenToEnd => fresh,
            TaskStage::Live | TaskStage::Ended => None,
        };
        let is_fresh = fresh.is_some();
        StageTask { id: &task.id, waits_since, printed_at, begun_at, stage, is_fresh, is_listed, until }
    }

    /// Tells whether the user is typing, or reading something that must not move.
    pub(in crate::console) fn is_reading(&self) -> bool {
        !matches!(self.focus.mode, Mode::Observe) || self.reading.scroll.is_some() || self.focus.in_pane
    }
}

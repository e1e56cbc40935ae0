//! The way of a task to its end: exit, drained, leftovers, gone.

use super::message::{Action, Order};
use super::task::Task;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::facts::{Exit, TaskFact, TaskStatus};
use crate::process::Leftovers;

impl Task {
    pub(super) fn start_failed(&mut self, now: Moment, error: (String, String)) -> Vec<Action> {
        if self.pid.is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        self.error = Some(error);
        self.close(now)
    }

    /// The shell is gone. Its output may still be on the way: drain before anything is ended.
    pub(super) fn exited(&mut self, now: Moment, exit: Exit) -> Vec<Action> {
        if self.exit.is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        self.exit = Some(exit.clone());
        self.waiting = None;
        // What was typed before it stands before it.
        let mut actions = self.flush_burst(now);
        actions.push(self.note(now, Actor::System, TaskFact::Exit(exit)));
        actions.push(Action::Drain(self.id.clone()));
        actions
    }

    pub(super) fn drained(&mut self) -> Vec<Action> {
        if self.exit.is_none() || self.status.is_terminal() {
            return Vec::new();
        }
        vec![Action::Order(self.id.clone(), Order::Finish(self.request.leftovers))]
    }

    pub(super) fn leftovers(&mut self, now: Moment, names: Vec<String>) -> Vec<Action> {
        if names.is_empty() || self.status.is_terminal() {
            return Vec::new();
        }
        self.leftovers.clone_from(&names);
        let mut actions = vec![self.note(now, Actor::System, TaskFact::Leftovers(names))];
        if self.request.leftovers == Leftovers::Keep && !self.promoted {
            // What was kept is the task from now on; its caller need not wait for that.
            self.promoted = true;
            actions.push(self.note(now, Actor::System, TaskFact::Promoted { kept: true }));
            actions.push(Action::Promote(self.id.clone()));
        }
        actions
    }

    pub(super) fn gone(&mut self, now: Moment, survivors: Vec<String>) -> Vec<Action> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        self.survivors = survivors;
        self.close(now)
    }

    pub(super) fn host_lost(&mut self, now: Moment) -> Vec<Action> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        if self.exit.is_none() {
            self.error = Some(("internal_error".into(), "the task host was killed".into()));
        }
        self.close(now)
    }

    pub(super) fn close(&mut self, now: Moment) -> Vec<Action> {
        let status = status(self);
        let mut actions = self.flush_burst(now);
        self.enter(now, status);
        self.ended_at = Some(now.wall);
        self.ran = Some(now.mono.saturating_sub(self.since));
        self.held = None;
        self.lease = None;
        self.waiting = None;
        actions.push(self.note(now, Actor::System, TaskFact::End(status)));
        actions.push(Action::Close(self.id.clone()));
        actions
    }
}

/// How ends map to states (docs/contract.md#how-tasks-end).
pub(super) fn status(task: &Task) -> TaskStatus {
    if task.interrupted {
        TaskStatus::Interrupted
    } else if task.denied || task.stop.as_ref().is_some_and(|stop| stop.by != Actor::System) {
        TaskStatus::Cancelled
    } else if task.timed_out || task.error.is_some() {
        TaskStatus::Failed
    } else if task.exit == Some(Exit::Code(0)) {
        TaskStatus::Completed
    } else {
        TaskStatus::Failed
    }
}

//! A task's path to its end: exit, drain, leftovers, gone.

use super::message::{Action, Order};
use super::task::{Task, millis};
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::facts::{Exit, TaskFact};
use crate::process::Leftovers;

impl Task {
    pub(super) fn start_failed(&mut self, now: Moment, error: (String, String)) -> Vec<Action> {
        if self.pid.is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        self.close(now, Some(error), Vec::new())
    }

    /// Handles the shell's exit. Its output may still be on the way, so drain it before anything is ended.
    pub(super) fn exited(&mut self, now: Moment, exit: Exit) -> Vec<Action> {
        if self.exit().is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        // What was typed before the exit precedes it in the timeline.
        let mut actions = self.flush_burst(now);
        actions.push(self.note(now, Actor::System, TaskFact::Exit(exit)));
        actions.push(Action::Drain(self.id.clone()));
        actions
    }

    pub(super) fn drained(&mut self, now: Moment) -> Vec<Action> {
        if self.exit().is_none() || self.status.is_terminal() {
            return Vec::new();
        }
        self.is_drained = true;
        if let Some(survivors) = self.gone.take() {
            return self.close(now, None, survivors);
        }
        vec![Action::Order(self.id.clone(), Order::Finish(self.request.leftovers))]
    }

    pub(super) fn leftovers(&mut self, now: Moment, names: Vec<String>) -> Vec<Action> {
        if names.is_empty() || self.status.is_terminal() {
            return Vec::new();
        }
        let mut actions = vec![self.note(now, Actor::System, TaskFact::Leftovers(names))];
        if self.request.leftovers == Leftovers::Keep && !self.promoted {
            // From now on the task consists of what was kept; its caller need not wait for that.
            actions.push(self.note(now, Actor::System, TaskFact::Promoted { kept: true }));
            actions.push(Action::Promote(self.id.clone()));
        }
        actions
    }

    pub(super) fn gone(&mut self, now: Moment, survivors: Vec<String>) -> Vec<Action> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        if self.exit().is_some() && !self.is_drained {
            // Nothing was left to wait for, but the last output is still on the way.
            self.gone = Some(survivors);
            return Vec::new();
        }
        self.close(now, None, survivors)
    }

    pub(super) fn host_lost(&mut self, now: Moment) -> Vec<Action> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        let killed = || ("internal_error".into(), "the task host was killed".into());
        self.close(now, self.exit().is_none().then(killed), Vec::new())
    }

    /// Ends the task; `error` is one that no event has reported yet.
    pub(super) fn close(
        &mut self,
        now: Moment,
        error: Option<(String, String)>,
        survivors: Vec<String>,
    ) -> Vec<Action> {
        let mut actions = self.flush_burst(now);
        self.held = None;
        let ran_ms = Some(millis(now.mono.saturating_sub(self.since)));
        let status = self.final_status(self.interrupted);
        let end = TaskFact::End { status, ran_ms, error, survivors };
        actions.push(self.note(now, Actor::System, end));
        actions.push(Action::Close(self.id.clone()));
        actions
    }
}

//! A task's path to its end: exit, drain, leftovers, gone.

use std::time::Duration;

use super::message::{HostOrder, SupervisorAction};
use super::task::SupervisedTask;
use crate::clock::{Moment, millis};
use crate::envelope::{Actor, ErrorKind};
use crate::model::error::START_UNKNOWN;
use crate::model::phrases::NOT_BEGUN;
use crate::model::{Exit, Leftovers, TaskFact, TaskStatus, UnendedProcess};

impl SupervisedTask {
    pub(super) fn start_failed(&mut self, now: Moment, error: (String, String)) -> Vec<SupervisorAction> {
        if self.pid.is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        self.close(now, Some(error), Vec::new())
    }

    /// Handles the shell's exit. Its output may still be on the way, so drain it before anything is ended.
    pub(super) fn handle_exit(&mut self, now: Moment, exit: Exit) -> Vec<SupervisorAction> {
        if self.exit().is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        // What was typed before the exit precedes it in the timeline.
        let mut actions = self.flush_burst(now);
        actions.push(self.note(now, Actor::System, TaskFact::Exit(exit)));
        actions.push(SupervisorAction::Drain(self.id.clone()));
        actions
    }

    pub(super) fn handle_drain(&mut self, now: Moment) -> Vec<SupervisorAction> {
        if self.exit().is_none() || self.status.is_terminal() {
            return Vec::new();
        }
        self.is_drained = true;
        if let Some(survivors) = self.gone.take() {
            return self.close(now, None, survivors);
        }
        // What an agent asked to keep is a task at once; what a program keeps is waited for like everything else.
        let leftovers = self.request.leftovers;
        let waits = leftovers == Leftovers::End || self.request.step.is_some();
        vec![SupervisorAction::Order(self.id.clone(), HostOrder::Finish { leftovers, waits })]
    }

    /// Handles processes that outlived the shell and are still part of the command: it goes on until they end, its
    /// call has waited long enough, or its time is up.
    pub(super) fn at_work(
        &mut self,
        now: Moment,
        names: Vec<String>,
        grace: Duration,
    ) -> Vec<SupervisorAction> {
        if self.exit().is_none() || self.is_cut_short || self.status != TaskStatus::Running {
            return Vec::new();
        }
        self.is_at_work = true;
        let mut actions = vec![self.note(now, Actor::System, TaskFact::AtWork(names))];
        if self.is_out_of_time {
            actions.extend(self.time_out(now, grace));
        } else if self.overdue {
            actions.extend(self.promote(now));
        }
        actions
    }

    /// Ends what is still part of the command although its shell has exited: its time is up. How the shell ended
    /// stands.
    pub(super) fn cut_short(&mut self) -> Vec<SupervisorAction> {
        self.is_out_of_time = true;
        if !self.is_at_work || self.is_cut_short {
            return Vec::new();
        }
        self.is_cut_short = true;
        vec![SupervisorAction::Order(
            self.id.clone(),
            HostOrder::Finish { leftovers: Leftovers::End, waits: false },
        )]
    }

    pub(super) fn leftovers(&mut self, now: Moment, names: Vec<String>) -> Vec<SupervisorAction> {
        if names.is_empty() || self.status.is_terminal() {
            return Vec::new();
        }
        let may_stay = self.status == TaskStatus::Running && !self.is_cut_short;
        let is_kept = self.request.leftovers == Leftovers::Keep && may_stay;
        let fact = if is_kept { TaskFact::Kept(names) } else { TaskFact::Leftovers(names) };
        let mut actions = vec![self.note(now, Actor::System, fact)];
        if is_kept && !self.promoted {
            // From now on the task consists of what was kept; its caller need not wait for that.
            actions.push(self.note(now, Actor::System, TaskFact::Promoted { kept: true }));
            actions.push(SupervisorAction::Promote(self.id.clone()));
        }
        actions
    }

    pub(super) fn handle_host_end(
        &mut self,
        now: Moment,
        survivors: Vec<UnendedProcess>,
    ) -> Vec<SupervisorAction> {
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

    pub(super) fn host_lost(&mut self, now: Moment, survivors: Vec<UnendedProcess>) -> Vec<SupervisorAction> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        let lost = match (self.exit(), self.pid) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(("internal_error".to_owned(), "the task host was killed".to_owned())),
            (None, None) => Some((ErrorKind::StartUnknown.to_string(), START_UNKNOWN.to_owned())),
        };
        self.close(now, lost, survivors)
    }

    /// Ends the task; `error` is one that no event has reported yet.
    pub(super) fn close(
        &mut self,
        now: Moment,
        error: Option<(String, String)>,
        survivors: Vec<UnendedProcess>,
    ) -> Vec<SupervisorAction> {
        let mut actions = self.flush_burst(now);
        self.held = None;
        let ran_ms = Some(millis(now.mono.saturating_sub(self.since)));
        // A profile that somebody stopped is no fault of its own.
        let is_its_own = self.has_not_begun && self.stop.is_none() && !self.has_failed();
        let error = error
            .or_else(|| is_its_own.then(|| (ErrorKind::ExecutionFailed.to_string(), NOT_BEGUN.to_owned())));
        let status = if is_its_own { TaskStatus::Failed } else { self.final_status(self.interrupted) };
        let end = TaskFact::End { status, ran_ms, error, survivors, peak_memory: self.peak_memory };
        actions.push(self.note(now, Actor::System, end));
        actions.push(SupervisorAction::Close(self.id.clone()));
        actions
    }
}

//! Makes all decisions about tasks: transitions, promotion, stop escalation, leases, timeouts.
//!
//! Pure: an input and the current time go in, a list of actions comes out. The supervisor never touches a process, a
//! file or a clock; the driver carries out its decisions.

mod approval;
mod calling;
mod ceiling;
mod driving;
mod exit;
mod gate;
mod holding;
mod message;
mod request_hash;
mod room;
mod stopping;
mod task;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use message::{
    BatchVerdict, HostOrder, NewTask, PromptedCommand, SupervisorAction, SupervisorInput, Timer,
};
pub(crate) use task::SupervisedTask;

use crate::clock::Moment;
use crate::config::{Lane, Limits};
use crate::envelope::{Actor, TaskId};
use crate::model::{
    CloseReason, HoldReason, InputRejection, OutputView, RejectionReason, Stop, StopEffect, StopSignal,
    TaskUpdate, TaskView,
};

/// The state of all tasks of one recording.
#[derive(Debug)]
pub(crate) struct Supervisor {
    stop_grace: Duration,
    lease: Duration,
    limit: usize,
    output_bytes: u64,
    ask_within: Duration,
    tasks: BTreeMap<TaskId, SupervisedTask>,
    gate: gate::ApprovalGate,
    numbers: u32,
    closing: Option<CloseReason>,
}

impl Supervisor {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            stop_grace: limits.stop_grace,
            lease: limits.lease,
            limit: limits.tasks,
            output_bytes: limits.output_bytes.unwrap_or(u64::MAX),
            ask_within: limits.ask_within,
            tasks: BTreeMap::new(),
            gate: gate::ApprovalGate::new(limits),
            numbers: 0,
            closing: None,
        }
    }

    /// Handles one input and returns the actions to carry out, in order. Inputs about unknown tasks, late inputs and
    /// timers of a past epoch change nothing.
    pub(crate) fn step(&mut self, now: Moment, input: SupervisorInput) -> Vec<SupervisorAction> {
        use SupervisorInput::*;
        let (grace, limit, within) = (self.stop_grace, self.output_bytes, self.ask_within);
        match input {
            Start(new) => self.start(now, *new),
            Shutdown { closing } => self.shutdown(now, closing),
            Rules { rules } => self.set_rules(now, rules),
            Pause { paused } => self.pause(now, paused),
            Decide { ticket, hash, decision } => {
                self.decide(now, ticket, &hash, &decision).unwrap_or_default()
            }
            Batch { batch, within } => self.admit_batch(now, batch, within.as_ref()).1,
            Stop { id, by, stop, why } => self.with(&id, |task, _| match stop.signal {
                Some(signal) => task.signal(now, &by, signal),
                None => task.stop(now, &by, task.grace(grace), stop.force, why.as_deref()),
            }),
            PassedOn { id, by, signal } => match StopSignal::of(signal) {
                Some(signal) => self.with(&id, |task, _| task.passed_on(now, &by, signal)),
                None => Vec::new(),
            },
            Prompted { command } => {
                self.gate.allow_prompted(now, *command);
                Vec::new()
            }
            HoldOver { ticket } => self.hold_over(now, ticket),
            Withdraw { call } => self.withdraw(now, call),
            Started { id, pid } => self.with(&id, |task, _| task.handle_start(now, pid)),
            StartFailed { id, error } => self.with(&id, |task, _| task.start_failed(now, error)),
            Queues { id, wait } => self.with(&id, |task, _| task.queue(now, wait)),
            Admitted { id, by } => self.with(&id, |task, _| task.enter(now, &by)),
            Exited { id, exit } => self.with(&id, |task, _| task.handle_exit(now, exit)),
            Drained { id } => self.with(&id, |task, _| task.handle_drain(now)),
            NotBegun { id } => self.with(&id, |task, _| {
                task.has_not_begun = true;
                Vec::new()
            }),
            Overrun { id } => self.with(&id, |task, _| task.overrun(now, limit, grace)),
            Ceiling { id, hit } => self.with(&id, |task, _| task.met_ceiling(now, hit)),
            Peak { id, bytes } => self.with(&id, |task, _| task.note_peak(bytes)),
            AtWork { id, names } => self.with(&id, |task, _| task.at_work(now, names, task.grace(grace))),
            Leftovers { id, names } => self.with(&id, |task, _| task.leftovers(now, names)),
            CallerGone { id } => self.with(&id, |task, _| task.caller_gone(now)),
            Gone { id, survivors } => self.with(&id, |task, _| task.handle_host_end(now, survivors)),
            HostLost { id, survivors } => self.with(&id, |task, _| task.host_lost(now, survivors)),
            Typed { id, by, bytes } => self.with(&id, |task, lease| task.handle_input(now, by, bytes, lease)),
            Refused { id, by, reason } => self.with(&id, |task, _| task.note_refusal(now, by, reason)),
            InputLost { id, lost } => self.with(&id, |task, _| task.note_lost_input(now, lost)),
            Resized { id, by, size } => self.with(&id, |task, _| task.note_resize(now, by, size)),
            Release { id, by } => self.with(&id, |task, _| task.release(now, by)),
            ScreenReset { id } => self.with(&id, |task, _| task.screen_reset(now)),
            Rename { id, name } => self.with(&id, |task, _| task.rename(name)),
            Waiting { id, waiting, is_watched } => {
                self.with(&id, |task, _| task.waits(now, waiting, within, is_watched))
            }
            Listening { id, at, url } => self.with(&id, |task, _| task.listens(now, at, url)),
            Closed { id, at } => self.with(&id, |task, _| task.note_close(now, at)),
            PortTaken { id, taken } => self.with(&id, |task, _| {
                task.apply(TaskUpdate::PortTaken(taken));
                Vec::new()
            }),
            Unanswered { id } => self.with(&id, |task, _| task.note_end_input(now)),
            Due { id, timer, epoch } => {
                self.with(&id, |task, _| task.due(now, timer, epoch, task.grace(grace)))
            }
        }
    }

    /// Returns what a stop of a task will do.
    pub(crate) fn stop_effect(&self, id: &TaskId, stop: Stop) -> StopEffect {
        self.tasks.get(id).map_or(StopEffect::Noop, |task| task.stop_effect(stop))
    }

    /// Decides whether `by` may type into a task now. `needs_tty` is set for keys and sizes.
    pub(crate) fn admit(
        &self,
        now: Moment,
        id: &TaskId,
        by: &Actor,
        needs_tty: bool,
    ) -> Result<(), InputRejection> {
        let Some(task) = self.tasks.get(id) else {
            return Err(InputRejection {
                reason: RejectionReason::TaskNotRunning,
                message: "There is no such task.".into(),
            });
        };
        task.admit(now, by, needs_tty)
    }

    /// Removes a task that has ended and whose log is complete, and returns its public view; a live task stays.
    pub(crate) fn forget(&mut self, id: &TaskId, output: OutputView) -> Option<Arc<TaskView>> {
        self.tasks.get(id).filter(|task| task.status.is_terminal())?;
        let mut task = self.tasks.remove(id)?;
        Some(task.update_output(output).clone())
    }

    pub(crate) fn get(&self, id: &TaskId) -> Option<&SupervisedTask> {
        self.tasks.get(id)
    }

    /// Updates how much each task has written; returns their public views.
    pub(crate) fn update_output(
        &mut self,
        output: impl Fn(&TaskId) -> OutputView,
    ) -> impl Iterator<Item = &Arc<TaskView>> {
        self.tasks.iter_mut().map(move |(id, task)| task.update_output(output(id)))
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &SupervisedTask> {
        self.tasks.values().filter(|task| !task.status.is_terminal())
    }

    fn start(&mut self, now: Moment, new: NewTask) -> Vec<SupervisorAction> {
        self.numbers += 1;
        let id = new.id.clone();
        let held = self.gate.hold(now, &new);
        let is_ruled = held.as_ref().is_some_and(|held| matches!(held.reason, HoldReason::Rule(_)));
        let prompted = is_ruled.then(|| self.gate.take_prompted(now, &new)).flatten();
        let lane = self.lane(&new);
        let (task, mut actions) = SupervisedTask::create(now, self.numbers, new, held, lane);
        self.tasks.insert(id.clone(), task);
        if let Some(question) = prompted.filter(|_| self.closing.is_none()) {
            actions.extend(self.go_if_prompted(now, &id, question));
        }
        if let (Some(task), Some(closing)) = (self.tasks.get_mut(&id), &self.closing) {
            actions.extend(task.interrupt(now, Duration::ZERO, closing));
        }
        actions
    }

    /// Returns the lane in which a new task needs a slot. What comes out of a task in the same lane is part of that one,
    /// which may be waiting for it.
    fn lane(&self, new: &NewTask) -> Option<Lane> {
        let lane = new.lane.as_ref()?;
        let above = |task: &&SupervisedTask| self.tasks.get(&task.behind.as_ref()?.task);
        let first = new.behind.as_ref().and_then(|behind| self.tasks.get(&behind.task));
        let mut above = std::iter::successors(first, above);
        let is_inside = above.any(|task| task.lane.as_ref().is_some_and(|other| other.name == lane.name));
        (!is_inside).then(|| lane.clone())
    }

    fn shutdown(&mut self, now: Moment, closing: CloseReason) -> Vec<SupervisorAction> {
        // The first reason stands: a second shutdown only speeds things up.
        let closing = self.closing.get_or_insert(closing).clone();
        let usual = self.stop_grace;
        let mut actions = self.close_gate(now);
        let tasks = self.tasks.values_mut();
        actions.extend(tasks.flat_map(|task| task.interrupt(now, task.grace(usual), &closing)));
        actions
    }

    fn with(
        &mut self,
        id: &TaskId,
        act: impl FnOnce(&mut SupervisedTask, Duration) -> Vec<SupervisorAction>,
    ) -> Vec<SupervisorAction> {
        let lease = self.lease;
        self.tasks.get_mut(id).map(|task| act(task, lease)).unwrap_or_default()
    }
}

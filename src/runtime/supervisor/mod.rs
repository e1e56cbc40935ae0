//! Makes all decisions about tasks: transitions, promotion, stop escalation, leases, timeouts.
//!
//! Pure: an input and the current time go in, a list of actions comes out. The supervisor never touches a process, a
//! file or a clock; the driver carries out its decisions.

mod approval;
mod calling;
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

pub(crate) use message::{Action, Input, NewTask, Order, Timer, Verdict};
pub(crate) use task::Task;

use crate::clock::Moment;
use crate::config::Limits;
use crate::envelope::{Actor, TaskId};
use crate::model::{Closing, OutputView, Rejection, RejectionReason, Stop, StopEffect, StopSignal, TaskView};

/// The state of all tasks of one recording.
#[derive(Debug)]
pub(crate) struct Supervisor {
    stop_grace: Duration,
    lease: Duration,
    limit: usize,
    output_bytes: u64,
    ask_within: Duration,
    tasks: BTreeMap<TaskId, Task>,
    gate: gate::Gate,
    numbers: u32,
    closing: Option<Closing>,
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
            gate: gate::Gate::new(limits),
            numbers: 0,
            closing: None,
        }
    }

    /// Handles one input and returns the actions to carry out, in order. Inputs about unknown tasks, late inputs and
    /// timers of a past epoch change nothing.
    pub(crate) fn step(&mut self, now: Moment, input: Input) -> Vec<Action> {
        match input {
            Input::Start(new) => self.start(now, *new),
            Input::Shutdown { closing } => self.shutdown(now, closing),
            Input::Rules { rules } => self.set_rules(now, rules),
            Input::Pause { paused } => self.pause(now, paused),
            Input::Decide { ticket, hash, decision } => {
                self.decide(now, ticket, &hash, &decision).unwrap_or_default()
            }
            Input::Batch { batch, within } => self.admit_batch(now, batch, within.as_ref()).1,
            Input::Stop { id, by, stop, why } => {
                let grace = self.stop_grace;
                self.with(&id, |task, _| match stop.signal {
                    Some(signal) => task.signal(now, &by, signal),
                    None => task.stop(now, &by, task.grace(grace), stop.force, why.as_deref()),
                })
            }
            Input::PassedOn { id, by, signal } => match StopSignal::of(signal) {
                Some(signal) => self.with(&id, |task, _| task.passed_on(now, &by, signal)),
                None => Vec::new(),
            },
            Input::HoldOver { ticket } => self.hold_over(now, ticket),
            Input::Withdraw { call } => self.withdraw(now, call),
            Input::Started { id, pid } => self.with(&id, |task, _| task.started(now, pid)),
            Input::StartFailed { id, error } => self.with(&id, |task, _| task.start_failed(now, error)),
            Input::Exited { id, exit } => self.with(&id, |task, _| task.exited(now, exit)),
            Input::Drained { id } => self.with(&id, |task, _| task.drained(now)),
            Input::Overrun { id } => {
                let (grace, limit) = (self.stop_grace, self.output_bytes);
                self.with(&id, |task, _| task.overrun(now, limit, grace))
            }
            Input::AtWork { id, names } => {
                let grace = self.stop_grace;
                self.with(&id, |task, _| task.at_work(now, names, task.grace(grace)))
            }
            Input::Leftovers { id, names } => self.with(&id, |task, _| task.leftovers(now, names)),
            Input::CallerGone { id } => self.with(&id, |task, _| task.caller_gone(now)),
            Input::Gone { id, survivors } => self.with(&id, |task, _| task.gone(now, survivors)),
            Input::HostLost { id } => self.with(&id, |task, _| task.host_lost(now)),
            Input::Typed { id, by, bytes } => self.with(&id, |task, lease| task.typed(now, by, bytes, lease)),
            Input::Refused { id, by, reason } => self.with(&id, |task, _| task.refused(now, by, reason)),
            Input::Resized { id, by, size } => self.with(&id, |task, _| task.resized(now, by, size)),
            Input::Release { id, by } => self.with(&id, |task, _| task.release(now, by)),
            Input::ScreenReset { id } => self.with(&id, |task, _| task.screen_reset(now)),
            Input::Rename { id, name } => self.with(&id, |task, _| task.rename(name)),
            Input::Waiting { id, waiting } => {
                let within = self.ask_within;
                self.with(&id, |task, _| task.waits(now, waiting, within))
            }
            Input::Unanswered { id } => self.with(&id, |task, _| task.unanswered(now)),
            Input::Due { id, timer, epoch } => {
                let grace = self.stop_grace;
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
    ) -> Result<(), Rejection> {
        let Some(task) = self.tasks.get(id) else {
            return Err(Rejection {
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
        Some(task.measured(output).clone())
    }

    pub(crate) fn get(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.get(id)
    }

    /// Updates how much each task has written; returns their public views.
    pub(crate) fn measured(
        &mut self,
        output: impl Fn(&TaskId) -> OutputView,
    ) -> impl Iterator<Item = &Arc<TaskView>> {
        self.tasks.iter_mut().map(move |(id, task)| task.measured(output(id)))
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values().filter(|task| !task.status.is_terminal())
    }

    fn start(&mut self, now: Moment, new: NewTask) -> Vec<Action> {
        self.numbers += 1;
        let id = new.id.clone();
        let held = self.gate.hold(now, &new);
        let (task, mut actions) = Task::queued(now, self.numbers, new, held);
        self.tasks.insert(id.clone(), task);
        if let (Some(task), Some(closing)) = (self.tasks.get_mut(&id), &self.closing) {
            actions.extend(task.interrupt(now, Duration::ZERO, closing));
        }
        actions
    }

    fn shutdown(&mut self, now: Moment, closing: Closing) -> Vec<Action> {
        // The first reason stands: a second shutdown only speeds things up.
        let closing = self.closing.get_or_insert(closing).clone();
        let usual = self.stop_grace;
        let mut actions = self.close_gate(now);
        let tasks = self.tasks.values_mut();
        actions.extend(tasks.flat_map(|task| task.interrupt(now, task.grace(usual), &closing)));
        actions
    }

    fn with(&mut self, id: &TaskId, act: impl FnOnce(&mut Task, Duration) -> Vec<Action>) -> Vec<Action> {
        let lease = self.lease;
        self.tasks.get_mut(id).map(|task| act(task, lease)).unwrap_or_default()
    }
}

//! Who drives a task's input, and whether it wants some.

use super::message::{Action, Timer};
use super::task::Task;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::facts::{TaskFact, TaskStatus, TaskUpdate, Waiting};

impl Task {
    pub(super) fn release(&mut self, now: Moment, by: Actor) -> Vec<Action> {
        match &self.lease {
            Some(_) => vec![self.note(now, by, TaskFact::Released)],
            None => Vec::new(),
        }
    }

    pub(super) fn lapse(&mut self, now: Moment) -> Vec<Action> {
        let rest = self.leased_until.saturating_sub(now.mono);
        match &self.lease {
            Some(_) if rest.is_zero() => self.release(now, Actor::System),
            Some(_) => vec![self.wake(now, Timer::Lease, rest)],
            None => Vec::new(),
        }
    }

    /// Takes note of what the task waits for; that it began to wait is on its timeline.
    pub(super) fn waits(&mut self, now: Moment, waiting: Option<Waiting>) -> Vec<Action> {
        let known = self.waiting.as_ref().map(|waiting| waiting.kind);
        match waiting.filter(|_| self.status == TaskStatus::Running) {
            Some(waiting) if known != Some(waiting.kind) => {
                return vec![self.note(now, Actor::System, TaskFact::Waiting(waiting))];
            }
            None if known.is_some() => self.apply(TaskUpdate::NotWaiting),
            _ => {}
        }
        Vec::new()
    }
}

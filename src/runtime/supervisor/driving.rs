//! Who drives a task's input, and whether it wants some.

use super::message::{Action, Timer};
use super::task::Task;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::facts::{TaskFact, TaskStatus, Waiting};

impl Task {
    pub(super) fn release(&mut self, now: Moment, by: Actor) -> Vec<Action> {
        match self.lease.take() {
            Some(_) => vec![self.note(now, by, TaskFact::Released)],
            None => Vec::new(),
        }
    }

    pub(super) fn lapse(&mut self, now: Moment) -> Vec<Action> {
        match &self.lease {
            Some((_, until)) if *until <= now.mono => self.release(now, Actor::System),
            Some((_, until)) => {
                let rest = until.saturating_sub(now.mono);
                vec![self.wake(now, Timer::Lease, rest)]
            }
            None => Vec::new(),
        }
    }

    /// Takes note of what the task waits for; that it began to wait is on its timeline.
    pub(super) fn waits(&mut self, now: Moment, waiting: Option<Waiting>) -> Vec<Action> {
        let waiting = waiting.filter(|_| self.status == TaskStatus::Running);
        let kind = |waiting: &Option<Waiting>| waiting.as_ref().map(|waiting| waiting.kind);
        let is_news = waiting.is_some() && kind(&waiting) != kind(&self.waiting);
        self.waiting = waiting;
        match &self.waiting {
            Some(waiting) if is_news => {
                let fact = TaskFact::Waiting(waiting.kind, waiting.evidence);
                vec![self.note(now, Actor::System, fact)]
            }
            _ => Vec::new(),
        }
    }
}

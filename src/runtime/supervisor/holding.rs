//! A task that waits for the operator: held, approved, denied. Nothing of it has started meanwhile.

use super::message::Action;
use super::task::{Held, Task};
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::facts::TaskFact;

impl Task {
    /// Keeps a new task in its queue.
    pub(super) fn hold(&mut self, now: Moment, held: Held) -> Vec<Action> {
        let reason = held.reason.clone();
        self.held = Some(held);
        vec![Action::Queue(self.id.clone()), self.note(now, Actor::System, TaskFact::Held(reason))]
    }

    /// Starts it after all.
    pub(super) fn let_go(&mut self, now: Moment, note: &str) -> Vec<Action> {
        if self.held.take().is_none() {
            return Vec::new();
        }
        vec![
            self.note(now, Actor::Operator, TaskFact::Approved(note.to_owned())),
            Action::Spawn(self.id.clone()),
        ]
    }

    /// Ends it before it has begun.
    pub(super) fn deny(&mut self, now: Moment, note: &str) -> Vec<Action> {
        if self.held.take().is_none() {
            return Vec::new();
        }
        let mut actions = vec![self.note(now, Actor::Operator, TaskFact::Denied(note.to_owned()))];
        actions.push(Action::Refuse { id: self.id.clone(), note: note.to_owned() });
        actions.extend(self.close(now, None, Vec::new()));
        actions
    }
}

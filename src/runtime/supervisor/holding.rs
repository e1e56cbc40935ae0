//! Tasks that wait for the operator: held, approved, denied. Nothing of them has started meanwhile.

use super::message::SupervisorAction;
use super::task::{HoldState, SupervisedTask};
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::TaskFact;

impl SupervisedTask {
    /// Holds a new task in state `queued`.
    pub(super) fn hold(&mut self, now: Moment, held: HoldState) -> Vec<SupervisorAction> {
        let reason = held.reason.clone();
        self.held = Some(held);
        vec![SupervisorAction::Queue(self.id.clone()), self.note(now, Actor::System, TaskFact::Held(reason))]
    }

    /// Releases the task, so that it starts.
    pub(super) fn let_go(&mut self, now: Moment, note: &str) -> Vec<SupervisorAction> {
        if self.held.take().is_none() {
            return Vec::new();
        }
        vec![
            self.note(now, Actor::Operator, TaskFact::Approved(note.to_owned())),
            SupervisorAction::Spawn(self.id.clone()),
        ]
    }

    /// Denies the task, which ends it before it has started.
    pub(super) fn deny(&mut self, now: Moment, note: &str) -> Vec<SupervisorAction> {
        if self.held.take().is_none() {
            return Vec::new();
        }
        let mut actions = vec![self.note(now, Actor::Operator, TaskFact::Denied(note.to_owned()))];
        actions.push(SupervisorAction::Refuse { id: self.id.clone(), note: note.to_owned() });
        actions.extend(self.close(now, None, Vec::new()));
        actions
    }
}

//! Tasks that wait before they start: for the operator (held, approved, denied) or for their turn in a lane. Nothing of
//! them has started meanwhile.

use std::time::Duration;

use jiff::Timestamp;

use super::message::SupervisorAction;
use super::task::SupervisedTask;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::{HoldReason, LaneWait, TaskFact, TaskUpdate};

/// What a task waits for before it starts.
#[derive(Debug, Clone)]
pub(crate) enum HoldState {
    /// The operator's decision.
    Operator(OperatorHold),
    /// Its turn in its lane.
    Lane,
}

/// A hold that the operator decides on.
#[derive(Debug, Clone)]
pub(crate) struct OperatorHold {
    pub(crate) ticket: u64,
    pub(crate) reason: HoldReason,
    pub(crate) since: Timestamp,
    pub(crate) hash: String,
}

impl SupervisedTask {
    /// Holds a new task in state `queued`.
    pub(super) fn hold(&mut self, now: Moment, held: OperatorHold) -> Vec<SupervisorAction> {
        let reason = held.reason.clone();
        self.held = Some(HoldState::Operator(held));
        vec![SupervisorAction::Queue(self.id.clone()), self.note(now, Actor::System, TaskFact::Held(reason))]
    }

    /// Returns the hold that the operator decides on, if that is what it waits for.
    pub(crate) fn operator_hold(&self) -> Option<&OperatorHold> {
        match &self.held {
            Some(HoldState::Operator(hold)) => Some(hold),
            _ => None,
        }
    }

    /// Releases the task, so that it starts.
    pub(super) fn let_go(&mut self, now: Moment, note: &str) -> Vec<SupervisorAction> {
        if self.operator_hold().is_none() {
            return Vec::new();
        }
        self.held = None;
        let mut actions = vec![self.note(now, Actor::Operator, TaskFact::Approved(note.to_owned()))];
        actions.extend(self.go());
        actions
    }

    /// Denies the task, which ends it before it has started.
    pub(super) fn deny(&mut self, now: Moment, note: &str) -> Vec<SupervisorAction> {
        if self.operator_hold().is_none() {
            return Vec::new();
        }
        self.held = None;
        let mut actions = vec![self.note(now, Actor::Operator, TaskFact::Denied(note.to_owned()))];
        actions.push(SupervisorAction::Refuse { id: self.id.clone(), note: note.to_owned() });
        actions.extend(self.close(now, None, Vec::new()));
        actions
    }

    /// Starts the task, or lets it ask for a slot in its lane.
    pub(super) fn go(&mut self) -> Vec<SupervisorAction> {
        match &self.lane {
            Some(lane) => {
                let join = SupervisorAction::Join { id: self.id.clone(), lane: lane.clone() };
                self.held = Some(HoldState::Lane);
                vec![join]
            }
            None => vec![SupervisorAction::Spawn(self.id.clone())],
        }
    }

    /// Tells whether it asks for a slot in its lane, or waits for one.
    pub(crate) fn is_in_queue(&self) -> bool {
        matches!(self.held, Some(HoldState::Lane))
    }

    /// Tells whether it asks for a slot in its lane, and has neither one nor a place in the queue.
    pub(super) fn is_joining(&self) -> bool {
        self.is_in_queue() && self.queued.is_none()
    }

    /// Returns its time limit, once it starts after having `waited`. An item of a batch has no longer than the batch.
    pub(super) fn time_left(&self, waited: Duration) -> Option<Duration> {
        let left = self.request.yield_after.filter(|_| self.request.item.is_some());
        let left = left.map_or(Duration::MAX, |left| left.saturating_sub(waited));
        self.request.timeout.map(|timeout| timeout.min(left))
    }

    /// Notes its place in the queue of its lane. Only the first one is an event.
    pub(super) fn queue(&mut self, now: Moment, wait: LaneWait) -> Vec<SupervisorAction> {
        if !self.is_in_queue() {
            return Vec::new();
        }
        if let Some(before) = &self.queued {
            if *before != wait {
                self.apply(TaskUpdate::MovedUp(wait));
            }
            return Vec::new();
        }
        let noted = self.note(now, Actor::System, TaskFact::Queued(wait));
        let mut actions = vec![SupervisorAction::Queue(self.id.clone()), noted];
        if std::mem::take(&mut self.overdue) {
            actions.extend(self.promote(now));
        }
        actions
    }

    /// Starts the task because it has a slot, or because the operator lets it pass.
    pub(super) fn enter(&mut self, now: Moment, by: &Actor) -> Vec<SupervisorAction> {
        if !self.is_in_queue() {
            return Vec::new();
        }
        self.held = None;
        let has_waited = self.queued.is_some();
        let mut actions: Vec<_> =
            has_waited.then(|| self.note(now, by.clone(), TaskFact::Admitted)).into_iter().collect();
        actions.push(SupervisorAction::Spawn(self.id.clone()));
        actions
    }

    /// Withdraws an item of a batch whose time is over before its turn has come. What runs is not affected.
    pub(super) fn give_up_turn(&mut self, now: Moment) -> Vec<SupervisorAction> {
        if !self.is_in_queue() {
            return Vec::new();
        }
        self.stop(now, &Actor::System, Duration::ZERO, false, Some("the time of its batch was over"))
    }
}

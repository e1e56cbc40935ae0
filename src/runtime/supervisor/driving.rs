//! Who controls a task's input, whether the task wants input, and what it listens on.

use std::time::Duration;

use super::message::{SupervisorAction, Timer};
use super::task::SupervisedTask;
use crate::clock::{Moment, millis};
use crate::envelope::Actor;
use crate::model::listening::MOST_LISTENERS;
use crate::model::phrases::past_input_sentence;
use crate::model::{
    InputRejection, InputWait, ListenAddress, Listener, LostInput, RejectionReason, TaskFact, TaskStatus,
    TaskUpdate,
};

/// How long a task must certainly have waited for input before its caller is answered early.
const ASKED: Duration = Duration::from_secs(5);

impl SupervisedTask {
    pub(super) fn release(&mut self, now: Moment, by: Actor) -> Vec<SupervisorAction> {
        match &self.lease {
            Some(_) => vec![self.note(now, by, TaskFact::Released)],
            None => Vec::new(),
        }
    }

    pub(super) fn lapse(&mut self, now: Moment) -> Vec<SupervisorAction> {
        let rest = self.leased_until.saturating_sub(now.mono);
        match &self.lease {
            Some(_) if rest.is_zero() => self.release(now, Actor::System),
            Some(_) => vec![self.wake(now, Timer::Lease, rest)],
            None => Vec::new(),
        }
    }

    /// Updates what the task waits for; the beginning of a wait goes on its timeline. A question on a terminal beside
    /// its streams waits for `within`. A caller that waits for the task is answered early if only it can answer, or nobody
    /// watches.
    pub(super) fn waits(
        &mut self,
        now: Moment,
        waiting: Option<InputWait>,
        within: Duration,
        is_watched: bool,
    ) -> Vec<SupervisorAction> {
        let known = self.waiting.as_ref().map(|waiting| waiting.kind);
        match waiting.filter(|_| self.status == TaskStatus::Running) {
            Some(waiting) if known != Some(waiting.kind) => {
                let asks = waiting.kind.is_input();
                let is_early = waiting.is_certain() && (!waiting.is_for_operator() || !is_watched);
                let mut actions = vec![self.note(now, Actor::System, TaskFact::Waiting(waiting))];
                if self.side_terminal && asks {
                    self.ask_within = within;
                    let patience = if self.is_unattended { Duration::ZERO } else { within };
                    actions.push(self.wake(now, Timer::Ask, patience));
                }
                // The timer of an earlier wait does not count for this one.
                self.forget_timer(Timer::Asked);
                if is_early && self.request.yield_after.is_some() {
                    actions.push(self.wake(now, Timer::Asked, ASKED));
                }
                return actions;
            }
            None if known.is_some() => self.apply(TaskUpdate::NotWaiting),
            _ => {}
        }
        Vec::new()
    }

    /// Notes that the task accepts connections, or that a URL was printed for what is known already.
    pub(super) fn listens(
        &mut self,
        now: Moment,
        at: ListenAddress,
        url: Option<String>,
    ) -> Vec<SupervisorAction> {
        let Some(known) = self.listening.iter().find(|listener| listener.at == at) else {
            if self.pid.is_none() || self.status.is_terminal() || self.listening.len() >= MOST_LISTENERS {
                return Vec::new();
            }
            let after_ms = millis(now.mono.saturating_sub(self.since));
            let listener = Listener { at, url, after_ms };
            return vec![self.note(now, Actor::System, TaskFact::Listening(listener))];
        };
        if let Some(url) = url.filter(|url| known.url.as_ref() != Some(url)) {
            self.apply(TaskUpdate::Printed(at, url));
        }
        Vec::new()
    }

    /// Notes that the task no longer accepts connections at an address.
    pub(super) fn note_close(&mut self, now: Moment, at: ListenAddress) -> Vec<SupervisorAction> {
        if !self.listening.iter().any(|listener| listener.at == at) {
            return Vec::new();
        }
        vec![self.note(now, Actor::System, TaskFact::Closed(at))]
    }

    /// Notes that input was lost, after the keys that it is part of.
    pub(super) fn note_lost_input(&mut self, now: Moment, lost: LostInput) -> Vec<SupervisorAction> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        let mut actions = self.flush_burst(now);
        actions.push(self.note(now, Actor::System, TaskFact::InputLost(lost)));
        actions
    }

    /// Answers the caller of a task that has certainly waited for input for a while.
    pub(super) fn tell_of_wait(&mut self, now: Moment) -> Vec<SupervisorAction> {
        let is_waiting = self.waiting.as_ref().is_some_and(InputWait::is_certain);
        if is_waiting { self.promote(now) } else { Vec::new() }
    }

    /// Tells whether somebody may type into the task now.
    pub(super) fn admit(&self, now: Moment, by: &Actor, needs_tty: bool) -> Result<(), InputRejection> {
        let refuse = |reason, message: String| Err(InputRejection { reason, message });
        let question = self.waiting.as_ref().filter(|waiting| waiting.kind.is_input());
        // Who cannot type into the task at all may be trying to answer a question that is not theirs.
        let refuse_or_defer =
            |reason, message: &str| match question.and_then(|waiting| waiting.program.as_ref()) {
                Some(program) => {
                    let message = format!(
                        "{program} asks at a terminal beside its streams, where only the operator answers."
                    );
                    refuse(RejectionReason::OperatorAnswers, message)
                }
                None => refuse(reason, message.to_owned()),
            };
        if self.status != TaskStatus::Running {
            return refuse(RejectionReason::TaskNotRunning, past_input_sentence(self.status));
        }
        // On the terminal beside a task's streams, only the operator may answer.
        let is_asked = self.side_terminal && *by == Actor::Operator;
        if needs_tty && !self.request.tty && !is_asked {
            let message = "Keys and sizes need a terminal; start the command with tty:true.";
            return refuse_or_defer(RejectionReason::TtyRequired, message);
        }
        if !needs_tty && !self.request.accepts_input && !is_asked {
            let message = "Its stdin is /dev/null; start the command with accepts_input:true or tty:true.";
            return refuse_or_defer(RejectionReason::InputNotEnabled, message);
        }
        match &self.lease {
            Some(_) if *by != Actor::Operator && now.mono < self.leased_until => {
                let left = (self.leased_until - now.mono).as_secs_f32().ceil();
                let message = format!(
                    "The operator is typing into this task. Read with TaskOutput; retry in {left:.0} s or later."
                );
                refuse(RejectionReason::HeldByOperator, message)
            }
            _ => Ok(()),
        }
    }

    /// Handles a question that was not answered in time.
    pub(super) fn give_up_asking(&mut self) -> Vec<SupervisorAction> {
        // What is stopped reads nothing.
        if !self.waiting.as_ref().is_some_and(|waiting| waiting.kind.is_input()) {
            return Vec::new();
        }
        self.is_unattended = true;
        vec![SupervisorAction::EndInput { id: self.id.clone(), seconds: self.ask_within.as_secs() }]
    }

    /// Notes that the task was sent end-of-input.
    pub(super) fn note_end_input(&mut self, now: Moment) -> Vec<SupervisorAction> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        self.apply(TaskUpdate::NotWaiting);
        vec![self.note(now, Actor::System, TaskFact::Unanswered)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{InputEvidence, InputNeed};
    use crate::runtime::supervisor::SupervisorInput;
    use crate::runtime::supervisor::tests::{at, id, running};

    #[test]
    fn a_caller_is_answered_early_at_a_wait_of_its_own_and_not_by_the_timer_of_an_earlier_one() {
        let mut supervisor = running(true, None);
        let wait = |kind, evidence| SupervisorInput::Waiting {
            id: id(),
            waiting: Some(InputWait { kind, evidence, since: at(0).wall, program: None, question: None }),
            is_watched: true,
        };
        let timer = |actions: &[SupervisorAction]| {
            actions.iter().find_map(|action| match action {
                SupervisorAction::Wake { timer: Timer::Asked, epoch, .. } => Some(*epoch),
                _ => None,
            })
        };
        let due = |epoch| SupervisorInput::Due { id: id(), timer: Timer::Asked, epoch };
        let first = timer(&supervisor.step(at(1_000), wait(InputNeed::Line, InputEvidence::TtyRead)));
        let first = first.expect("a timer");
        supervisor.step(at(2_000), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes: 1 });
        let secret = supervisor.step(at(3_000), wait(InputNeed::Secret, InputEvidence::EchoOff));
        assert_eq!(timer(&secret), None, "the operator sees it");
        supervisor.step(at(6_000), due(first));
        assert!(!supervisor.get(&id()).expect("the task").promoted);
        supervisor.step(at(6_500), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes: 1 });
        let second = timer(&supervisor.step(at(7_000), wait(InputNeed::Line, InputEvidence::TtyRead)));
        supervisor.step(at(12_000), due(second.expect("a timer")));
        assert!(supervisor.get(&id()).expect("the task").promoted);
    }
}

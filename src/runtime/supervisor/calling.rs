//! Commands whose caller waits for them and then goes away: such a command is ended soon after, unless a person has
//! taken it over or it has a terminal of its own, on which someone may continue with it.

use std::time::Duration;

use super::message::{SupervisorAction, Timer};
use super::task::SupervisedTask;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::TaskFact;

/// The time between the caller's end and the command's, in which the caller may still report that it wants the
/// command stopped.
const AFTER_CALLER: Duration = Duration::from_millis(200);
/// The reason given for ending it.
const CALLER_KILLED: &str = "its caller was killed";

impl SupervisedTask {
    /// Handles a caller that was killed or ended without waiting: if its command has not started yet, it is
    /// withdrawn.
    pub(super) fn caller_gone(&mut self, now: Moment) -> Vec<SupervisorAction> {
        if self.status.is_terminal() || self.exit().is_some() {
            return Vec::new();
        }
        if self.pid.is_none() {
            return self.withdraw(now);
        }
        if self.request.tty && !self.request.has_callers_terminal() {
            return self.outlive(now, "its caller has gone, and it has a terminal of its own");
        }
        vec![self.wake(now, Timer::Caller, AFTER_CALLER)]
    }

    /// Handles the end of the delay after the caller's end.
    pub(super) fn caller_is_missed(&mut self, now: Moment) -> Vec<SupervisorAction> {
        if self.exit().is_some() {
            return Vec::new();
        }
        let is_held_by_person = self.lease.is_some() && now.mono < self.leased_until;
        if is_held_by_person && self.stop.is_none() {
            return self.outlive(now, "its caller has gone, and a person holds it");
        }
        self.withdraw(now)
    }

    fn withdraw(&mut self, now: Moment) -> Vec<SupervisorAction> {
        let by = self.request.actor.clone();
        self.stop(now, &by, Duration::ZERO, true, Some(CALLER_KILLED))
    }

    /// Lets the command continue as a task.
    fn outlive(&mut self, now: Moment, why: &str) -> Vec<SupervisorAction> {
        let outlived = TaskFact::Outlived(why.to_owned());
        vec![self.note(now, Actor::System, outlived), SupervisorAction::Promote(self.id.clone())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::model::Signal;
    use crate::model::{Exit, TaskStatus};
    use crate::runtime::supervisor::message::HostOrder;
    use crate::runtime::supervisor::tests::{at, end, id, new_task, orders, request, running, status};
    use crate::runtime::supervisor::{Supervisor, SupervisorInput};

    fn gone(supervisor: &mut Supervisor) -> Vec<HostOrder> {
        supervisor.step(at(10), SupervisorInput::CallerGone { id: id() });
        orders(&supervisor.step(at(210), SupervisorInput::Due { id: id(), timer: Timer::Caller, epoch: 1 }))
    }

    #[test]
    fn a_command_whose_caller_was_killed_is_killed_soon_after() {
        let mut supervisor = running(false, None);
        assert_eq!(gone(&mut supervisor), [HostOrder::End(Duration::ZERO)]);
        end(&mut supervisor, Exit::Signal(Signal::KILL));
        assert_eq!(status(&supervisor), TaskStatus::Cancelled);
        let task = supervisor.get(&id()).expect("the task");
        assert_eq!(task.cause().as_deref(), Some("stopped by agent:a: its caller was killed"));
    }

    #[test]
    fn a_command_that_had_not_begun_when_its_caller_was_killed_is_withdrawn_and_says_why() {
        for tty in [false, true] {
            let mut supervisor = Supervisor::new(&Limits::default());
            supervisor.step(at(0), new_task(request(tty, None)));
            assert_eq!(orders(&supervisor.step(at(1), SupervisorInput::CallerGone { id: id() })), []);
            let started = supervisor.step(at(2), SupervisorInput::Started { id: id(), pid: 1 });
            assert_eq!(orders(&started), [HostOrder::End(Duration::ZERO)]);
            end(&mut supervisor, Exit::Signal(Signal::KILL));
            let task = supervisor.get(&id()).expect("the task");
            assert_eq!(task.cause().as_deref(), Some("stopped by agent:a: its caller was killed"));
        }
    }

    #[test]
    fn a_command_that_a_person_types_into_outlives_its_caller_and_records_that() {
        let mut supervisor = running(true, None);
        supervisor.step(at(5), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes: 1 });
        assert_eq!(gone(&mut supervisor), []);
        let task = supervisor.get(&id()).expect("the task");
        assert!(task.promoted && task.status == TaskStatus::Running);
        assert!(task.events.iter().any(|event| matches!(event.fact, TaskFact::Outlived(_))));
    }

    #[test]
    fn leftovers_of_a_shell_are_not_ended_with_its_caller() {
        let mut supervisor = running(false, None);
        supervisor.step(at(5), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
        assert_eq!(gone(&mut supervisor), []);
    }
}

//! Tasks that are ended from outside: by a stop, by a signal, or with their runtime; and who ended them.

use std::time::Duration;

use super::message::{HostOrder, SupervisorAction};
use super::task::SupervisedTask;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::{CloseReason, Leftovers, Stop, StopEffect, StopSignal, TaskFact, TaskStatus};

impl SupervisedTask {
    /// Returns what a stop or a signal does to the task as it stands.
    pub(super) fn stop_effect(&self, stop: Stop) -> StopEffect {
        match stop.signal {
            _ if self.status.is_terminal() => StopEffect::Noop,
            Some(_) if self.pid.is_none() => StopEffect::Noop,
            Some(_) => StopEffect::Signalled,
            // Nothing has started, so nothing has to be ended.
            None if self.held.is_some() => StopEffect::Cancelled,
            None => StopEffect::Cancelling,
        }
    }

    pub(super) fn stop(
        &mut self,
        now: Moment,
        by: &Actor,
        grace: Duration,
        force: bool,
        why: Option<&str>,
    ) -> Vec<SupervisorAction> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        // A second stop skips the grace period.
        let force = force || self.stop.is_some();
        let grace = if force { Duration::ZERO } else { grace };
        let kill_at = Some(now.wall_after(grace));
        let fact = TaskFact::Stop { force, why: why.map(str::to_owned), kill_at };
        let mut actions = vec![self.note(now, by.clone(), fact)];
        actions.extend(match self.held.take() {
            Some(_) => self.close(now, None, Vec::new()),
            None => self.end(grace),
        });
        actions
    }

    pub(super) fn signal(&mut self, now: Moment, by: &Actor, signal: StopSignal) -> Vec<SupervisorAction> {
        let mut actions = self.passed_on(now, by, signal);
        if !actions.is_empty() {
            actions.push(SupervisorAction::Order(self.id.clone(), HostOrder::Signal(signal)));
        }
        actions
    }

    /// Notes a signal that the task receives.
    pub(super) fn passed_on(&mut self, now: Moment, by: &Actor, signal: StopSignal) -> Vec<SupervisorAction> {
        if self.status.is_terminal() || self.pid.is_none() {
            return Vec::new();
        }
        vec![self.note(now, by.clone(), TaskFact::Signal(signal))]
    }

    /// Ends the task because the runtime is shutting down.
    pub(super) fn interrupt(
        &mut self,
        now: Moment,
        grace: Duration,
        closing: &CloseReason,
    ) -> Vec<SupervisorAction> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        // A task that was already ending, or had ended except for its leftovers, ends for its own reason.
        let goes_on = self.is_at_work || self.request.leftovers == Leftovers::Keep;
        let has_exited = self.exit().is_some() && !goes_on;
        let is_ending = self.stop.is_some() || self.status == TaskStatus::Cancelling || has_exited;
        self.interrupted = self.interrupted || !is_ending;
        let force = self.stop.is_some();
        self.stop(now, &Actor::System, grace, force, Some(&closing.to_string()))
    }

    /// Orders the end of the task's tree, if it has one.
    pub(super) fn end(&self, grace: Duration) -> Vec<SupervisorAction> {
        match self.pid {
            Some(_) => vec![SupervisorAction::Order(self.id.clone(), HostOrder::End(grace))],
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Signal;
    use jiff::Timestamp;

    use super::*;
    use crate::clock::Moment;
    use crate::model::Exit;
    use crate::runtime::supervisor::tests::{at, end, id, orders, running, status, stop_task};
    use crate::runtime::supervisor::{Stop, Supervisor, SupervisorInput, Timer};

    /// The task's public view.
    fn cause(supervisor: &Supervisor) -> Option<String> {
        let task = supervisor.get(&id()).expect("the task");
        task.cause()
    }

    fn shut_down(supervisor: &mut Supervisor, ms: u64) -> Vec<SupervisorAction> {
        supervisor.step(at(ms), SupervisorInput::Shutdown { closing: CloseReason::ConsoleClosed })
    }

    #[test]
    fn a_task_that_ends_with_its_runtime_says_why_the_runtime_ended() {
        let mut supervisor = running(false, None);
        let actions = shut_down(&mut supervisor, 10);
        let note = |action: &SupervisorAction| match action {
            SupervisorAction::Note(_, event) if matches!(event.fact, TaskFact::Stop { .. }) => {
                Some(event.fact.note().into_owned())
            }
            _ => None,
        };
        let said = "ended with the runtime: the operator closed the console";
        assert_eq!(actions.iter().find_map(note).as_deref(), Some("TERM, the operator closed the console"));
        assert_eq!(cause(&supervisor).as_deref(), Some(said), "while it is being ended");
        supervisor.step(at(11), SupervisorInput::Shutdown { closing: CloseReason::Signal("SIGTERM".into()) });
        end(&mut supervisor, Exit::Signal(Signal::TERM));
        assert_eq!(
            (status(&supervisor), cause(&supervisor).as_deref()),
            (TaskStatus::Interrupted, Some(said))
        );
    }

    #[test]
    fn a_task_that_was_ending_before_its_runtime_keeps_its_own_end_reason() {
        let mut stopped = running(false, None);
        stop_task(&mut stopped, at(5), &Actor::Operator, Stop::default());
        shut_down(&mut stopped, 10);
        end(&mut stopped, Exit::Signal(Signal::KILL));
        assert_eq!(
            (status(&stopped), cause(&stopped).as_deref()),
            (TaskStatus::Cancelled, Some("stopped by operator"))
        );

        let mut late = running(false, Some(Duration::from_millis(300)));
        late.step(at(301), SupervisorInput::Due { id: id(), timer: Timer::Timeout, epoch: 1 });
        shut_down(&mut late, 310);
        end(&mut late, Exit::Signal(Signal::TERM));
        assert_eq!(
            (status(&late), cause(&late).as_deref()),
            (TaskStatus::Failed, Some("timed out after 300 ms"))
        );

        let mut done = running(false, None);
        done.step(at(5), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
        shut_down(&mut done, 10);
        end(&mut done, Exit::Code(0));
        assert_eq!((status(&done), cause(&done)), (TaskStatus::Completed, None));
    }

    #[test]
    fn a_signal_names_its_sender_when_it_ended_the_command_and_only_then() {
        for (sent, exit, named) in [
            (StopSignal::Term, Exit::Signal(Signal::TERM), true),
            (StopSignal::Term, Exit::Code(143), true),
            (StopSignal::Usr1, Exit::Signal(Signal::TERM), false),
            (StopSignal::Int, Exit::Code(0), false),
            (StopSignal::Int, Exit::Code(1), false),
        ] {
            let mut supervisor = running(false, None);
            let stop = Stop { force: false, signal: Some(sent) };
            stop_task(&mut supervisor, at(5), &Actor::Agent("codex".into()), stop);
            end(&mut supervisor, exit);
            let expected = named.then_some("signalled by agent:codex");
            assert_eq!(cause(&supervisor).as_deref(), expected, "{sent:?} {exit:?}");
        }
    }

    #[test]
    fn a_caller_that_hangs_up_stops_its_command_and_the_cause_says_so() {
        let mut supervisor = running(false, None);
        let why = Some("its caller hung up".to_owned());
        supervisor
            .step(at(5), SupervisorInput::Stop { id: id(), by: Actor::Cli, stop: Stop::default(), why });
        end(&mut supervisor, Exit::Signal(Signal::TERM));
        assert_eq!(status(&supervisor), TaskStatus::Cancelled);
        assert_eq!(cause(&supervisor).as_deref(), Some("stopped by cli: its caller hung up"));
    }

    #[test]
    fn f25_a_clock_that_jumps_changes_no_limit_and_no_duration() {
        let day = jiff::SignedDuration::from_hours(24);
        for jumped in [Timestamp::UNIX_EPOCH + day, Timestamp::UNIX_EPOCH - day] {
            let limit = Duration::from_millis(300);
            let mut supervisor = running(false, Some(limit));
            let later = |ms| Moment { wall: jumped, ..at(ms) };
            let due = || SupervisorInput::Due { id: id(), timer: Timer::Timeout, epoch: 1 };
            assert_eq!(orders(&supervisor.step(later(301), due())), [HostOrder::End(Duration::from_secs(5))]);
            let exit = Exit::Signal(Signal::TERM);
            supervisor.step(later(310), SupervisorInput::Exited { id: id(), exit });
            supervisor.step(later(311), SupervisorInput::Drained { id: id() });
            supervisor.step(later(401), SupervisorInput::Gone { id: id(), survivors: vec![] });
            let task = supervisor.get(&id()).expect("the task");
            assert_eq!(
                (task.lived_ms(), cause(&supervisor).as_deref()),
                (400, Some("timed out after 300 ms"))
            );
        }
    }

    #[test]
    fn f38_a_runtime_that_was_suspended_takes_no_exit_in_time_for_a_timeout() {
        let limit = Some(Duration::from_millis(300));
        let due = |epoch| SupervisorInput::Due { id: id(), timer: Timer::Timeout, epoch };
        let mut suspended = running(false, limit);
        let actions = suspended.step(at(60_000), due(1));
        assert_eq!(orders(&actions), [], "whether it had ended in time is not known yet");
        end(&mut suspended, Exit::Code(0));
        assert_eq!(suspended.step(at(60_500), due(2)), []);
        assert_eq!((status(&suspended), cause(&suspended)), (TaskStatus::Completed, None));

        let mut runs_on = running(false, limit);
        runs_on.step(at(60_000), due(1));
        assert_eq!(orders(&runs_on.step(at(60_500), due(2))), [HostOrder::End(Duration::from_secs(5))]);
        end(&mut runs_on, Exit::Signal(Signal::TERM));
        assert_eq!(cause(&runs_on).as_deref(), Some("timed out after 300 ms"));
    }
}

//! How a command is terminated: the steps from asking to killing to giving up, and their times. Only decides, based
//! on the requests and on what is left; `host` carries out the steps. The grace period between asking and killing is
//! given by the runtime with each request.
//!
//! To change the escalation, change [`Termination::due`] and the steps below it.

use std::time::Duration;

use super::EndReason;
use super::tree::Remainder;
use crate::model::{Exit, Leftovers};

/// The grace period of processes left after the shell ended, or after the runtime died.
const SHORT_GRACE: Duration = Duration::from_millis(200);
/// How long processes that cannot be signalled may take to end because all others have ended.
const REFUSAL_GRACE: Duration = Duration::from_millis(200);
/// A process that survives SIGKILL for this long is stuck in the kernel.
const UNKILLABLE_AFTER: Duration = Duration::from_secs(10);
/// How often the tree is checked while it is being killed.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// An action for the host to carry out now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminationAction {
    /// Find out which of the processes that outlived the shell are still part of the command.
    Look,
    /// Report which processes outlived the shell.
    NameLeftovers,
    /// Ask every process to end.
    Ask,
    /// Kill every process.
    Kill,
    /// Report the end and exit.
    Exit,
}

/// The progress of a command's termination. Times are monotonic.
#[derive(Debug, Default)]
pub(super) struct Termination {
    shell: Option<Exit>,
    finish: Option<Leftovers>,
    /// What happens once no process is part of the command any more, and when to look for that.
    waiting: Option<(Leftovers, Duration)>,
    runtime_gone: bool,
    leftovers_named: bool,
    reason: Option<EndReason>,
    step: TerminationStep,
    /// Whether any process cannot be signalled; and in this step, since when all that are left cannot.
    meets_refusal: bool,
    refused_at: Option<Duration>,
}

#[derive(Debug, Default, Clone, Copy)]
enum TerminationStep {
    /// No end was requested.
    #[default]
    None,
    /// An end was requested; the processes have not been asked yet.
    Requested {
        kill_at: Duration,
    },
    Asked {
        kill_at: Duration,
    },
    Killing {
        give_up_at: Duration,
    },
}

impl Termination {
    /// Notes that the shell ended.
    pub(super) fn shell_ended(&mut self, status: Exit) {
        self.shell.get_or_insert(status);
        self.reason.get_or_insert(EndReason::Exited);
    }

    /// Notes that the runtime requested an end; a later request can only shorten the grace period.
    pub(super) fn end(&mut self, now: Duration, grace: Duration) {
        self.reason.get_or_insert(EndReason::Ordered);
        self.stop_waiting();
        self.escalate(now.saturating_add(grace));
    }

    /// Notes that the runtime has drained the output, and what happens to the processes that are left: now, or if it
    /// `waits`, once none of them is part of the command any more.
    pub(super) fn finish(&mut self, leftovers: Leftovers, waits: bool) {
        if waits && matches!(self.step, TerminationStep::None) {
            self.waiting = Some((leftovers, Duration::ZERO));
        } else {
            self.waiting = None;
            self.finish = Some(leftovers);
        }
    }

    /// Notes when to look again for processes that are part of the command; `None` if there are none.
    pub(super) fn note_look(&mut self, again: Option<Duration>) {
        let Some((leftovers, at)) = &mut self.waiting else { return };
        match again {
            Some(again) => *at = again,
            None => {
                self.finish = Some(*leftovers);
                self.waiting = None;
            }
        }
    }

    /// Notes that a process of the command has ended, so that there may be something new to see from `at` on.
    pub(super) fn look_from(&mut self, at: Duration) {
        if let Some((_, due)) = &mut self.waiting {
            *due = at.min(*due);
        }
    }

    /// Notes that the lifeline closed.
    pub(super) fn runtime_gone(&mut self, now: Duration) {
        self.runtime_gone = true;
        self.reason.get_or_insert(EndReason::RuntimeGone);
        self.stop_waiting();
        self.escalate(now + SHORT_GRACE);
    }

    /// Decides what to do now. If nothing is left of the command's processes, the runtime's decision is not waited for.
    pub(super) fn due(&mut self, now: Duration, left: Remainder) -> Vec<TerminationAction> {
        let mut acts = Vec::new();
        let childless = left == Remainder::Nothing;
        self.meets_refusal = matches!(left, Remainder::Mixed | Remainder::Refusing);
        self.refused_at = (left == Remainder::Refusing).then(|| self.refused_at.unwrap_or(now));
        let is_waiting = self.shell.is_some() && !childless;
        if is_waiting && self.waiting.is_some_and(|(_, at)| now >= at) {
            acts.push(TerminationAction::Look);
        }
        let released = childless || self.finish.is_some() || self.runtime_gone;
        if self.shell.is_some() && released && !self.leftovers_named {
            self.leftovers_named = true;
            acts.push(TerminationAction::NameLeftovers);
        }
        if self.shell.is_some()
            && self.finish == Some(Leftovers::End)
            && matches!(self.step, TerminationStep::None)
        {
            self.escalate(now + SHORT_GRACE);
        }
        if childless {
            self.step = TerminationStep::None;
            acts.push(TerminationAction::Exit);
        } else {
            acts.extend(self.next_step(now));
        }
        acts
    }

    /// Returns when the next step is due, if nothing happens before.
    pub(super) fn deadline(&self, now: Duration) -> Option<Duration> {
        match self.step {
            TerminationStep::None if self.shell.is_none() || self.leftovers_named => None,
            // What `looked` has decided is due now.
            TerminationStep::None if self.finish.is_some() => Some(now),
            TerminationStep::None => self.waiting.map(|(_, at)| at),
            TerminationStep::Requested { .. } => Some(now),
            // Nothing tells when the others have ended: they may be children of one that cannot be signalled.
            TerminationStep::Asked { kill_at } if self.meets_refusal => {
                Some(kill_at.min(now + REFUSAL_GRACE))
            }
            TerminationStep::Asked { kill_at } => Some(kill_at),
            TerminationStep::Killing { give_up_at } => Some(give_up_at.min(now + KILL_INTERVAL)),
        }
    }

    /// Tells whether an end was requested, or what outlives the shell is looked at.
    pub(super) fn is_ending(&self) -> bool {
        self.shell.is_some() || !matches!(self.step, TerminationStep::None)
    }

    /// Returns how the shell ended.
    pub(super) fn shell(&self) -> Option<Exit> {
        self.shell
    }

    /// Tells whether what outlives the shell may keep running.
    pub(super) fn is_keeping(&self) -> bool {
        self.finish == Some(Leftovers::Keep)
    }

    /// Returns the first cause of the end.
    pub(super) fn reason(&self) -> EndReason {
        self.reason.unwrap_or(EndReason::Exited)
    }

    /// Ends what is left together with everything else.
    fn stop_waiting(&mut self) {
        if self.waiting.take().is_some() {
            self.finish = Some(Leftovers::End);
        }
    }

    fn escalate(&mut self, kill_by: Duration) {
        match &mut self.step {
            TerminationStep::None => self.step = TerminationStep::Requested { kill_at: kill_by },
            TerminationStep::Requested { kill_at } | TerminationStep::Asked { kill_at } => {
                *kill_at = kill_by.min(*kill_at)
            }
            TerminationStep::Killing { .. } => {}
        }
    }

    fn next_step(&mut self, now: Duration) -> Option<TerminationAction> {
        // Those that cannot be signalled are not waited for, but a control group can kill them.
        let is_refused = self.refused_at.is_some_and(|since| now >= since + REFUSAL_GRACE);
        match self.step {
            TerminationStep::Requested { kill_at } if now < kill_at => {
                self.step = TerminationStep::Asked { kill_at };
                Some(TerminationAction::Ask)
            }
            TerminationStep::Requested { kill_at } | TerminationStep::Asked { kill_at }
                if now >= kill_at || is_refused =>
            {
                self.step = TerminationStep::Killing { give_up_at: now + UNKILLABLE_AFTER };
                self.refused_at = None;
                Some(TerminationAction::Kill)
            }
            TerminationStep::Killing { give_up_at } => Some(match now < give_up_at && !is_refused {
                true => TerminationAction::Kill,
                false => TerminationAction::Exit,
            }),
            TerminationStep::None | TerminationStep::Requested { .. } | TerminationStep::Asked { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXIT: Exit = Exit::Code(0);

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_command_that_leaves_nothing_is_over_at_once() {
        let mut termination = Termination::default();
        termination.shell_ended(EXIT);
        assert_eq!(
            termination.due(at(0), Remainder::Nothing),
            [TerminationAction::NameLeftovers, TerminationAction::Exit]
        );
        assert_eq!(termination.reason(), EndReason::Exited);
    }

    #[test]
    fn leftovers_are_named_then_asked_then_killed_after_a_short_grace() {
        let mut termination = Termination::default();
        termination.finish(Leftovers::End, false);
        assert_eq!(termination.due(at(0), Remainder::Endable), [], "the shell still runs");
        termination.shell_ended(EXIT);
        assert_eq!(
            termination.due(at(1000), Remainder::Endable),
            [TerminationAction::NameLeftovers, TerminationAction::Ask]
        );
        assert_eq!(termination.due(at(1199), Remainder::Endable), []);
        assert_eq!(termination.deadline(at(1199)), Some(at(1200)));
        assert_eq!(termination.due(at(1200), Remainder::Endable), [TerminationAction::Kill]);
        assert_eq!(
            termination.due(at(1220), Remainder::Endable),
            [TerminationAction::Kill],
            "and again until nothing is left"
        );
        assert_eq!(termination.due(at(1221), Remainder::Nothing), [TerminationAction::Exit]);
    }

    #[test]
    fn kept_leftovers_are_named_once_and_waited_for() {
        let mut termination = Termination::default();
        termination.shell_ended(EXIT);
        termination.finish(Leftovers::Keep, false);
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::NameLeftovers]);
        assert_eq!(
            (termination.due(at(9000), Remainder::Endable), termination.deadline(at(9000))),
            (vec![], None)
        );
        termination.end(at(9000), at(5000));
        assert_eq!(termination.due(at(9000), Remainder::Endable), [TerminationAction::Ask]);
        assert_eq!(termination.due(at(9001), Remainder::Nothing), [TerminationAction::Exit]);
    }

    #[test]
    fn processes_of_the_command_are_waited_for_and_then_the_leftovers_are_ended() {
        let mut termination = Termination::default();
        termination.shell_ended(EXIT);
        termination.finish(Leftovers::End, true);
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Look]);
        termination.note_look(Some(at(100)));
        assert_eq!(
            (termination.due(at(10), Remainder::Endable), termination.deadline(at(10))),
            (vec![], Some(at(100)))
        );
        termination.look_from(at(30));
        assert_eq!(termination.deadline(at(20)), Some(at(30)), "a process has ended");
        assert_eq!(termination.due(at(30), Remainder::Endable), [TerminationAction::Look]);
        termination.note_look(None);
        assert_eq!(termination.deadline(at(30)), Some(at(30)));
        assert_eq!(
            termination.due(at(30), Remainder::Endable),
            [TerminationAction::NameLeftovers, TerminationAction::Ask]
        );
        assert_eq!(termination.due(at(31), Remainder::Nothing), [TerminationAction::Exit]);
    }

    #[test]
    fn a_wait_for_the_command_ends_with_it_its_limit_a_stop_or_the_runtime() {
        let waiting = || {
            let mut termination = Termination::default();
            termination.shell_ended(EXIT);
            termination.finish(Leftovers::Keep, true);
            assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Look]);
            termination.note_look(Some(at(100)));
            termination
        };
        assert_eq!(
            waiting().due(at(1), Remainder::Nothing),
            [TerminationAction::NameLeftovers, TerminationAction::Exit]
        );
        let mut late = waiting();
        late.finish(Leftovers::End, false);
        assert_eq!(
            late.due(at(2), Remainder::Endable),
            [TerminationAction::NameLeftovers, TerminationAction::Ask]
        );
        let mut stopped = waiting();
        stopped.end(at(3), at(5000));
        assert_eq!(
            stopped.due(at(3), Remainder::Endable),
            [TerminationAction::NameLeftovers, TerminationAction::Ask]
        );
        assert_eq!(stopped.deadline(at(3)), Some(at(5003)));
        let mut orphaned = waiting();
        orphaned.runtime_gone(at(4));
        assert_eq!(
            orphaned.due(at(4), Remainder::Endable),
            [TerminationAction::NameLeftovers, TerminationAction::Ask]
        );
        let mut kept = waiting();
        kept.note_look(None);
        assert_eq!(kept.due(at(5), Remainder::Endable), [TerminationAction::NameLeftovers]);
        assert_eq!((kept.due(at(6), Remainder::Endable), kept.deadline(at(6))), (vec![], None));
    }

    #[test]
    fn a_second_end_shortens_the_grace_and_never_lengthens_it() {
        let mut termination = Termination::default();
        termination.end(at(0), at(5000));
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Ask]);
        termination.end(at(100), at(9000));
        assert_eq!(termination.deadline(at(100)), Some(at(5000)));
        termination.end(at(100), at(0));
        assert_eq!(termination.due(at(100), Remainder::Endable), [TerminationAction::Kill]);
        assert_eq!(termination.reason(), EndReason::Ordered);
    }

    #[test]
    fn an_end_without_grace_kills_at_once() {
        let mut termination = Termination::default();
        termination.end(at(7), Duration::ZERO);
        assert_eq!(termination.due(at(7), Remainder::Endable), [TerminationAction::Kill]);
    }

    #[test]
    fn a_finish_does_not_cut_the_grace_of_an_end() {
        let mut termination = Termination::default();
        termination.end(at(0), at(5000));
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Ask]);
        termination.shell_ended(EXIT);
        termination.finish(Leftovers::End, false);
        assert_eq!(termination.due(at(10), Remainder::Endable), [TerminationAction::NameLeftovers]);
        assert_eq!(termination.deadline(at(10)), Some(at(5000)));
    }

    #[test]
    fn an_ended_tree_is_over_as_soon_as_nothing_is_left() {
        let mut termination = Termination::default();
        termination.end(at(0), at(100));
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Ask]);
        termination.shell_ended(EXIT);
        assert_eq!(
            termination.due(at(1), Remainder::Nothing),
            [TerminationAction::NameLeftovers, TerminationAction::Exit]
        );
        assert_eq!(termination.reason(), EndReason::Ordered);
    }

    #[test]
    fn when_the_runtime_dies_the_tree_is_ended_without_a_request() {
        let mut termination = Termination::default();
        termination.runtime_gone(at(0));
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Ask]);
        assert_eq!(termination.due(at(200), Remainder::Endable), [TerminationAction::Kill]);
        termination.shell_ended(Exit::Code(1));
        assert_eq!(
            termination.due(at(201), Remainder::Nothing),
            [TerminationAction::NameLeftovers, TerminationAction::Exit]
        );
        assert_eq!(termination.reason(), EndReason::RuntimeGone);
    }

    #[test]
    fn a_tree_that_cannot_be_killed_is_given_up_after_ten_seconds() {
        let mut termination = Termination::default();
        termination.end(at(0), Duration::ZERO);
        assert_eq!(termination.due(at(0), Remainder::Endable), [TerminationAction::Kill]);
        assert_eq!(termination.due(at(9999), Remainder::Endable), [TerminationAction::Kill]);
        assert_eq!(termination.due(at(10_000), Remainder::Endable), [TerminationAction::Exit]);
        assert_eq!(termination.shell(), None);
    }

    #[test]
    fn f63_processes_that_cannot_be_signalled_are_given_up_at_once_and_those_that_can_are_not() {
        let mut termination = Termination::default();
        termination.end(at(0), at(5000));
        assert_eq!(termination.due(at(0), Remainder::Mixed), [TerminationAction::Ask]);
        assert_eq!(termination.deadline(at(0)), Some(at(200)), "nothing tells when the others have ended");
        assert_eq!(termination.due(at(4000), Remainder::Mixed), [], "the others have their time");
        assert_eq!(termination.due(at(4010), Remainder::Refusing), []);
        assert_eq!(termination.due(at(4209), Remainder::Refusing), []);
        assert_eq!(termination.due(at(4210), Remainder::Refusing), [TerminationAction::Kill], "by its group");
        assert_eq!(termination.due(at(4230), Remainder::Refusing), [TerminationAction::Kill]);
        assert_eq!(termination.due(at(4250), Remainder::Mixed), [TerminationAction::Kill], "a new process");
        assert_eq!(termination.due(at(4270), Remainder::Refusing), [TerminationAction::Kill]);
        assert_eq!(termination.due(at(4470), Remainder::Refusing), [TerminationAction::Exit]);
        assert_eq!(termination.shell(), None);
    }

    #[test]
    fn f63_leftovers_that_cannot_be_signalled_are_given_up_at_once() {
        let mut termination = Termination::default();
        termination.shell_ended(EXIT);
        termination.finish(Leftovers::End, false);
        let named = [TerminationAction::NameLeftovers, TerminationAction::Ask];
        assert_eq!(termination.due(at(0), Remainder::Refusing), named);
        assert_eq!(termination.due(at(200), Remainder::Refusing), [TerminationAction::Kill]);
        assert_eq!(termination.due(at(220), Remainder::Refusing), [TerminationAction::Kill]);
        assert_eq!(termination.due(at(420), Remainder::Refusing), [TerminationAction::Exit]);
        let mut kept = Termination::default();
        kept.shell_ended(EXIT);
        kept.finish(Leftovers::Keep, false);
        assert_eq!(kept.due(at(0), Remainder::Refusing), [TerminationAction::NameLeftovers]);
        assert_eq!((kept.due(at(9000), Remainder::Refusing), kept.deadline(at(9000))), (vec![], None));
    }
}

//! Tasks that meet a ceiling.

use std::time::Duration;

use super::message::SupervisorAction;
use super::task::SupervisedTask;
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::{CeilingHit, Leftovers, TaskFact, TaskStatus, TaskUpdate};

impl SupervisedTask {
    /// Ends a task that has passed a polled ceiling, at once: what is left to it would be used to take more. Where the
    /// kernel held the ceiling, the task has ended.
    pub(super) fn met_ceiling(&mut self, now: Moment, hit: CeilingHit) -> Vec<SupervisorAction> {
        if !hit.soft {
            let is_told = self.status.is_terminal() || self.ceiling.is_some();
            return if is_told {
                Vec::new()
            } else {
                vec![self.note(now, Actor::System, TaskFact::Ceiling(hit))]
            };
        }
        let goes_on = self.is_at_work || self.request.leftovers == Leftovers::Keep;
        let has_ended = self.exit().is_some() && !goes_on;
        if has_ended || self.status >= TaskStatus::Cancelling {
            return Vec::new();
        }
        self.cut_off(now, TaskFact::Ceiling(hit), Duration::ZERO)
    }

    /// Notes how much memory it has had.
    pub(super) fn note_peak(&mut self, bytes: u64) -> Vec<SupervisorAction> {
        self.apply(TaskUpdate::Peak(bytes));
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Actor;
    use crate::model::Signal;
    use crate::model::{CeilingKind, Exit, Stop};
    use crate::runtime::supervisor::message::HostOrder;
    use crate::runtime::supervisor::tests::{at, end, id, orders, running, status, stop_task};
    use crate::runtime::supervisor::{Supervisor, SupervisorInput};

    const HIT: CeilingHit =
        CeilingHit { kind: CeilingKind::MemoryLimit, limit: Some(1 << 20), soft: true, peak: Some(2 << 20) };

    fn meets(supervisor: &mut Supervisor, hit: CeilingHit) -> Vec<SupervisorAction> {
        supervisor.step(at(10), SupervisorInput::Ceiling { id: id(), hit })
    }

    fn cause(supervisor: &Supervisor) -> Option<String> {
        supervisor.get(&id()).expect("the task").cause()
    }

    #[test]
    fn a_task_over_its_ceiling_is_killed_once_and_has_failed_by_name() {
        let mut supervisor = running(false, None);
        supervisor.step(at(5), SupervisorInput::Peak { id: id(), bytes: 7 });
        assert_eq!(orders(&meets(&mut supervisor, HIT)), [HostOrder::End(Duration::ZERO)]);
        assert_eq!((status(&supervisor), meets(&mut supervisor, HIT)), (TaskStatus::Cancelling, Vec::new()));
        end(&mut supervisor, Exit::Signal(Signal::KILL));
        assert_eq!((status(&supervisor), cause(&supervisor)), (TaskStatus::Failed, Some(HIT.to_string())));
        assert_eq!(supervisor.get(&id()).expect("the task").peak_memory, Some(7));
    }

    #[test]
    fn a_stopped_or_ended_task_meets_no_ceiling() {
        let mut stopped = running(false, None);
        stop_task(&mut stopped, at(5), &Actor::Operator, Stop::default());
        assert_eq!(meets(&mut stopped, HIT), []);
        let mut ended = running(false, None);
        ended.step(at(5), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
        assert_eq!(meets(&mut ended, HIT), []);
    }
}

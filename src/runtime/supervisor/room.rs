//! How much there is room for: tasks that run, and calls that wait for the operator. What waits is never refused for
//! what runs: the operator is asked first.

use super::Supervisor;
use super::message::NewTask;
use crate::model::{BatchRequest, Error, HeldCommand, ParentTask};

/// Bytes of commands that may wait in total: a console receives all of it in one message.
const MOST: usize = 2 << 20;
/// Bytes that each of them counts at least, for what a console is told beside it, and for its descriptors.
const LEAST: usize = 2 << 10;

impl Supervisor {
    /// Returns why a task may not be created; `None` if it may.
    pub(crate) fn refusal(&self, new: &NewTask) -> Option<Error> {
        self.no_room(self.gate.holds(new).is_some(), size(&new.request.cmd))
    }

    /// Like [`Self::refusal`], for a batch.
    pub(crate) fn refusal_of_batch(
        &self,
        batch: &BatchRequest,
        within: Option<&ParentTask>,
    ) -> Option<Error> {
        let behind = within.and_then(|within| self.behind(within));
        self.no_room(self.gate.would_hold_batch(batch, behind.as_ref()), bytes(&batch.commands))
    }

    fn no_room(&self, is_held: bool, bytes: usize) -> Option<Error> {
        if self.closing.is_some() {
            return Some(Error::ShuttingDown);
        }
        if is_held {
            return (self.held_bytes() + bytes > MOST).then_some(Error::HeldLimit { bytes: MOST });
        }
        let running = self.live().filter(|task| task.operator_hold().is_none()).count();
        (running >= self.limit).then_some(Error::TaskLimit { limit: self.limit })
    }

    fn held_bytes(&self) -> usize {
        let tasks =
            self.live().filter(|task| task.operator_hold().is_some()).map(|task| size(&task.request.cmd));
        tasks.sum::<usize>() + self.gate.batches().map(|batch| bytes(&batch.commands)).sum::<usize>()
    }
}

fn bytes(commands: &[HeldCommand]) -> usize {
    commands.iter().map(|command| size(&command.cmd)).sum()
}

fn size(cmd: &str) -> usize {
    cmd.len().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::envelope::{Actor, TaskId};
    use crate::model::ExecRequest;
    use crate::runtime::supervisor::message::SupervisorInput;
    use crate::runtime::supervisor::tests::{at, request};

    fn new(id: u8, actor: Actor, cmd: String) -> NewTask {
        let request = ExecRequest { actor, cmd, ..request(false, None) };
        let id = TaskId::from_random([id; 8]);
        NewTask {
            id,
            request,
            behind: None,
            workdir: "/".into(),
            shell: "/bin/sh".into(),
            folder: "/tmp".into(),
            side_terminal: false,
            lane: None,
            cost: Vec::new(),
        }
    }

    #[test]
    fn calls_that_wait_for_the_operator_fit_in_a_snapshot_for_the_console() {
        let agent = || Actor::Agent("a".into());
        let mut supervisor = Supervisor::new(&Limits::default());
        let long = || "x".repeat(1 << 20);
        supervisor.pause(at(0), true);
        for id in 0..2 {
            let task = new(id, agent(), long());
            assert!(supervisor.refusal(&task).is_none());
            supervisor.step(at(0), SupervisorInput::Start(Box::new(task)));
        }
        let refused = supervisor.refusal(&new(2, agent(), "ls".into()));
        assert!(matches!(refused, Some(Error::HeldLimit { .. })), "{refused:?}");
        assert!(supervisor.refusal(&new(2, Actor::Operator, long())).is_none(), "it does not wait");
        supervisor.pause(at(1), false);
        assert!(supervisor.refusal(&new(2, agent(), long())).is_none());
    }

    #[test]
    fn f48_a_call_that_waits_for_the_operator_does_not_count_against_the_task_limit() {
        let agent = || Actor::Agent("a".into());
        let mut supervisor = Supervisor::new(&Limits { tasks: 1, ..Limits::default() });
        let start = |supervisor: &mut Supervisor, id, actor| {
            supervisor.step(at(0), SupervisorInput::Start(Box::new(new(id, actor, "ls".into()))));
        };
        supervisor.pause(at(0), true);
        for id in 0..5 {
            assert!(supervisor.refusal(&new(id, agent(), "ls".into())).is_none(), "{id}");
            start(&mut supervisor, id, agent());
        }
        assert!(supervisor.refusal(&new(9, Actor::Operator, "ls".into())).is_none(), "none of them runs");
        start(&mut supervisor, 9, Actor::Operator);
        let refused = supervisor.refusal(&new(10, Actor::Operator, "ls".into()));
        assert!(matches!(refused, Some(Error::TaskLimit { limit: 1 })), "{refused:?}");
        assert!(supervisor.refusal(&new(10, agent(), "ls".into())).is_none(), "it is asked about first");
        let batch = |actor| BatchRequest {
            actor,
            call: 1,
            commands: Vec::new(),
            stop_on_error: false,
            cost: Vec::new(),
        };
        assert!(supervisor.refusal_of_batch(&batch(agent()), None).is_none());
        let refused = supervisor.refusal_of_batch(&batch(Actor::Operator), None);
        assert!(matches!(refused, Some(Error::TaskLimit { .. })), "{refused:?}");
    }

    #[test]
    fn f48_the_number_of_waiting_calls_is_limited_however_short_they_are() {
        let mut supervisor = Supervisor::new(&Limits::default());
        supervisor.pause(at(0), true);
        for at_most in 0..=MOST / LEAST {
            // Five bits of each byte count.
            let digit = |at: usize| u8::try_from(at_most >> (5 * at) & 31).expect("small");
            let task = NewTask {
                id: TaskId::from_random([digit(0), digit(1), digit(2), 0, 0, 0, 0, 0]),
                ..new(0, Actor::Agent("a".into()), "ls".into())
            };
            match supervisor.refusal(&task) {
                None => drop(supervisor.step(at(0), SupervisorInput::Start(Box::new(task)))),
                Some(Error::HeldLimit { .. }) => return assert_eq!(at_most, MOST / LEAST),
                other => panic!("{other:?}"),
            }
        }
        panic!("there is no limit");
    }
}

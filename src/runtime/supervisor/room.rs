//! Limits how much may wait for the operator in total, because a console receives all of it in one message.

use super::Supervisor;
use super::message::NewTask;
use crate::runtime::Error;
use crate::runtime::approval::{BatchRequest, HeldCommand};

/// Bytes of commands that may wait in total.
const MOST: usize = 2 << 20;

impl Supervisor {
    /// Returns why a task may not start, if it would have to wait for the operator and there is no room left.
    pub(crate) fn no_room_for(&self, new: &NewTask) -> Option<Error> {
        let is_full = self.held_bytes() + new.request.cmd.len() > MOST;
        (is_full && self.gate.holds(new).is_some()).then_some(Error::HeldLimit { bytes: MOST })
    }

    /// Like [`Self::no_room_for`], for a batch.
    pub(crate) fn no_room_for_batch(&self, batch: &BatchRequest) -> Option<Error> {
        let is_full = self.held_bytes() + bytes(&batch.commands) > MOST;
        (is_full && self.gate.would_hold_batch(batch)).then_some(Error::HeldLimit { bytes: MOST })
    }

    fn held_bytes(&self) -> usize {
        let tasks = self.tasks.values().filter(|task| task.held.is_some()).map(|task| task.request.cmd.len());
        tasks.sum::<usize>() + self.gate.batches().map(|batch| bytes(&batch.commands)).sum::<usize>()
    }
}

fn bytes(commands: &[HeldCommand]) -> usize {
    commands.iter().map(|command| command.cmd.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::envelope::{Actor, TaskId};
    use crate::runtime::request::ExecRequest;
    use crate::runtime::supervisor::message::Input;
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
        }
    }

    #[test]
    fn what_waits_for_the_operator_fits_in_what_a_console_is_told() {
        let agent = || Actor::Agent("a".into());
        let mut supervisor = Supervisor::new(&Limits::default());
        let long = || "x".repeat(1 << 20);
        supervisor.pause(at(0), true);
        for id in 0..2 {
            let task = new(id, agent(), long());
            assert!(supervisor.no_room_for(&task).is_none());
            supervisor.step(at(0), Input::Start(Box::new(task)));
        }
        let refused = supervisor.no_room_for(&new(2, agent(), "ls".into()));
        assert!(matches!(refused, Some(Error::HeldLimit { .. })), "{refused:?}");
        assert!(supervisor.no_room_for(&new(2, Actor::Operator, long())).is_none(), "it does not wait");
        supervisor.pause(at(1), false);
        assert!(supervisor.no_room_for(&new(2, agent(), long())).is_none());
    }
}

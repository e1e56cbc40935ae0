//! A task as others see it.

use jiff::Timestamp;

use super::task::Task;
use crate::facts::Exit;
use crate::runtime::view::{Ended, OutputView, TaskView};

/// The exit status of a command whose time ran out (docs/contract.md#execcommand).
const TIMED_OUT: i32 = 124;

impl Task {
    /// Returns what others see of it; of its command, the beginning where that is cut, and how long it is.
    pub(crate) fn view(&self, (cmd, cmd_chars): (String, Option<u64>), output: OutputView) -> TaskView {
        TaskView {
            id: self.id.clone(),
            number: self.number,
            status: self.status,
            cmd,
            cmd_chars,
            description: self.request.description.clone(),
            name: self.name.clone(),
            workdir: self.workdir.clone(),
            shell: self.shell.clone(),
            login: self.request.login,
            tty: self.request.tty,
            size: self.size,
            size_asked: self.request.size.is_some(),
            accepts_input: self.request.accepts_input,
            started_by: self.request.actor.clone(),
            call: self.request.call,
            from_task: self.behind.as_ref().map(|behind| behind.task.clone()),
            promoted: self.promoted,
            item: self.request.item,
            held: self.held.as_ref().map(|held| held.reason.clone()),
            timeout_ms: self
                .request
                .timeout
                .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            lease: self.lease.as_ref().map(|(lease, _)| lease.clone()),
            waiting: self.waiting.clone(),
            created_at: self.created_at,
            started_at: self.started_at,
            updated_at: self.updated_at,
            stop: self.stop.clone(),
            ended: self.ended_at.map(|at| self.end_view(at)),
            output,
            pid: self.pid,
            folder: self.folder.clone(),
            events: self.events.clone(),
        }
    }

    fn end_view(&self, at: Timestamp) -> Ended {
        let (exit_status, signal) = match (&self.exit, self.timed_out) {
            (_, true) => (Some(TIMED_OUT), None),
            (Some(Exit::Code(code)), _) => (Some(*code), None),
            (Some(Exit::Signal(name)), _) => (None, Some(name.clone())),
            (None, _) => (None, None),
        };
        Ended {
            at,
            ran_ms: self.ran.map(|ran| u64::try_from(ran.as_millis()).unwrap_or(u64::MAX)),
            exit_status,
            signal,
            signalled_by: self.signalled_by().cloned(),
            timed_out: self.timed_out,
            error: self.error.clone(),
            leftovers: self.leftovers.clone(),
            survivors: self.survivors.clone(),
        }
    }
}

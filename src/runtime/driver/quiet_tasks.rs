//! Looks at tasks that have gone quiet, outside the driver's loop, and applies what was found.

use super::Driver;
use super::looks::{LookExtent, TaskLook, WaitLook};
use super::order::DriverOrder;
use crate::envelope::TaskId;
use crate::model::InputWait;
use crate::process::{self, ProcessTable};
use crate::runtime::supervisor::SupervisorInput;

impl Driver {
    /// Checks outside the loop which quiet tasks want input or are stopped, and gives turns at terminals.
    pub(super) fn look(&mut self) {
        let (mut looks, mut wrote) = (Vec::new(), Vec::new());
        self.seconds = self.seconds.wrapping_add(1);
        let supervisor = &self.supervisor;
        for (id, live) in &mut self.live {
            let Some(task) = supervisor.get(id) else { continue };
            let (Some(host), Some(shell)) = (&live.host, task.pid) else { continue };
            let second = live.looks.second(live.io.byte_count(), live.io.silent_ms(), self.seconds);
            if second.has_written {
                wrote.push(id.clone());
            }
            let has_side = task.side_terminal && live.io.pty.get().is_some();
            let turn = (second.has_written && has_side).then_some(LookExtent::Turn);
            let due = second.due.filter(|due| *due == LookExtent::Whole || live.io.pty.get().is_some());
            let Some(due) = due.or(turn) else { continue };
            let (io, host) = (live.io.clone(), host.clone());
            let may_lend = has_side && task.lease.is_none();
            looks.push(TaskLook { io, host, shell, due, may_lend, looks: live.looks.clone() });
        }
        wrote.into_iter().for_each(|id| self.note_wait(id, None));
        if looks.is_empty() {
            return;
        }
        let (own, now) = (self.own.clone(), self.now());
        self.blocking_job(move || {
            if looks.iter().filter(|look| look.pack()).count() > 0 {
                process::return_memory();
            }
            looks.retain(TaskLook::is_due);
            if looks.is_empty() {
                return;
            }
            let processes = looks.iter().any(TaskLook::needs_processes).then(ProcessTable::scan);
            let seen = looks.into_iter().map(|look| look.look(processes.as_ref(), now)).collect();
            // Once the driver is gone, nobody shows the result.
            let _ = own.blocking_send(DriverOrder::Waiting { seen });
        });
    }

    /// Applies what quiet tasks were found waiting for; returns whether any of it is new.
    pub(super) fn apply_looks(&mut self, mut seen: Vec<WaitLook>) -> bool {
        seen.retain(|found| {
            let holds = self.live.get_mut(&found.id).is_some_and(|live| live.looks.take(found));
            let known = self.supervisor.get(&found.id).map(|task| &task.waiting);
            found.is_quiet && holds && known.is_some_and(|known| *known != found.waiting)
        });
        let is_news = !seen.is_empty();
        seen.into_iter().for_each(|WaitLook { id, waiting, .. }| self.note_wait(id, waiting));
        is_news
    }

    fn note_wait(&mut self, id: TaskId, waiting: Option<InputWait>) {
        let is_watched = self.shared.viewers.is_anyone();
        self.step(SupervisorInput::Waiting { id: id.clone(), waiting, is_watched });
        self.note_asking(&id);
    }

    /// Tells those who wait for a task whether it certainly waits for input.
    pub(super) fn note_asking(&self, id: &TaskId) {
        let Some(live) = self.live.get(id) else { return };
        let waiting = self.supervisor.get(id).and_then(|task| task.waiting.as_ref());
        let asks = waiting.is_some_and(InputWait::is_certain);
        live.io.progress.send_if_modified(|progress| {
            progress.is_told &= asks;
            std::mem::replace(&mut progress.asks, asks) != asks
        });
    }
}

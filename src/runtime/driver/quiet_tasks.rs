//! Looks at tasks that have gone quiet, outside the driver's loop, and applies what was found.

use super::Driver;
use super::looks::{Second, TaskLook, WaitLook};
use super::order::DriverOrder;
use crate::process::{self, ProcessTable};
use crate::runtime::supervisor::SupervisorInput;

impl Driver {
    /// Checks outside the loop which quiet tasks want input or are stopped, and gives turns at terminals.
    pub(super) fn look(&mut self) {
        let (mut looks, mut wrote) = (Vec::new(), Vec::new());
        let supervisor = &self.supervisor;
        for (id, live) in &mut self.live {
            let Some(task) = supervisor.get(id) else { continue };
            let (Some(host), Some(shell)) = (&live.host, task.pid) else { continue };
            let second = live.looks.second(live.io.byte_count());
            if second == Second::Wrote {
                wrote.push(id.clone());
            }
            let is_quiet = second == Second::Look;
            let has_side = task.side_terminal && live.io.pty.get().is_some();
            if is_quiet || second == Second::Wrote && has_side {
                let (io, host) = (live.io.clone(), host.clone());
                let (inputs, is_at_rest) = (live.looks.inputs, live.looks.is_at_rest());
                let may_lend = has_side && task.lease.is_none();
                looks.push(TaskLook { io, host, shell, inputs, is_quiet, is_at_rest, may_lend });
            }
        }
        wrote.into_iter().for_each(|id| self.step(SupervisorInput::Waiting { id, waiting: None }));
        if looks.is_empty() {
            return;
        }
        let (own, now) = (self.own.clone(), self.now().wall);
        self.blocking_job(move || {
            if looks.iter().filter(|look| look.pack()).count() > 0 {
                process::return_memory();
            }
            let has_terminal = |look: &TaskLook| look.is_quiet && look.io.pty.get().is_some();
            let processes = looks.iter().any(has_terminal).then(ProcessTable::scan);
            let seen = looks.into_iter().map(|look| look.look(processes.as_ref(), now)).collect();
            // Once the driver is gone, nobody shows the result.
            let _ = own.blocking_send(DriverOrder::Waiting { seen });
        });
    }

    /// Applies what quiet tasks were found waiting for; returns whether any of it is new.
    pub(super) fn apply_looks(&mut self, mut seen: Vec<WaitLook>) -> bool {
        for found in &seen {
            if let Some(live) = self.live.get_mut(&found.id) {
                live.looks.is_lent = found.is_lent;
            }
        }
        seen.retain(|WaitLook { id, inputs, waiting, is_quiet, .. }| {
            *is_quiet
                && self.live.get(id).is_some_and(|live| live.looks.still_holds(*inputs))
                && self.supervisor.get(id).is_some_and(|task| task.waiting != *waiting)
        });
        let is_news = !seen.is_empty();
        seen.into_iter()
            .for_each(|WaitLook { id, waiting, .. }| self.step(SupervisorInput::Waiting { id, waiting }));
        is_news
    }
}

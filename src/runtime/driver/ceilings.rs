//! Ceilings that no control group holds: the trees of such tasks are measured every quarter of a second, outside the
//! driver's loop, and the tasks that have passed theirs are ended. What a control group has held is read at the end.

use std::time::Duration;

use super::Driver;
use super::measured_task::MeasuredTask;
use super::message::PublishPace;
use super::order::DriverOrder;
use crate::config::Ceilings;
use crate::envelope::TaskId;
use crate::model::{CeilingHit, Exit};
use crate::process::{GroupCounts, HostHandle, TreeSize};
use crate::runtime::supervisor::SupervisorInput;

/// How often trees are measured.
pub(super) const POLL: Duration = Duration::from_millis(250);
/// A peak is told again when it has grown by this many bytes.
const NEWS: u64 = 1 << 20;

impl Driver {
    /// Tells whether any task's ceilings are polled.
    pub(super) fn polls_ceilings(&self) -> bool {
        self.live.values().any(|live| live.polled.is_some())
    }

    /// Measures the trees of these tasks, unless they are still being measured.
    pub(super) fn poll_ceilings(&mut self) {
        if self.is_measuring {
            return;
        }
        let polled: Vec<_> = self
            .live
            .iter()
            .filter_map(|(id, live)| {
                let host = live.host.as_ref().and_then(HostHandle::pid)?;
                Some((id.clone(), host, live.polled?))
            })
            .collect();
        if polled.is_empty() {
            return;
        }
        self.is_measuring = true;
        let own = self.own.clone();
        self.blocking_job(move || {
            let measure = |(id, host, ceilings): (TaskId, u32, Ceilings)| {
                let size = TreeSize::below(host, ceilings.memory)?;
                Some(MeasuredTask::of(id, size, ceilings))
            };
            let measured = polled.into_iter().filter_map(measure).collect();
            // Once the driver is gone, so are the tasks.
            let _ = own.blocking_send(DriverOrder::Measured { measured });
        });
    }

    /// Applies what was measured.
    pub(super) fn measured(&mut self, measured: Vec<MeasuredTask>) -> PublishPace {
        self.is_measuring = false;
        let mut pace = PublishPace::Same;
        for MeasuredTask { id, size, hit } in measured {
            let Some(task) = self.supervisor.get(&id) else { continue };
            if size.memory >= task.peak_memory.unwrap_or_default().saturating_add(NEWS) {
                self.step(SupervisorInput::Peak { id: id.clone(), bytes: size.memory });
                pace = if pace == PublishPace::Now { pace } else { PublishPace::Soon };
            }
            if let Some(hit) = hit {
                self.step(SupervisorInput::Ceiling { id, hit });
                pace = PublishPace::Now;
            }
        }
        pace
    }

    /// Applies what the kernel counted in the control group of a task that has ended.
    pub(super) fn counted(&mut self, id: &TaskId, counts: GroupCounts) {
        let Some((task, live)) = self.supervisor.get(id).zip(self.live.get(id)) else { return };
        let hit = CeilingHit::counted(counts, live.ceilings, task.exit() == Some(&Exit::Code(0)));
        if let Some(bytes) = counts.peak {
            self.step(SupervisorInput::Peak { id: id.clone(), bytes });
        }
        if let Some(hit) = hit {
            self.step(SupervisorInput::Ceiling { id: id.clone(), hit });
        }
    }
}

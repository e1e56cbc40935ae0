//! Ceilings that no control group holds: the trees of such tasks are measured every quarter of a second, outside the
//! driver's loop, and the tasks that have passed theirs are ended. What a control group has held is read at the end.

use crate::model::{CeilingHit, CeilingKind, Exit};
use std::time::Duration;

use super::Driver;
use super::measured_task::MeasuredTask;
use super::message::PublishPace;
use super::order::DriverOrder;
use crate::config::Ceilings;
use crate::envelope::TaskId;
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
    pub(super) fn apply_measures(&mut self, measured: Vec<MeasuredTask>) -> PublishPace {
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
    pub(super) fn apply_counts(&mut self, id: &TaskId, counts: GroupCounts) {
        let Some((task, live)) = self.supervisor.get(id).zip(self.live.get(id)) else { return };
        let hit = counted_ceiling(counts, live.ceilings, task.exit() == Some(&Exit::Code(0)));
        if let Some(bytes) = counts.peak {
            self.step(SupervisorInput::Peak { id: id.clone(), bytes });
        }
        if let Some(hit) = hit {
            self.step(SupervisorInput::Ceiling { id: id.clone(), hit });
        }
    }
}

/// Returns the ceiling that a command met by what the kernel counted in its control group. A command that `succeeded`
/// has coped with what the system took from it.
fn counted_ceiling(counts: GroupCounts, ceilings: Ceilings, succeeded: bool) -> Option<CeilingHit> {
    let held = |kind, limit, peak| CeilingHit { kind, limit, soft: false, peak };
    let GroupCounts { oom, oom_kill, refused_forks, peak } = counts;
    // The kernel counts `oom` only where the ceiling was met.
    match (ceilings.memory, ceilings.processes) {
        (limit @ Some(_), _) if oom > 0 && oom_kill > 0 => Some(held(CeilingKind::MemoryLimit, limit, peak)),
        _ if oom == 0 && oom_kill > 0 && !succeeded => Some(held(CeilingKind::SystemOom, None, peak)),
        (_, Some(most)) if refused_forks > 0 => {
            Some(held(CeilingKind::ProcessLimit, Some(most.into()), None))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Ceilings;

    #[test]
    fn kernel_counters_tell_a_ceiling_from_a_system_oom_and_from_a_plain_kill() {
        let both = Ceilings { memory: Some(512 << 20), processes: Some(256), ..Ceilings::default() };
        let none = Ceilings::default();
        let counts =
            |oom, oom_kill, refused_forks| GroupCounts { oom, oom_kill, refused_forks, peak: Some(9) };
        let kind = |counts, ceilings, succeeded| {
            counted_ceiling(counts, ceilings, succeeded).map(|hit| (hit.kind, hit.soft))
        };
        for (counts, ceilings, succeeded, expected) in [
            (counts(0, 0, 0), both, false, None),
            (counts(3, 2, 0), both, false, Some(CeilingKind::MemoryLimit)),
            (counts(1, 0, 0), both, false, None),
            (counts(0, 1, 0), both, false, Some(CeilingKind::SystemOom)),
            (counts(0, 1, 0), none, false, Some(CeilingKind::SystemOom)),
            (counts(0, 1, 0), none, true, None),
            (counts(1, 1, 0), none, false, None),
            (counts(0, 0, 7), both, true, Some(CeilingKind::ProcessLimit)),
            (counts(0, 0, 7), none, true, None),
        ] {
            let expected = expected.map(|kind| (kind, false));
            assert_eq!(kind(counts, ceilings, succeeded), expected, "{counts:?} {ceilings:?} {succeeded}");
        }
    }
}

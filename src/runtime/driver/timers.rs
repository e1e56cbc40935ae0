//! The timers set by the supervisor, earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::envelope::TaskId;
use crate::runtime::supervisor::{SupervisorInput, Timer};

/// The pending timers.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(Duration, Due)>>);

/// What a timer is for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Task {
        id: TaskId,
        timer: Timer,
        epoch: u32,
    },
    /// The time limit of a held batch.
    Hold {
        ticket: u64,
    },
}

impl Timers {
    /// Sets a timer; one of a task in place of the same one of before.
    pub(super) fn set(&mut self, at: Duration, due: Due) {
        if let Due::Task { id, timer, .. } = &due {
            self.retain(|of, other| of != id || other != *timer);
        }
        self.0.push(Reverse((at, due)));
    }

    /// Removes the timers of a task that is over: they would only wake up those who wait for changes.
    pub(super) fn end(&mut self, id: &TaskId) {
        self.retain(|of, _| of != id);
    }

    fn retain(&mut self, stays: impl Fn(&TaskId, Timer) -> bool) {
        self.0.retain(|Reverse((_, due))| !matches!(due, Due::Task { id, timer, .. } if !stays(id, *timer)));
    }

    /// Returns when the earliest timer is due.
    pub(super) fn first(&self) -> Option<Duration> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// Removes one timer that is due by `now`, and returns its input.
    pub(super) fn take(&mut self, now: Duration) -> Option<SupervisorInput> {
        if self.first()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, due))| match due {
            Due::Task { id, timer, epoch } => SupervisorInput::Due { id, timer, epoch },
            Due::Hold { ticket } => SupervisorInput::HoldOver { ticket },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_dropped_when_it_is_set_again_or_its_task_is_over() {
        let [one, other] = [1, 2].map(|byte| TaskId::from_random([byte; 8]));
        let mut timers = Timers::default();
        let mut set = |at, id: &TaskId, timer| {
            timers.set(Duration::from_secs(at), Due::Task { id: id.clone(), timer, epoch: 1 });
        };
        set(1, &one, Timer::Lease);
        set(2, &one, Timer::Yield);
        set(3, &other, Timer::Lease);
        set(9, &one, Timer::Lease);
        timers.set(Duration::from_secs(4), Due::Hold { ticket: 1 });
        assert_eq!(timers.first(), Some(Duration::from_secs(2)), "another key was typed");
        timers.end(&one);
        assert_eq!((timers.first(), timers.0.len()), (Some(Duration::from_secs(3)), 2));
        timers.end(&other);
        assert_eq!(timers.first(), Some(Duration::from_secs(4)), "a batch is no task");
    }
}

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
    pub(super) fn set(&mut self, at: Duration, due: Due) {
        self.0.push(Reverse((at, due)));
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

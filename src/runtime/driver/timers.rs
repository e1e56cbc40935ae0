//! What is due when: the timers that the supervisor has set, earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::envelope::TaskId;
use crate::runtime::supervisor::{Input, Timer};

/// The timers set.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(Duration, Due)>>);

/// What is due.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Task {
        id: TaskId,
        timer: Timer,
        epoch: u32,
    },
    /// The wait of a held batch is over.
    Hold {
        ticket: u64,
    },
}

impl Timers {
    pub(super) fn set(&mut self, at: Duration, due: Due) {
        self.0.push(Reverse((at, due)));
    }

    /// Returns when the first one is due.
    pub(super) fn first(&self) -> Option<Duration> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes one that is due by now.
    pub(super) fn take(&mut self, now: Duration) -> Option<Input> {
        if self.first()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, due))| match due {
            Due::Task { id, timer, epoch } => Input::Due { id, timer, epoch },
            Due::Hold { ticket } => Input::HoldOver { ticket },
        })
    }
}

//! The timers set by the supervisor, earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::Driver;
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

impl Driver {
    /// Returns when the next timer is due.
    pub(super) fn next_timer(&self) -> Option<Duration> {
        let timers = [self.timers.first(), self.questions.machine.next_due(), self.spares.first()];
        timers.into_iter().flatten().min()
    }

    /// Carries out what is due.
    pub(super) fn fire(&mut self) {
        self.late_questions();
        let now = self.now().mono;
        self.prepare_spares(now);
        self.expect_no_more(now);
        while let Some(due) = self.timers.take(now) {
            self.step(due);
        }
    }
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

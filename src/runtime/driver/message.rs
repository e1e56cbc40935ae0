//! Messages that wake the driver's loop, and how soon their effects are published.

use super::order::DriverOrder;
use crate::runtime::bytes::ByteEvent;

/// How soon a change is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PublishPace {
    Now,
    Soon,
    /// Once the task had the time to answer.
    Typed,
    Same,
}

impl PublishPace {
    pub(super) fn now_if(changed: bool) -> Self {
        if changed { Self::Now } else { Self::Same }
    }
}

/// What woke the loop.
pub(super) enum Message {
    Order(DriverOrder),
    Bytes(ByteEvent),
    Due,
    Second,
    /// Ceilings are to be compared with what tasks take.
    Poll,
    /// Something outside the loop changed what is shown.
    Nudge,
    /// Tasks have written output.
    Counted,
    Publish,
    /// Maintenance of past recordings is due.
    Tend,
    JobEnded,
    /// No program is running any more, or the deadline for programs has passed.
    ProgramsOver,
}

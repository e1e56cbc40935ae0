//! What wakes the driver's loop, and how soon what comes of it is shown.

use super::order::Order;
use crate::runtime::bytes::ByteEvent;

/// How soon a change is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Now,
    Soon,
    Same,
}

impl Shown {
    pub(super) fn now_if(changed: bool) -> Self {
        if changed { Self::Now } else { Self::Same }
    }
}

/// What woke the loop.
pub(super) enum Message {
    Order(Order),
    Bytes(ByteEvent),
    Due,
    Second,
    /// Something outside the loop changed what is shown.
    Nudge,
    /// Tasks have written something.
    Counted,
    Publish,
    /// The past is due to be looked after.
    Tend,
    JobEnded,
    /// No program is under way any more, or none is waited for any longer.
    ProgramsOver,
}

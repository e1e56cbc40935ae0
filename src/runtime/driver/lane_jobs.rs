//! What is to be done about lanes outside the driver's loop.

use std::time::Duration;

use crate::runtime::lanes::{LaneOrder, ReturnedTicket};

/// What is to be done about lanes, and when.
#[derive(Debug, Default)]
pub(super) struct LaneJobs {
    pub(super) orders: Vec<LaneOrder>,
    pub(super) returned: Vec<ReturnedTicket>,
    /// Whether a job is at it.
    pub(super) is_busy: bool,
    /// When a closed lane is to be looked at again.
    pub(super) due: Option<Duration>,
}

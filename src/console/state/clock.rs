//! The time, as the console was last told it.

use jiff::Timestamp;

/// What the console knows of the time.
#[derive(Debug, Clone, Copy)]
pub struct ConsoleClock {
    /// The current time, as of the last message.
    pub now: Timestamp,
    /// The time up to which the runtime is known: `now`, unless the connection to it was lost.
    pub known: Timestamp,
    /// When the console was opened.
    pub opened: Timestamp,
    /// When a key was last pressed.
    pub touched: Option<Timestamp>,
}

impl ConsoleClock {
    /// Returns the clock of a console that is opened now.
    pub(super) fn new(now: Timestamp) -> Self {
        Self { now, known: now, opened: now, touched: None }
    }
}

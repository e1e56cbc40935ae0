//! Injected time: the only place that reads the system clocks.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// A moment, as read from both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Time since the clock was created; never goes backwards. Deadlines are computed from it.
    pub mono: Duration,
    /// Wall-clock time, for display and records only.
    pub wall: Timestamp,
}

impl Moment {
    /// Returns the wall-clock time `time` after this moment.
    pub fn wall_after(&self, time: Duration) -> Timestamp {
        let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        self.wall.saturating_add(time).unwrap_or(Timestamp::MAX)
    }
}

/// Returns a time in whole milliseconds; one too long for that is the longest there is.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Tells whether to look, at this count of seconds or rounds, at what changes ever less often: at 1, 2, 4, … 32, then at
/// every 60th.
pub fn is_look_due(count: u32) -> bool {
    const LONGEST: u32 = 60;
    if count < LONGEST { count.is_power_of_two() } else { count.is_multiple_of(LONGEST) }
}

/// Reads the clocks. Monotonic time is tokio's, so a test that pauses tokio time pauses it too.
#[derive(Debug, Clone)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// Returns a clock whose monotonic time starts now.
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Returns the current moment.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    pub fn now(&self) -> Moment {
        Moment { mono: self.origin.elapsed(), wall: Timestamp::now() }
    }

    /// Returns the tokio instant for a monotonic time, to sleep until.
    pub fn instant(&self, mono: Duration) -> Instant {
        self.origin + mono
    }
}

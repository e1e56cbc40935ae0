//! How often the state is published: changes that somebody waits for at once, others together. Pure.

use std::time::Duration;

/// Changes that nobody waits for are published at most this often.
const CHANGES: Duration = Duration::from_millis(50);
/// And at most this often when all that has changed is how much tasks have written.
const COUNTS: Duration = Duration::from_millis(250);

/// When it was published, and when that is due again; times on the runtime's clock.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: Duration,
    due: Option<Duration>,
}

impl Throttle {
    /// Takes in that something has changed.
    pub(super) fn changed(&mut self) {
        self.due = Some(self.last + CHANGES);
    }

    /// Takes in that tasks have written something.
    pub(super) fn counted(&mut self) {
        self.due = self.due.or(Some(self.last + COUNTS));
    }

    /// Takes in that the state was published.
    pub(super) fn published(&mut self, now: Duration) {
        *self = Self { last: now, due: None };
    }

    /// Returns when the state is to be published; it may be in the past.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Tells whether a change would bring the next time nearer.
    pub(super) fn hears_changes(&self) -> bool {
        self.due.is_none_or(|due| due > self.last + CHANGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_wait_for_each_other_and_a_change_takes_them_along() {
        let ms = Duration::from_millis;
        let mut throttle = Throttle::default();
        throttle.published(ms(1_000));
        assert_eq!((throttle.due(), throttle.hears_changes()), (None, true));
        throttle.counted();
        assert_eq!((throttle.due(), throttle.hears_changes()), (Some(ms(1_250)), true));
        throttle.changed();
        assert_eq!((throttle.due(), throttle.hears_changes()), (Some(ms(1_050)), false));
        throttle.counted();
        assert_eq!(throttle.due(), Some(ms(1_050)));
    }
}

//! Limits how often the state is published: changes that a caller waits for immediately, others batched. Pure.

use std::time::Duration;

/// The minimum interval for publishing changes that nobody waits for.
const CHANGES: Duration = Duration::from_millis(50);
/// The minimum interval if only the amount of output has changed.
const COUNTS: Duration = Duration::from_millis(500);

/// How long what was typed waits to be published: its echo comes first, and is published with it.
const TYPED: Duration = Duration::from_millis(10);

/// When the state was last published, and when it is due again, on the runtime's clock.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: Duration,
    due: Option<Duration>,
}

impl Throttle {
    /// Records that something has changed.
    pub(super) fn note_change(&mut self) {
        self.due = Some(self.last + CHANGES);
    }

    /// Records that the person has typed into a task.
    pub(super) fn note_typing(&mut self, now: Duration) {
        self.due = self.due.or(Some((self.last + CHANGES).max(now + TYPED)));
    }

    /// Records that tasks have written output.
    pub(super) fn note_output(&mut self) {
        self.due = self.due.or(Some(self.last + COUNTS));
    }

    /// Records that the state was published.
    pub(super) fn note_publish(&mut self, now: Duration) {
        *self = Self { last: now, due: None };
    }

    /// Returns when the state is due to be published; may be in the past.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Tells whether a change would make publishing due earlier.
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
        throttle.note_publish(ms(1_000));
        assert_eq!((throttle.due(), throttle.hears_changes()), (None, true));
        throttle.note_output();
        assert_eq!((throttle.due(), throttle.hears_changes()), (Some(ms(1_500)), true));
        throttle.note_change();
        assert_eq!((throttle.due(), throttle.hears_changes()), (Some(ms(1_050)), false));
        throttle.note_output();
        assert_eq!(throttle.due(), Some(ms(1_050)));
        throttle.note_publish(ms(2_000));
        throttle.note_typing(ms(3_000));
        throttle.note_output();
        assert_eq!(throttle.due(), Some(ms(3_010)), "with its echo");
    }
}

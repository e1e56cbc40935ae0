//! What one look at a task leaves for the next.

use std::sync::Arc;
use std::time::Duration;

use super::foreground::Foreground;
use crate::runtime::screen::TaskScreen;
use crate::terminal::{Contents, ScreenText};

/// What is kept of a task between two looks.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// What the processes in its foreground did.
    pub(super) foreground: Option<Foreground>,
    /// Whether they were seen to wait for nothing, at a terminal in its usual modes.
    pub(super) is_at_work: bool,
    /// What its screen showed, with its generation.
    pub(super) screen: Option<(u64, Arc<ScreenText>)>,
    /// The process that polled its terminal with a timeout.
    pub(super) sight: Option<Sight>,
}

/// A process that polls a terminal with a timeout: it waits if nothing moves from one look to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) pid: i32,
    pub(super) at: Duration,
    /// The processor time of its group, in clock ticks, and a number that grows when children of it end.
    pub(super) work: (u64, u64),
    /// Whether it has been at it for long enough.
    pub(super) is_settled: bool,
}

impl Memory {
    /// Returns what the screen shows, and reads it if it has changed.
    pub(super) fn read_screen(&mut self, screen: &TaskScreen) -> Arc<ScreenText> {
        let generation = screen.generation();
        if let Some((_, known)) = self.screen.as_ref().filter(|(known, _)| *known == generation) {
            return known.clone();
        }
        let text = screen.read(|terminal| ScreenText::of(&Contents::of(terminal)));
        self.screen.insert((generation, Arc::new(text.unwrap_or_default()))).1.clone()
    }

    /// Tells whether another look may show that a program which polls with a timeout waits.
    pub(super) fn is_unsettled(&self) -> bool {
        self.sight.as_ref().is_some_and(|sight| !sight.is_settled)
    }
}

impl Sight {
    /// Compares with what was seen before: the earliest such sight, until `patience` has passed.
    pub(super) fn after(self, before: Option<Self>, patience: Duration) -> Self {
        let Some(before) = before.filter(|before| before.pid == self.pid && !self.has_worked(before)) else {
            return self;
        };
        if before.is_settled || self.at.saturating_sub(before.at) >= patience {
            return Self { is_settled: true, ..self };
        }
        before
    }

    /// Tells whether its group has used more than 1 % of a processor since, or a child of it has ended.
    fn has_worked(&self, before: &Self) -> bool {
        let most = 1 + self.at.saturating_sub(before.at).as_secs();
        self.work.1 != before.work.1 || self.work.0.abs_diff(before.work.0) > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    fn sight(second: u64, ticks: u64, faults: u64) -> Sight {
        Sight { pid: 7, at: Duration::from_secs(second), work: (ticks, faults), is_settled: false }
    }

    #[test]
    fn a_poll_with_a_timeout_is_a_wait_once_nothing_has_moved_for_long_enough() {
        let first = sight(10, 100, 5).after(None, PATIENCE);
        assert!(!first.is_settled);
        let early = sight(11, 100, 5).after(Some(first.clone()), PATIENCE);
        assert_eq!(early, first, "the time counts from the first sight");
        let settled = sight(12, 101, 5).after(Some(early), PATIENCE);
        assert!(settled.is_settled);
        assert!(sight(13, 103, 5).after(Some(settled.clone()), PATIENCE).is_settled);
        for (moved, why) in [
            (sight(14, 120, 5), "it works"),
            (sight(14, 101, 9), "a child of it has ended"),
            (Sight { pid: 8, ..sight(14, 101, 5) }, "it is another process"),
        ] {
            assert!(!moved.after(Some(settled.clone()), PATIENCE).is_settled, "{why}");
        }
    }
}

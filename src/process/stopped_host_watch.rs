//! Notices task hosts that are stopped, which only the processes that they are supposed to end would do. One look at all
//! children of this process serves every host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;

use super::tree;

/// How often the children are looked at.
const INTERVAL: Duration = Duration::from_secs(2);
/// A host found stopped by this many looks in a row is given up.
const LOOKS: u32 = 4;

/// Looks every two seconds whether any child of this process is stopped, as long as somebody wants to know.
#[derive(Debug, Default)]
pub(super) struct StoppedHostWatch {
    /// The number of the last look that found one.
    found: watch::Sender<u64>,
    is_looking: AtomicBool,
}

/// How many looks in a row have found one host stopped.
#[derive(Debug)]
pub(super) struct StoppedLooks {
    found: watch::Receiver<u64>,
    /// The number of the last look that was counted.
    last: u64,
    in_a_row: u32,
}

impl StoppedHostWatch {
    /// Begins to watch a host. Must be called within a tokio runtime.
    pub(super) fn begin(self: &Arc<Self>) -> StoppedLooks {
        let stops = StoppedLooks::of(self.found.subscribe());
        if !self.is_looking.swap(true, Ordering::AcqRel) {
            tokio::spawn(look(Arc::downgrade(self)));
        }
        stops
    }

    /// Tells whether nobody watches a host any more, in which case nobody looks either.
    fn is_over(&self) -> bool {
        let is_unused = || self.found.receiver_count() == 0;
        is_unused() && {
            self.is_looking.swap(false, Ordering::AcqRel);
            // A host may have been added just before, while this task still seemed to be looking.
            is_unused() || self.is_looking.swap(true, Ordering::AcqRel)
        }
    }
}

async fn look(watch: Weak<StoppedHostWatch>) {
    for look in 1.. {
        tokio::time::sleep(INTERVAL).await;
        let Some(watch) = watch.upgrade().filter(|watch| !watch.is_over()) else { return };
        if tree::is_any_stopped() {
            watch.found.send_replace(look);
        }
    }
}

impl StoppedLooks {
    fn of(found: watch::Receiver<u64>) -> Self {
        Self { found, last: 0, in_a_row: 0 }
    }

    /// Waits for a look that finds a stopped child, and returns its number. Cancellation-safe.
    pub(super) async fn next(&mut self) -> u64 {
        if self.found.changed().await.is_err() {
            return std::future::pending().await;
        }
        *self.found.borrow_and_update()
    }

    /// Counts a look; tells whether the host has been stopped for too long.
    pub(super) fn count(&mut self, look: u64, is_stopped: bool) -> bool {
        self.in_a_row = match (is_stopped, look == self.last + 1) {
            (false, _) => 0,
            (true, true) => self.in_a_row + 1,
            (true, false) => 1,
        };
        self.last = look;
        self.in_a_row >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_host_that_is_stopped_at_several_looks_in_a_row_is_given_up() {
        let counts = |looks: &[(u64, bool)]| {
            let mut stops = StoppedLooks::of(watch::Sender::default().subscribe());
            looks.iter().map(|(look, is_stopped)| stops.count(*look, *is_stopped)).collect::<Vec<_>>()
        };
        let stopped = |look| (look, true);
        assert_eq!(counts(&[3, 4, 5, 6].map(stopped)), [false, false, false, true]);
        assert_eq!(
            counts(&[3, 4, 5, 7].map(stopped)),
            [false; 4],
            "it ran in between, when no child was stopped"
        );
        let other = [stopped(3), stopped(4), stopped(5), (6, false), stopped(7)];
        assert_eq!(counts(&other), [false; 5], "it ran in between, when another one was stopped");
    }

    #[tokio::test(start_paused = true)]
    async fn the_watch_for_stopped_hosts_looks_only_while_it_has_users() {
        let watch = Arc::new(StoppedHostWatch::default());
        let looks = || watch.is_looking.load(Ordering::Acquire);
        let (first, second) = (watch.begin(), watch.begin());
        drop(first);
        tokio::time::sleep(3 * INTERVAL).await;
        assert!(looks());
        drop(second);
        tokio::time::sleep(2 * INTERVAL).await;
        assert!(!looks());
        let _third = watch.begin();
        assert!(looks());
    }
}

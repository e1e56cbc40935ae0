//! Tracks which consoles show which screens, and wakes them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::lock;
use super::task_io::TaskIo;
use crate::clock::Clock;
use crate::envelope::TaskId;

/// The consoles and the screens they show.
// A lock, not a message: the parsers check it for every slice.
#[derive(Debug, Default)]
pub(crate) struct Viewers {
    all: Mutex<Vec<Weak<Viewer>>>,
    left: Arc<Left>,
    /// Number of consoles that have joined.
    came: watch::Sender<u64>,
}

/// When the last console was closed, in milliseconds of the monotonic clock plus one; 0 before the first.
#[derive(Debug, Default)]
struct Left(AtomicU64);

/// One console, embedded or attached: what it shows, and how to wake it.
#[derive(Debug)]
pub struct Viewer {
    wake: Arc<Notify>,
    shown: Mutex<Shown>,
    _leaves: Leaves,
}

/// Records on drop that a console was closed.
#[derive(Debug)]
struct Leaves {
    clock: Clock,
    left: Arc<Left>,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let now = u64::try_from(self.clock.now().mono.as_millis()).unwrap_or(u64::MAX);
        self.left.0.store(now.saturating_add(1), Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Shown {
    tasks: HashSet<TaskId>,
    focus: Option<TaskId>,
}

impl Viewer {
    /// Sets which screens are shown, and which task is being typed into.
    pub(crate) fn show(&self, tasks: HashSet<TaskId>, focus: Option<TaskId>) {
        *lock(&self.shown) = Shown { tasks, focus };
    }

    /// Returns the handle that is notified when a shown screen changes.
    #[must_use]
    pub fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }
}

impl Viewers {
    pub(crate) fn join(&self, clock: Clock) -> Arc<Viewer> {
        let leaves = Leaves { clock, left: self.left.clone() };
        let viewer = Arc::new(Viewer { wake: Arc::default(), shown: Mutex::default(), _leaves: leaves });
        let mut all = lock(&self.all);
        all.retain(|viewer| viewer.strong_count() > 0);
        all.push(Arc::downgrade(&viewer));
        drop(all);
        self.came.send_modify(|came| *came += 1);
        viewer
    }

    /// Tells whether any console is open.
    pub(crate) fn is_anyone(&self) -> bool {
        self.any(|_| true)
    }

    /// Waits until a console is open.
    pub(crate) async fn anyone(&self) {
        let mut came = self.came.subscribe();
        while !self.is_anyone() {
            // The sender lives as long as `self`.
            let _ = came.changed().await;
        }
    }

    /// Tells whether a console is open, or was within the time `ago`.
    pub(crate) fn was_anyone(&self, now: Duration, ago: Duration) -> bool {
        let left = self.left.0.load(Ordering::Relaxed).checked_sub(1).map(Duration::from_millis);
        self.is_anyone() || left.is_some_and(|left| now.saturating_sub(left) <= ago)
    }

    /// Records in `io` whether any console shows it.
    pub(crate) fn refresh(&self, io: &TaskIo) {
        io.visible.store(self.any(|shown| shown.tasks.contains(&io.id)), Ordering::Relaxed);
    }

    /// Returns the tasks being typed into.
    pub(crate) fn focused(&self) -> Vec<TaskId> {
        let all = lock(&self.all);
        let focus = |viewer: Arc<Viewer>| lock(&viewer.shown).focus.clone();
        all.iter().filter_map(Weak::upgrade).filter_map(focus).collect()
    }

    pub(super) fn is_focused(&self, id: &TaskId) -> bool {
        self.any(|shown| shown.focus.as_ref() == Some(id))
    }

    pub(super) fn changed(&self, visible: bool) {
        if visible {
            let all = lock(&self.all);
            all.iter().filter_map(Weak::upgrade).for_each(|viewer| viewer.wake.notify_one());
        }
    }

    fn any(&self, fact: impl Fn(&Shown) -> bool) -> bool {
        let all = lock(&self.all);
        all.iter().filter_map(Weak::upgrade).any(|viewer| fact(&lock(&viewer.shown)))
    }
}

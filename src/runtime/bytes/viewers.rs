//! Which consoles show which screens, and how to wake them.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

use super::lock;
use super::task_io::TaskIo;
use crate::envelope::TaskId;

/// The consoles, and the screens they show.
// A lock, not a message: the parsers ask for each slice.
#[derive(Debug, Default)]
pub(crate) struct Viewers {
    all: Mutex<Vec<Weak<Viewer>>>,
}

/// One console, embedded or attached: what it shows and how to wake it.
#[derive(Debug, Default)]
pub struct Viewer {
    wake: Arc<Notify>,
    shown: Mutex<Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    tasks: HashSet<TaskId>,
    focus: Option<TaskId>,
}

impl Viewer {
    /// Sets which screens are shown, and which task is typed into.
    pub(crate) fn show(&self, tasks: HashSet<TaskId>, focus: Option<TaskId>) {
        *lock(&self.shown) = Shown { tasks, focus };
    }

    /// Returns the handle that is notified when a shown screen has changed.
    #[must_use]
    pub fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }
}

impl Viewers {
    pub(crate) fn join(&self) -> Arc<Viewer> {
        let viewer = Arc::new(Viewer::default());
        let mut all = lock(&self.all);
        all.retain(|viewer| viewer.strong_count() > 0);
        all.push(Arc::downgrade(&viewer));
        viewer
    }

    /// Tells whether there is any console.
    pub(crate) fn is_anyone(&self) -> bool {
        self.any(|_| true)
    }

    /// Notes in `io` whether any console shows it.
    pub(crate) fn refresh(&self, io: &TaskIo) {
        io.visible.store(self.any(|shown| shown.tasks.contains(&io.id)), Ordering::Relaxed);
    }

    /// Returns the tasks that are typed into.
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

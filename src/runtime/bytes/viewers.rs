//! Tracks which consoles show which screens, and wakes them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::lock::lock;
use super::task_io::TaskIo;
use crate::clock::{Clock, millis};
use crate::envelope::TaskId;
use crate::terminal::host_terminal::DefaultColours;

/// The consoles and the screens they show.
// A lock, not a message: the parsers check it for every slice.
#[derive(Debug, Default)]
pub(crate) struct Viewers {
    all: Mutex<Vec<Weak<Viewer>>>,
    left: Arc<LastViewed>,
    /// How many times a console has joined or left.
    turns: Arc<watch::Sender<u64>>,
}

/// When the last console was closed, in milliseconds of the monotonic clock plus one; 0 before the first.
#[derive(Debug, Default)]
struct LastViewed(AtomicU64);

/// One console, embedded or attached: what it shows, and how to wake it.
#[derive(Debug)]
pub struct Viewer {
    wake: Arc<Notify>,
    shown: Mutex<ViewerFocus>,
    _leaves: Leaves,
}

/// Records on drop that a console was closed.
#[derive(Debug)]
struct Leaves {
    clock: Clock,
    left: Arc<LastViewed>,
    turns: Arc<watch::Sender<u64>>,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let now = millis(self.clock.now().mono);
        self.left.0.store(now.saturating_add(1), Ordering::Relaxed);
        self.turns.send_modify(|turns| *turns += 1);
    }
}

#[derive(Debug, Default)]
struct ViewerFocus {
    tasks: HashSet<TaskId>,
    focus: Option<TaskId>,
    /// The colours of its terminal, if they are known.
    colours: Option<DefaultColours>,
    /// The task that was last typed into, and when that was among all that was typed.
    typed: Option<(TaskId, u64)>,
}

impl Viewer {
    /// Sets which screens are shown, and which task is being typed into.
    pub(crate) fn show(&self, tasks: HashSet<TaskId>, focus: Option<TaskId>) {
        let mut shown = lock(&self.shown);
        (shown.tasks, shown.focus) = (tasks, focus);
    }

    /// Sets the colours of its terminal.
    pub(crate) fn set_colours(&self, colours: Option<DefaultColours>) {
        lock(&self.shown).colours = colours;
    }

    /// Notes that the person at it typed into a task.
    pub(crate) fn types_into(&self, task: &TaskId) {
        static TYPED: AtomicU64 = AtomicU64::new(0);
        let when = TYPED.fetch_add(1, Ordering::Relaxed);
        lock(&self.shown).typed = Some((task.clone(), when));
    }

    /// Returns the handle that is notified when a shown screen changes.
    pub fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }
}

impl Viewers {
    pub(crate) fn join(&self, clock: Clock) -> Arc<Viewer> {
        let leaves = Leaves { clock, left: self.left.clone(), turns: self.turns.clone() };
        let viewer = Arc::new(Viewer { wake: Arc::default(), shown: Mutex::default(), _leaves: leaves });
        let mut all = lock(&self.all);
        all.retain(|viewer| viewer.strong_count() > 0);
        all.push(Arc::downgrade(&viewer));
        drop(all);
        self.turns.send_modify(|turns| *turns += 1);
        viewer
    }

    /// Tells whether any console is open.
    pub(crate) fn is_anyone(&self) -> bool {
        self.any(|_| true)
    }

    /// Waits until a console is open.
    pub(crate) async fn anyone(&self) {
        self.until(true).await
    }

    /// Waits until no console is open.
    pub(crate) async fn nobody(&self) {
        self.until(false).await
    }

    async fn until(&self, is_anyone: bool) {
        let mut turns = self.turns.subscribe();
        while self.is_anyone() != is_anyone {
            // The sender lives as long as `self`.
            let _ = turns.changed().await;
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
    pub(crate) fn focused_tasks(&self) -> Vec<TaskId> {
        let all = lock(&self.all);
        let focus = |viewer: Arc<Viewer>| lock(&viewer.shown).focus.clone();
        all.iter().filter_map(Weak::upgrade).filter_map(focus).collect()
    }

    pub(super) fn is_focused(&self, id: &TaskId) -> bool {
        self.any(|shown| shown.focus.as_ref() == Some(id))
    }

    /// Returns the colours that a task is told if it asks: those of the console that was last typed into it, else of
    /// one that has its focus, else of the one that came last.
    pub(super) fn colours(&self, id: &TaskId) -> DefaultColours {
        let all = lock(&self.all);
        let closeness = |shown: &ViewerFocus| {
            let typed = shown.typed.as_ref().filter(|(task, _)| task == id).map(|(_, when)| *when);
            (typed, shown.focus.as_ref() == Some(id))
        };
        let known = all.iter().filter_map(Weak::upgrade).filter_map(|viewer| {
            let shown = lock(&viewer.shown);
            shown.colours.map(|colours| (closeness(&shown), colours))
        });
        // Of several, the last.
        known.max_by_key(|(closeness, _)| *closeness).map(|(_, colours)| colours).unwrap_or_default()
    }

    pub(super) fn wake_all(&self, visible: bool) {
        if visible {
            let all = lock(&self.all);
            all.iter().filter_map(Weak::upgrade).for_each(|viewer| viewer.wake.notify_one());
        }
    }

    fn any(&self, fact: impl Fn(&ViewerFocus) -> bool) -> bool {
        let all = lock(&self.all);
        all.iter().filter_map(Weak::upgrade).any(|viewer| fact(&lock(&viewer.shown)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_told_the_colours_of_the_console_it_is_typed_into_from() {
        let (viewers, clock) = (Viewers::default(), Clock::start());
        let task: TaskId = "task_00000001".parse().expect("an id");
        let grey = |n| DefaultColours { foreground: (0, 0, 0), background: (n, n, n) };
        assert_eq!(viewers.colours(&task), DefaultColours::default());
        let consoles: Vec<_> = (1..=3).map(|_| viewers.join(clock.clone())).collect();
        assert_eq!(viewers.colours(&task), DefaultColours::default(), "none of them knows its own");
        (1..=3).zip(&consoles).for_each(|(n, console)| console.set_colours(Some(grey(n))));
        assert_eq!(viewers.colours(&task), grey(3), "the last one");
        consoles[1].show(HashSet::new(), Some(task.clone()));
        assert_eq!(viewers.colours(&task), grey(2), "the one that has its focus");
        consoles[0].types_into(&task);
        assert_eq!(viewers.colours(&task), grey(1), "the one that was typed into");
        consoles[2].types_into(&task);
        assert_eq!(viewers.colours(&task), grey(3), "the one that was typed into last");
        drop(consoles);
        assert_eq!(viewers.colours(&task), DefaultColours::default());
    }
}

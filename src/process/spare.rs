//! A host kept ready for the next command, which then does not wait until one has come up. It has the id of a task that is yet
//! to be, the mark and the control group of that one. There is one at most.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::spawner::{PreparedHost, Spawner};
use crate::envelope::TaskId;

/// How long a host may take to leave when its runtime ends.
const LEAVING: Duration = Duration::from_secs(1);

/// The place for it. Clones are the same.
#[derive(Debug, Clone, Default)]
// A lock, not a message: it is held for one look.
pub(super) struct Spare(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Coming,
    Ready(TaskId, Box<PreparedHost>),
    /// Somebody has been given its id and has not begun yet.
    Promised(TaskId, Box<PreparedHost>),
}

impl Spawner {
    /// Has a host ready for the next command, unless there is one.
    pub fn keep_spare(&self) {
        if !self.spare.is_wanted() {
            return;
        }
        let (hosts, spare) = (self.hosts.clone(), self.spare.clone());
        self.links.spawn(async move {
            let id = TaskId::random();
            // Nobody waits for it: without one, the next command has a host started.
            let started = hosts.start(Some(id.to_string())).await.ok();
            spare.came(started.map(|started| (id.clone(), PreparedHost::of(started, Some(id.to_string())))));
        });
    }

    /// Lets the host go that is kept ready.
    pub fn give_up_spare(&self) {
        drop(self.spare.take());
    }

    /// Returns an id for the next task: that of the host which is kept ready, where there is one.
    #[must_use]
    pub fn next_id(&self) -> TaskId {
        self.spare.promise().unwrap_or_else(TaskId::random)
    }

    /// Lets it go and waits until it is gone.
    pub(super) async fn end_spare(&self) {
        if let Some(host) = self.spare.take() {
            host.end(LEAVING).await;
        }
    }
}

impl Spare {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether one is to be started, which is on its way then. One that was promised and not taken is given up: whoever
    /// was promised it has another one started.
    fn is_wanted(&self) -> bool {
        let mut state = self.state();
        if matches!(*state, State::Coming | State::Ready(..)) {
            return false;
        }
        let given_up = mem::replace(&mut *state, State::Coming);
        drop(state);
        drop(given_up);
        true
    }

    /// One has come up, or could not be started.
    fn came(&self, host: Option<(TaskId, PreparedHost)>) {
        let mut state = self.state();
        if matches!(*state, State::Coming) {
            *state = host.map_or(State::None, |(id, host)| State::Ready(id, Box::new(host)));
        }
    }

    /// Promises it to a task, if it is there and well.
    fn promise(&self) -> Option<TaskId> {
        let mut state = self.state();
        match mem::take(&mut *state) {
            State::Ready(id, host) if host.is_well() => {
                *state = State::Promised(id.clone(), host);
                Some(id)
            }
            State::Ready(..) => None,
            other => {
                *state = other;
                None
            }
        }
    }

    /// Takes the one that was promised under an id.
    pub(super) fn take_for(&self, wanted: &str) -> Option<PreparedHost> {
        let mut state = self.state();
        match mem::take(&mut *state) {
            State::Promised(id, host) if id.as_str() == wanted => Some(*host),
            other => {
                *state = other;
                None
            }
        }
    }

    fn take(&self) -> Option<PreparedHost> {
        match mem::take(&mut *self.state()) {
            State::Ready(_, host) | State::Promised(_, host) => Some(*host),
            State::None | State::Coming => None,
        }
    }
}

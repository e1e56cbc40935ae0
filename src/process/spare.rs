//! A spare host, kept ready for the next command so that it need not wait for one to start up. It carries the id of a
//! future task, along with its mark and control group. There is at most one.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::spawner::{PreparedHost, Spawner};
use crate::envelope::TaskId;

/// How long a host may take to exit when its runtime ends.
const LEAVING: Duration = Duration::from_secs(1);

/// The slot for the spare host. Clones share it.
#[derive(Debug, Clone, Default)]
// A lock, not a message: it is held for one check.
pub(super) struct Spare(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Coming,
    Ready(TaskId, Box<PreparedHost>),
    /// A caller was given its id and has not started yet.
    Promised(TaskId, Box<PreparedHost>),
}

impl Spawner {
    /// Prepares a spare host for the next command, unless there is one.
    pub fn keep_spare(&self) {
        if !self.spare.is_wanted() {
            return;
        }
        let (hosts, spare) = (self.hosts.clone(), self.spare.clone());
        self.links.spawn(async move {
            let id = TaskId::random();
            // Nobody waits for it: if it fails, the next command starts a host of its own.
            let started = hosts.start(Some(id.to_string())).await.ok();
            spare.came(started.map(|started| (id.clone(), PreparedHost::of(started, Some(id.to_string())))));
        });
    }

    /// Drops the spare host.
    pub fn give_up_spare(&self) {
        drop(self.spare.take());
    }

    /// Returns an id for the next task: that of the spare host, if there is one.
    #[must_use]
    pub fn next_id(&self) -> TaskId {
        self.spare.promise().unwrap_or_else(TaskId::random)
    }

    /// Drops the spare host and waits until it is gone.
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

    /// Tells whether a spare host must be started, and then notes that it is on its way. A host that was promised but
    /// not taken is dropped; the caller it was promised to starts another one.
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

    /// Notes that a spare host has started up or could not be started.
    fn came(&self, host: Option<(TaskId, PreparedHost)>) {
        let mut state = self.state();
        if matches!(*state, State::Coming) {
            *state = host.map_or(State::None, |(id, host)| State::Ready(id, Box::new(host)));
        }
    }

    /// Promises the spare host to a task, if it is ready and running.
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

    /// Takes the host that was promised under an id.
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

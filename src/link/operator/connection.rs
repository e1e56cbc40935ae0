//! What every connection of a console can do, whatever it leads to.

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use crate::envelope::TaskId;
use crate::link::Error;
use crate::link::protocol::{ConsoleView, Reply, Request};
use crate::model::{PlaceId, Snapshot};
use crate::terminal::Contents;

/// A connection to one runtime, in this process or another one. Clones share it.
pub(in crate::link) type RuntimeConnection = Arc<dyn ConsoleConnection>;

/// The future of a reply.
pub(super) type PendingReply<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

/// What a console sees of a runtime, of several or of a recording, and how it asks for something.
pub trait ConsoleConnection: Send + Sync {
    /// Tells whether the runtime is not in this process: it is in another one, or there is none.
    fn is_remote(&self) -> bool {
        true
    }

    /// Returns why the connection broke, if it did and a program carried it.
    fn why_lost(&self) -> Option<String> {
        None
    }

    /// Returns a live view of whether the runtime can be reached: false for good once it is gone.
    fn link_state(&self) -> watch::Receiver<bool>;

    /// Returns a live view of everything a console shows except the screens.
    fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>>;

    /// Returns the notification for changes of shown screens. Only one task may wait for it.
    fn screens_changed(&self) -> Arc<Notify>;

    /// Returns a number that changes when a task's screen has something new to draw; `None` if there is no screen
    /// yet.
    fn screen_generation(&self, _task: &TaskId) -> Option<u64> {
        None
    }

    /// Returns a task's screen, at its pane's width if one was set; `None` while it is busy or in mid-frame.
    fn screen(&self, _task: &TaskId) -> Option<Contents> {
        None
    }

    /// Sets what the console shows: which tasks have a pane and which one has the focus.
    fn show(&self, _shown: ConsoleView) {}

    /// Returns a snapshot of this connection without the notices about this console itself.
    fn of_others(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        Arc::clone(snapshot)
    }

    /// Sends a request; an answer to a card carries the nonce sent with it on this connection. A request that already
    /// concerns a place goes there whatever `place` says; with a single runtime, that runtime is asked.
    ///
    /// # Errors
    /// If the runtime refuses, the connection is lost, or the place is not attached.
    fn ask_at<'a>(&'a self, place: Option<&'a PlaceId>, request: Request) -> PendingReply<'a>;
}

//! A console's connection: to a runtime in its own process, one attached over the operator socket, a finished
//! recording, or several places at once. All of these have the same methods and behave alike.

mod answers;
mod cards;
mod connection;
mod fleet;
mod liveness;
mod local;
mod own_notices;
mod recorded;
mod remote;
mod rules;
mod screen;
mod serve;
mod stopping;
mod successor;
mod update;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{Notify, watch};

pub(super) use cards::Card;
use connection::RuntimeConnection;
pub use fleet::{Fleet, remove_left_copies};
use local::LocalRuntime;
use recorded::PastConnection;
pub(super) use screen::{ScreenUpdate, fuzz_screen};
pub use serve::serve;
pub use stopping::{ASKED_FOR, StopRequest, StopRequests};
pub use successor::Successors;
pub(super) use update::{Item, Update};

use super::protocol::{ConsoleView, Reply, Request};
use super::{Error, RuntimeRoute};
use crate::envelope::TaskId;
use crate::model::{CallRecord, PlaceId, Snapshot, TaskView};
use crate::process::ConsoleProcess;
use crate::runtime::Handle;
use crate::runtime::past::Recording;
use crate::terminal::Contents;
use crate::tools::CallAnswer;

/// The operator's connection to a runtime. Clones share the same connection.
#[derive(Clone)]
pub enum Operator {
    /// One runtime, in this process or another one.
    Runtime(RuntimeConnection),
    /// A past recording, opened for reading.
    Recorded(PastConnection),
    /// Several runtimes, on this and other machines.
    Fleet(Fleet),
}

impl Operator {
    /// Connects to a runtime in this process; commands start in `cwd` unless they specify another directory.
    #[must_use]
    pub fn local(runtime: Handle, cwd: PathBuf) -> Self {
        let local = LocalRuntime::new(runtime, cwd, ConsoleProcess::own()).issuing_cards();
        Self::Runtime(RuntimeConnection::Local(local))
    }

    /// Attaches to the runtime at an operator socket and waits for its first snapshot.
    ///
    /// # Errors
    /// If no process listens there, the runtime refuses, or it sends nothing.
    pub async fn attach(socket: &Path, cwd: PathBuf) -> Result<Self, Error> {
        RuntimeConnection::attach(socket, cwd).await.map(Self::Runtime)
    }

    /// Attaches to a runtime on any machine, and waits for its first snapshot.
    ///
    /// # Errors
    /// As for [`Operator::attach`]; [`Error::Carried`] if the carrier program does not reach it.
    pub async fn attach_by(way: &RuntimeRoute, cwd: PathBuf) -> Result<Self, Error> {
        RuntimeConnection::attach_by(way, cwd).await.map(Self::Runtime)
    }

    /// Opens a finished recording.
    #[must_use]
    pub fn recorded(recording: &Recording) -> Self {
        Self::Recorded(PastConnection::new(recording))
    }

    /// Tells whether the runtime is not in this process: it is in another one, or there is none.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        !matches!(self, Self::Runtime(RuntimeConnection::Local(_)))
    }

    /// Returns the name of the recording, if this is a past one.
    #[must_use]
    pub fn recording(&self) -> Option<&str> {
        match self {
            Self::Recorded(recorded) => Some(recorded.name()),
            Self::Runtime(_) | Self::Fleet(_) => None,
        }
    }

    /// Returns the fleet, if this is one.
    #[must_use]
    pub fn fleet(&self) -> Option<&Fleet> {
        match self {
            Self::Fleet(fleet) => Some(fleet),
            Self::Runtime(_) | Self::Recorded(_) => None,
        }
    }

    /// Returns the place of a task, if there are several places.
    #[must_use]
    pub fn place_of(&self, task: &TaskId) -> Option<PlaceId> {
        self.fleet()?.place_of(task)
    }

    /// Returns why the connection broke, if it did and a program carried it.
    #[must_use]
    pub fn why_lost(&self) -> Option<String> {
        match self {
            Self::Runtime(runtime) => runtime.why_lost(),
            Self::Recorded(_) | Self::Fleet(_) => None,
        }
    }

    /// Returns a live view of whether the runtime can be reached: false for good once it is gone.
    #[must_use]
    pub fn connected(&self) -> watch::Receiver<bool> {
        match self {
            Self::Runtime(runtime) => runtime.connected(),
            Self::Recorded(recorded) => recorded.connected(),
            Self::Fleet(fleet) => fleet.connected(),
        }
    }

    /// Tells whether a task is on another machine.
    #[must_use]
    pub fn is_elsewhere(&self, task: &TaskView) -> bool {
        self.fleet().is_some_and(|fleet| fleet.is_elsewhere(task))
    }

    /// Copies what is new in the log of a task on another machine to the folder named in the task's view.
    ///
    /// # Errors
    /// If its place is lost or the copy cannot be written.
    pub async fn copy_log(&self, task: &TaskView) -> Result<(), Error> {
        match self.fleet().filter(|fleet| fleet.is_elsewhere(task)) {
            Some(fleet) => fleet.copy_log(task).await,
            None => Ok(()),
        }
    }

    /// Returns a live view of everything a console shows except the screens.
    #[must_use]
    pub fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        match self {
            Self::Runtime(runtime) => runtime.snapshot(),
            Self::Recorded(recorded) => recorded.snapshot(),
            Self::Fleet(fleet) => fleet.snapshot(),
        }
    }

    /// Returns a number that changes when a task's screen has something new to draw; `None` if there is no screen
    /// yet.
    #[must_use]
    pub fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        match self {
            Self::Runtime(runtime) => runtime.screen_generation(task),
            Self::Fleet(fleet) => fleet.screen_generation(task),
            Self::Recorded(_) => None,
        }
    }

    /// Returns a task's screen, at its pane's width if one was set; `None` while it is busy or in mid-frame.
    #[must_use]
    pub fn screen(&self, task: &TaskId) -> Option<Contents> {
        match self {
            Self::Runtime(runtime) => runtime.screen(task),
            Self::Fleet(fleet) => fleet.screen(task),
            Self::Recorded(_) => None,
        }
    }

    /// Returns the notification for changes of shown screens. Only one task may wait for it.
    #[must_use]
    pub fn screens_changed(&self) -> Arc<Notify> {
        match self {
            Self::Runtime(runtime) => runtime.screens_changed(),
            Self::Recorded(recorded) => recorded.screens_changed(),
            Self::Fleet(fleet) => fleet.screens_changed(),
        }
    }

    /// Sets which tasks have a pane and which one has the focus. Each screen is shown at its program's own size.
    pub fn show(&self, visible: &[TaskId], focus: Option<&TaskId>) {
        let (visible, focus) = (visible.to_vec(), focus.cloned());
        self.show_at(ConsoleView { visible, focus, ..ConsoleView::default() });
    }

    /// Like [`Self::show`], with all that can be said of it.
    pub fn show_at(&self, shown: ConsoleView) {
        match self {
            Self::Runtime(runtime) => runtime.show(shown),
            Self::Fleet(fleet) => fleet.show(shown),
            Self::Recorded(_) => {}
        }
    }

    /// Returns a snapshot of this connection without the notices about this console itself.
    #[must_use]
    pub fn of_others(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        match self {
            Self::Runtime(runtime) => runtime.of_others(snapshot),
            Self::Recorded(_) | Self::Fleet(_) => Arc::clone(snapshot),
        }
    }

    /// Calls a tool as the operator.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, Error> {
        match self.ask(Request::call(tool, input)).await? {
            Reply::Answer(answer) => Ok(answer),
            _ => Err(Error::frame("an unexpected reply")),
        }
    }

    /// Returns the full record of a call, if it is still available.
    pub async fn record(&self, seq: u64) -> Option<Arc<CallRecord>> {
        match self.ask(Request::Record { seq }).await {
            Ok(Reply::Record(record)) => record,
            _ => None,
        }
    }

    /// Sends a request to the runtime; an answer to a card carries the nonce sent with it on this connection.
    ///
    /// # Errors
    /// If the runtime refuses or the connection is lost.
    pub async fn ask(&self, request: Request) -> Result<Reply, Error> {
        self.ask_at(None, request).await
    }

    /// Like [`Self::ask`], for a place; a request that already concerns a place goes there whatever `place` says.
    /// With a single runtime, that runtime is asked.
    ///
    /// # Errors
    /// If the runtime refuses, the connection is lost, or the place is not attached.
    pub async fn ask_at(&self, place: Option<&PlaceId>, request: Request) -> Result<Reply, Error> {
        match self {
            Self::Runtime(runtime) => runtime.ask(request).await,
            Self::Recorded(recorded) => recorded.handle(&request),
            Self::Fleet(fleet) => fleet.ask(place, request).await,
        }
    }
}

impl Successors {
    /// Waits for the next runtime, attaches to it and returns the connection. Starts none.
    pub async fn next(self) -> Operator {
        Operator::Runtime(self.connect().await)
    }
}

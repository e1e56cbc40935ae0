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

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

pub(super) use cards::Card;
pub use connection::ConsoleConnection;
use connection::RuntimeConnection;
pub use fleet::{Fleet, remove_left_copies};
use local::LocalRuntime;
pub use local::answer;
pub(super) use local::decline;
use recorded::PastConnection;
use remote::RemoteRuntime;
pub(super) use screen::{ScreenUpdate, fuzz_screen};
pub use serve::serve;
pub use stopping::{ASKED_FOR, StopRequest, StopRequests};
pub use successor::Successors;
pub(super) use update::{Item, Update};

use super::protocol::{Act, Reply, Request};
use super::{Error, RuntimeRoute};
use crate::envelope::TaskId;
use crate::model::{CallRecord, PlaceId, Subject, TaskView};
use crate::process::own_console_process;
use crate::runtime::Handle;
use crate::runtime::past::Recording;
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
    pub fn local(runtime: Handle, cwd: PathBuf) -> Self {
        Self::Runtime(Arc::new(LocalRuntime::new(runtime, cwd, own_console_process()).issuing_cards()))
    }

    /// Attaches to the runtime at an operator socket and waits for its first snapshot.
    ///
    /// # Errors
    /// If no process listens there, the runtime refuses, or it sends nothing.
    pub async fn attach(socket: &Path, cwd: PathBuf) -> Result<Self, Error> {
        Self::attach_by(&RuntimeRoute::Socket(socket.to_owned()), cwd).await
    }

    /// Attaches to a runtime on any machine, and waits for its first snapshot.
    ///
    /// # Errors
    /// As for [`Operator::attach`]; [`Error::Carried`] if the carrier program does not reach it.
    pub async fn attach_by(way: &RuntimeRoute, cwd: PathBuf) -> Result<Self, Error> {
        RemoteRuntime::attach(way, cwd).await.map(Self::Runtime)
    }

    /// Opens a finished recording.
    pub fn open_recording(recording: &Recording) -> Self {
        Self::Recorded(PastConnection::new(recording))
    }

    /// Returns the name of the recording, if this is a past one.
    pub fn recording(&self) -> Option<&str> {
        match self {
            Self::Recorded(recorded) => Some(recorded.name()),
            _ => None,
        }
    }

    /// Returns the fleet, if this is one.
    pub fn fleet(&self) -> Option<&Fleet> {
        match self {
            Self::Fleet(fleet) => Some(fleet),
            _ => None,
        }
    }

    /// Returns the place of a task, if there are several places.
    pub fn place_of(&self, task: &TaskId) -> Option<PlaceId> {
        self.fleet()?.place_of(task)
    }

    /// Tells whether a task is on another machine.
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

    /// Calls a tool as the operator.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, Error> {
        match self.ask(Request::call(tool, input)).await? {
            Reply::Answer(answer) => Ok(answer),
            _ => Err(Error::unexpected_reply()),
        }
    }

    /// Returns the full record of a call, if it is still available.
    pub async fn record(&self, seq: u64) -> Option<Arc<CallRecord>> {
        match self.ask(Act::Record.on(Subject::Call(seq))).await {
            Ok(Reply::Record(record)) => record,
            _ => None,
        }
    }

    /// Sends a request to the runtime, or to the place that it concerns.
    ///
    /// # Errors
    /// If the runtime refuses or the connection is lost.
    pub async fn ask(&self, request: Request) -> Result<Reply, Error> {
        self.ask_at(None, request).await
    }
}

impl Deref for Operator {
    type Target = dyn ConsoleConnection;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Runtime(runtime) => &**runtime,
            Self::Recorded(recorded) => recorded,
            Self::Fleet(fleet) => fleet,
        }
    }
}

impl Successors {
    /// Waits for the next runtime, attaches to it and returns the connection. Starts none.
    pub async fn next(self) -> Operator {
        Operator::Runtime(self.connect().await)
    }
}

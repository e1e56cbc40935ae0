//! A console's connection: to a runtime in its own process, one attached over the operator socket, a finished
//! recording, or several places at once. All of these have the same methods and behave alike.

mod answers;
mod cards;
mod fleet;
mod liveness;
mod own_notices;
mod recorded;
mod remote;
mod screen;
mod serve;
mod shown;
mod stopping;
mod successor;
mod update;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::DropGuard;

pub(super) use cards::Card;
use cards::{CardId, Cards};
pub use fleet::{Fleet, remove_left_copies};
use recorded::Recorded;
use remote::Remote;
pub(super) use screen::{ScreenUpdate, fuzz_screen};
pub use serve::serve;
pub use stopping::{ASKED_FOR, StopRequest, StopRequests};
pub use successor::Successors;
pub(super) use update::{Item, Update};

use super::protocol::{Reply, Request};
use super::{Error, RuntimeRoute};
use crate::envelope::{Actor, TaskId};
use crate::model::{self, CallRecord, PlaceId, Snapshot, TaskView};
use crate::process::ConsoleProcess;
use crate::runtime::past::Recording;
use crate::runtime::{Handle, LogPart, Viewer};
use crate::terminal::Contents;
use crate::tools::{self, CallAnswer, Caller};

/// The operator's connection to a runtime. Clones share the same connection.
#[derive(Clone)]
pub enum Operator {
    /// A runtime in this process.
    Local(Local),
    /// A runtime in another process of this user.
    Remote(Remote),
    /// A past recording, opened for reading.
    Recorded(Recorded),
    /// Several runtimes, on this and other machines.
    Fleet(Fleet),
}

/// A runtime in this process, with the operator as the actor.
#[derive(Clone)]
pub struct Local {
    runtime: Handle,
    viewer: Arc<Viewer>,
    caller: Caller,
    /// The console process that the person acts through.
    console: Arc<ConsoleProcess>,
    /// The cards it was shown that wait for an answer.
    // A lock, not a message: held for a few map operations, never across an await.
    cards: Arc<Mutex<Cards>>,
    /// The widths of the panes, in columns.
    // A lock, not a message: read for each frame, between two changes by the same thread.
    columns: Arc<Mutex<BTreeMap<TaskId, u16>>>,
    connected: Arc<watch::Sender<bool>>,
    /// Stops the task that issues cards to an embedded console.
    _open: Option<Arc<DropGuard>>,
}

impl Operator {
    /// Connects to a runtime in this process; commands start in `cwd` unless they specify another directory.
    #[must_use]
    pub fn local(runtime: Handle, cwd: PathBuf) -> Self {
        Self::Local(Local::new(runtime, cwd, ConsoleProcess::own()).issuing_cards())
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
        Remote::attach(way, cwd).await.map(Self::Remote)
    }

    /// Opens a finished recording.
    #[must_use]
    pub fn recorded(recording: &Recording) -> Self {
        Self::Recorded(Recorded::new(recording))
    }

    /// Tells whether the runtime is not in this process: it is in another one, or there is none.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        !matches!(self, Self::Local(_))
    }

    /// Returns the name of the recording, if this is a past one.
    #[must_use]
    pub fn recording(&self) -> Option<&str> {
        match self {
            Self::Recorded(recorded) => Some(recorded.name()),
            Self::Local(_) | Self::Remote(_) | Self::Fleet(_) => None,
        }
    }

    /// Returns the fleet, if this is one.
    #[must_use]
    pub fn fleet(&self) -> Option<&Fleet> {
        match self {
            Self::Fleet(fleet) => Some(fleet),
            Self::Local(_) | Self::Remote(_) | Self::Recorded(_) => None,
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
            Self::Remote(remote) => remote.why_lost(),
            Self::Local(_) | Self::Recorded(_) | Self::Fleet(_) => None,
        }
    }

    /// Returns a live view of whether the runtime can be reached: false for good once it is gone.
    #[must_use]
    pub fn connected(&self) -> watch::Receiver<bool> {
        match self {
            Self::Local(local) => local.connected.subscribe(),
            Self::Remote(remote) => remote.connected(),
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
            Self::Local(local) => local.runtime.snapshot(),
            Self::Remote(remote) => remote.snapshot(),
            Self::Recorded(recorded) => recorded.snapshot(),
            Self::Fleet(fleet) => fleet.snapshot(),
        }
    }

    /// Returns a number that changes when a task's screen has something new to draw; `None` if there is no screen
    /// yet.
    #[must_use]
    pub fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        match self {
            Self::Local(local) => local.runtime.screen(task).map(|screen| screen.generation()),
            Self::Remote(remote) => remote.screen_generation(task),
            Self::Fleet(fleet) => fleet.screen_generation(task),
            Self::Recorded(_) => None,
        }
    }

    /// Returns a task's screen, at its pane's width if one was set; `None` while it is busy or in mid-frame.
    #[must_use]
    pub fn screen(&self, task: &TaskId) -> Option<Contents> {
        match self {
            Self::Local(local) => {
                let columns = lock(&local.columns).get(task).copied();
                local.runtime.screen(task)?.contents(columns)
            }
            Self::Remote(remote) => remote.screen(task),
            Self::Fleet(fleet) => fleet.screen(task),
            Self::Recorded(_) => None,
        }
    }

    /// Returns the notification for changes of shown screens. Only one task may wait for it.
    #[must_use]
    pub fn screens_changed(&self) -> Arc<Notify> {
        match self {
            Self::Local(local) => local.viewer.wake(),
            Self::Remote(remote) => remote.screens_changed(),
            Self::Recorded(recorded) => recorded.screens_changed(),
            Self::Fleet(fleet) => fleet.screens_changed(),
        }
    }

    /// Calls a tool as the operator.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, Error> {
        match self.ask(Request::call(tool, input)).await? {
            Reply::Answer(answer) => Ok(answer),
            _ => Err(unexpected()),
        }
    }

    /// Returns the full record of a call, if it is still available.
    pub async fn record(&self, seq: u64) -> Option<Arc<CallRecord>> {
        match self.ask(Request::Record { seq }).await {
            Ok(Reply::Record(record)) => record,
            _ => None,
        }
    }

    /// Returns the nonce of a card that was sent on this connection.
    fn nonce(&self, card: &CardId) -> Option<String> {
        match self {
            Self::Local(local) => local.cards().nonce(card),
            Self::Remote(remote) => remote.nonce(card),
            // Each place has its own nonces.
            Self::Recorded(_) | Self::Fleet(_) => None,
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
    pub async fn ask_at(&self, place: Option<&PlaceId>, mut request: Request) -> Result<Reply, Error> {
        match &mut request {
            Request::Pause { nonce, .. } => *nonce = self.nonce(&CardId::Pause),
            Request::Decide { ticket, nonce, .. } => *nonce = self.nonce(&CardId::Held(*ticket)),
            Request::Answer { question, nonce, .. } | Request::LetAgents { question, nonce, .. } => {
                *nonce = self.nonce(&CardId::Question(question.clone()));
            }
            _ => {}
        }
        match self {
            Self::Local(local) => local.handle(request).await,
            Self::Remote(remote) => remote.ask(request).await,
            Self::Recorded(recorded) => recorded.handle(&request),
            Self::Fleet(fleet) => fleet.ask(place, request).await,
        }
    }
}

impl Local {
    fn new(runtime: Handle, cwd: PathBuf, console: ConsoleProcess) -> Self {
        let caller = Caller::new(Actor::Operator, cwd);
        let viewer = runtime.viewer();
        let (cards, connected) = (Arc::default(), Arc::new(watch::Sender::new(true)));
        let console = Arc::new(console);
        Self { runtime, viewer, caller, console, cards, columns: Arc::default(), connected, _open: None }
    }

    /// Carries out a request.
    async fn handle(&self, request: Request) -> Result<Reply, Error> {
        self.check(&request)?;
        let (Self { runtime, caller, .. }, console) = (self, &*self.console);
        let declined = |error: model::Error| Error::Declined { message: error.to_string() };
        match request {
            Request::Call { tool, input, .. } => {
                return Ok(Reply::Answer(tools::call(runtime, caller, &tool, input).await));
            }
            Request::Send { task, input } => {
                if !matches!(input, model::TypedInput::Report(_)) {
                    self.viewer.types_into(&task);
                }
                return runtime.input(&caller.actor, &task, input).await.map(Reply::Sent).map_err(declined);
            }
            Request::Record { seq } => return Ok(Reply::Record(runtime.call(seq).await)),
            Request::Command { task } => {
                let whole = runtime.task(&task).filter(|task| task.cmd_chars.is_none());
                return Ok(Reply::Command(whole.map(|task| task.cmd.clone())));
            }
            Request::Usage { tasks } => return Ok(Reply::Usage(runtime.usage(tasks).await)),
            Request::Metrics => return Ok(Reply::Metrics(Box::new(runtime.metrics()))),
            Request::Streams { task } => {
                return runtime.streams(&task).await.map(Reply::Streams).map_err(declined);
            }
            Request::Log { task, part, from } => return log_piece(runtime, &task, part, from).await,
            Request::Standing => return Ok(Reply::Standing(runtime.standing())),
            Request::Program(_) => {
                return Err(Error::Declined { message: "a console does not start programs".to_owned() });
            }
            Request::Release { task } => runtime.release(&task).await,
            Request::Dismiss { task } => runtime.dismiss(&task).await,
            Request::Rename { task, name } => runtime.rename(&task, name).await,
            Request::Tell { agent, text } => {
                runtime.tell_agent(console, &agent, &text).await.map_err(declined)?;
            }
            Request::Pause { paused, .. } => runtime.pause(paused, Some(console)).await,
            Request::Decide { ticket, hash, decision, .. } => {
                runtime.decide(ticket, hash, decision, Some(console)).await.map_err(declined)?;
            }
            Request::Answer { question, given, .. } => {
                runtime.answer_at(console, &question, given).await.map_err(declined)?;
            }
            Request::LetAgents { question, may, .. } => {
                runtime.let_agents(&question, may).await.map_err(declined)?;
            }
            Request::Rules { config, rules } => runtime.hand_over(&config, &rules),
            Request::Shutdown { closing } => {
                runtime.shut_down(closing).await;
                self.connected.send_replace(false);
            }
        }
        Ok(Reply::Done)
    }
}

/// Reads a piece of a task's log.
async fn log_piece(runtime: &Handle, task: &TaskId, part: LogPart, from: u64) -> Result<Reply, Error> {
    let declined = |message: String| Error::Declined { message };
    let folder = runtime.task(task).map(|task| task.folder.clone());
    let folder = folder.ok_or_else(|| declined(format!("there is no task {task}")))?;
    let read = tokio::task::spawn_blocking(move || part.read(&folder, from)).await;
    let piece = read.map_err(std::io::Error::other).flatten();
    piece.map(Reply::Log).map_err(|error| declined(format!("read the log of {task}: {error}")))
}

// Nothing that runs under this lock can panic in the middle of a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unexpected() -> Error {
    Error::frame("an unexpected reply")
}

//! A runtime in this process, and what it does on a console's request.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio_util::sync::DropGuard;

use super::cards::Cards;
use super::connection::{ConsoleConnection, PendingReply, with_nonce};
use super::own_notices;
use crate::envelope::{Actor, TaskId};
use crate::link::Error;
use crate::link::protocol::{ConsoleView, Reply, Request};
use crate::model::ConsoleProcess;
use crate::model::{self, PlaceId, ShownCall, Snapshot};
use crate::runtime::{Handle, LogPart, Viewer};
use crate::terminal::Contents;
use crate::tools::{self, Caller};

/// A runtime in this process, with the operator as the actor.
#[derive(Clone)]
pub(super) struct LocalRuntime {
    pub(super) runtime: Handle,
    viewer: Arc<Viewer>,
    caller: Caller,
    /// The console process that the person acts through.
    pub(super) console: Arc<ConsoleProcess>,
    /// The cards it was shown that wait for an answer.
    // A lock, not a message: held for a few map operations, never across an await.
    pub(super) cards: Arc<Mutex<Cards>>,
    /// The widths of the panes, in columns.
    // A lock, not a message: read for each frame, between two changes by the same thread.
    columns: Arc<Mutex<BTreeMap<TaskId, u16>>>,
    connected: Arc<watch::Sender<bool>>,
    /// Stops the task that issues cards to an embedded console.
    pub(super) _open: Option<Arc<DropGuard>>,
}

impl LocalRuntime {
    pub(super) fn new(runtime: Handle, cwd: PathBuf, console: ConsoleProcess) -> Self {
        let caller = Caller::new(Actor::Operator, cwd);
        let viewer = runtime.viewer();
        let (cards, connected) = (Arc::default(), Arc::new(watch::Sender::new(true)));
        let console = Arc::new(console);
        Self { runtime, viewer, caller, console, cards, columns: Arc::default(), connected, _open: None }
    }

    /// Notes what the console shows, but for the widths of the panes.
    pub(super) fn note_shown(&self, shown: &ConsoleView) {
        self.runtime.show(&self.viewer, &shown.visible, shown.focus.as_ref());
        self.viewer.set_colours(shown.colours);
    }

    /// Carries out a request.
    pub(super) async fn handle(&self, request: Request) -> Result<Reply, Error> {
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
            Request::Changes { since } => {
                let report = runtime.changes(since).await;
                let declined = |message| Error::Declined { message };
                return report.map(|report| Reply::Changes(Box::new(report))).map_err(declined);
            }
            Request::Undo(undo) => {
                let report = runtime.undo(&undo, &caller.actor).await;
                return report.map(Reply::Undo).map_err(|message| Error::Declined { message });
            }
            Request::Cost { task } => {
                let message = format!("the command of {task} is not known here in full");
                let said = runtime.cost_of_task(&task).await;
                return said.map(Reply::Cost).ok_or(Error::Declined { message });
            }
            Request::Command { task } => {
                let whole = runtime.task(&task).filter(|task| task.cmd_chars.is_none());
                return Ok(Reply::Command(whole.map(|task| task.cmd.clone())));
            }
            Request::Usage { tasks, listed } => {
                return Ok(Reply::Usage(runtime.usage(tasks, listed).await));
            }
            Request::Metrics => return Ok(Reply::Metrics(Box::new(runtime.metrics()))),
            Request::Streams { task } => {
                return runtime.streams(&task).await.map(Reply::Streams).map_err(declined);
            }
            Request::Log { task, part, from } => return log_piece(runtime, &task, part, from).await,
            Request::Standing => return Ok(Reply::Standing(runtime.standing())),
            Request::Holder { port } => return Ok(Reply::Holder(runtime.holder_of(port))),
            Request::Program(_) => {
                return Err(Error::Declined { message: "a console does not start programs".to_owned() });
            }
            Request::Release { task } => runtime.release(&task).await,
            Request::LetPass { task } => runtime.let_pass(&task).await,
            Request::Dismiss { task } => runtime.dismiss(&task).await,
            Request::Rename { task, name } => runtime.rename(&task, name).await,
            Request::Tell { agent, text } => {
                runtime.tell_agent(console, &agent, &text).await.map_err(declined)?;
            }
            Request::Pause { paused, .. } => runtime.pause(paused, Some(console)).await,
            Request::Decide { ticket, hash, cost, decision, .. } => {
                let shown = ShownCall { ticket, hash, cost: Some(cost) };
                runtime.decide(shown, decision, Some(console)).await.map_err(declined)?;
            }
            Request::Answer { question, cost, given, .. } => {
                runtime.answer_at(console, (&question, cost), given).await.map_err(declined)?;
            }
            Request::LetAgents { question, may, .. } => {
                runtime.let_agents(&question, may).await.map_err(declined)?;
            }
            Request::EndPermissions => runtime.revoke_permissions(console).await,
            Request::Rules { config, rules } => runtime.hand_over(&config, &rules),
            Request::Shutdown { closing } => {
                let unended = runtime.shut_down(closing).await;
                self.connected.send_replace(false);
                return Ok(Reply::Shutdown(unended));
            }
        }
        Ok(Reply::Done)
    }
}

impl ConsoleConnection for LocalRuntime {
    fn is_remote(&self) -> bool {
        false
    }

    fn connected(&self) -> watch::Receiver<bool> {
        self.connected.subscribe()
    }

    fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.runtime.snapshot()
    }

    fn screens_changed(&self) -> Arc<Notify> {
        self.viewer.wake()
    }

    fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        self.runtime.screen(task).map(|screen| screen.generation())
    }

    fn screen(&self, task: &TaskId) -> Option<Contents> {
        let columns = lock(&self.columns).get(task).copied();
        self.runtime.screen(task)?.contents(columns)
    }

    fn show(&self, shown: ConsoleView) {
        self.note_shown(&shown);
        *lock(&self.columns) = shown.columns;
    }

    fn of_others(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        own_notices::without(snapshot, std::process::id())
    }

    fn ask_at<'a>(&'a self, _place: Option<&'a PlaceId>, request: Request) -> PendingReply<'a> {
        Box::pin(self.handle(with_nonce(request, |card| self.cards().nonce(card))))
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

/// Takes a lock. Nothing that runs under one of this room can panic in the middle of a change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

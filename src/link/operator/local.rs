//! A runtime in this process, and what it does on a console's request.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio_util::sync::DropGuard;

use super::cards::Cards;
use super::connection::{ConsoleConnection, PendingReply};
use super::own_notices;
use crate::envelope::{Actor, TaskId};
use crate::link::Error;
use crate::link::protocol::{Act, ConsoleView, Reply, Request};
use crate::model::phrases::no_task;
use crate::model::{self, ConsoleProcess, PlaceId, ShownCall, Snapshot, Subject, UndoRequest};
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

    /// Carries out a request, which carries the nonce of its subject's card, if that has one.
    pub(super) async fn handle(&self, request: Request, nonce: Option<&str>) -> Result<Reply, Error> {
        self.check(&request, nonce)?;
        let (Self { runtime, caller, .. }, console) = (self, &*self.console);
        match (request.subject, request.act) {
            (_, Act::Call { tool, input, .. }) => {
                return Ok(Reply::Answer(tools::call(runtime, caller, &tool, input).await));
            }
            (Subject::Task(task), Act::Send(input)) => {
                if !matches!(input, model::TypedInput::Report(_)) {
                    self.viewer.types_into(&task);
                }
                return runtime.input(&caller.actor, &task, input).await.map(Reply::Sent).or_else(decline);
            }
            (Subject::Call(seq), Act::Record) => return Ok(Reply::Record(runtime.call(seq).await)),
            (since, Act::Changes) => {
                let report = runtime.changes(since).await;
                return report.map(|report| Reply::Changes(Box::new(report))).or_else(decline);
            }
            (Subject::Task(task), Act::Cost) => match runtime.cost_of_task(&task).await {
                Some(said) => return Ok(Reply::Cost(said)),
                None => return decline(format_args!("the command of {task} is not known here in full")),
            },
            (Subject::Task(task), Act::Command) => {
                let whole = runtime.task(&task).filter(|task| task.cmd_chars.is_none());
                return Ok(Reply::Command(whole.map(|task| task.cmd.clone())));
            }
            (Subject::Tasks(tasks), Act::Usage(listed)) => {
                return Ok(Reply::Usage(runtime.usage(tasks, listed).await));
            }
            (Subject::Task(task), Act::Log { part, from }) => {
                return log_piece(runtime, &task, part, from).await;
            }
            (Subject::Task(task), Act::Release) => runtime.release(&task).await,
            (Subject::Task(task), Act::LetPass) => runtime.let_pass(&task).await,
            (Subject::Task(task), Act::Dismiss) => runtime.dismiss(&task).await,
            (Subject::Task(task), Act::Rename(name)) => runtime.rename(&task, name).await,
            (Subject::Agent(agent), Act::Tell(text)) => {
                runtime.tell_agent(console, &agent, &text).await.or_else(decline)?;
            }
            (Subject::Gate, Act::Pause(paused)) => runtime.pause(paused, Some(console)).await,
            (Subject::Held(ticket), Act::Decide { hash, cost, decision }) => {
                let shown = ShownCall { ticket, hash, cost: Some(cost) };
                runtime.decide(shown, decision, Some(console)).await.or_else(decline)?;
            }
            (Subject::Question(question), Act::Answer { cost, given }) => {
                let at = Some((console, cost));
                runtime.answer(&caller.actor, at, &question, given).await.map(drop).or_else(decline)?;
            }
            (Subject::Question(question), Act::LetAgents(may)) => {
                runtime.let_agents(&question, may).await.or_else(decline)?;
            }
            (Subject::Runtime, Act::EndPermissions) => runtime.revoke_permissions(console).await,
            (Subject::Runtime, Act::Rules { config, rules }) => runtime.hand_over(&config, &rules),
            (Subject::Home, Act::Shutdown(closing)) => {
                let unended = runtime.shut_down(closing).await;
                self.connected.send_replace(false);
                return Ok(Reply::Shutdown(unended));
            }
            (subject, act) => return answer(runtime, &caller.actor, act.on(subject)).await,
        }
        Ok(Reply::Done)
    }
}

/// Carries out a request that a script may make too, for this actor.
///
/// # Errors
/// If it may not, or the runtime refuses.
pub async fn answer(runtime: &Handle, by: &Actor, request: Request) -> Result<Reply, Error> {
    match (request.subject, request.act) {
        (Subject::Runtime, Act::Metrics) => Ok(Reply::Metrics(Box::new(runtime.metrics()))),
        (Subject::Runtime, Act::Standing) => Ok(Reply::Standing(runtime.status_counts())),
        (Subject::Runtime, Act::Holder(port)) => Ok(Reply::Holder(runtime.holder_of(port))),
        (Subject::Task(task), Act::Streams) => {
            runtime.streams(&task).await.map(Reply::Streams).or_else(decline)
        }
        // What runs in a task works on the files itself.
        (Subject::Task(_), Act::Undo { .. }) if runtime.is_within() => {
            decline("a command does not undo another one")
        }
        (Subject::Task(task), Act::Undo { is_redo, is_dry }) => {
            let undo = UndoRequest { task, is_redo, is_dry };
            runtime.undo(&undo, by).await.map(Reply::Undo).or_else(decline)
        }
        _ => decline("this cannot be asked here"),
    }
}

impl ConsoleConnection for LocalRuntime {
    fn is_remote(&self) -> bool {
        false
    }

    fn link_state(&self) -> watch::Receiver<bool> {
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
        let nonce = self.cards().nonce(&request.subject);
        Box::pin(async move { self.handle(request, nonce.as_deref()).await })
    }
}

/// Reads a piece of a task's log.
async fn log_piece(runtime: &Handle, task: &TaskId, part: LogPart, from: u64) -> Result<Reply, Error> {
    let Some(folder) = runtime.task(task).map(|task| task.folder.clone()) else {
        return decline(format_args!("{}", no_task(task)));
    };
    let read = tokio::task::spawn_blocking(move || part.read(&folder, from)).await;
    let piece = read.map_err(std::io::Error::other).flatten();
    piece.map(Reply::Log).or_else(|error| decline(format_args!("read the log of {task}: {error}")))
}

/// Returns the refusal of a request.
pub(in crate::link) fn decline<T>(why: impl std::fmt::Display) -> Result<T, Error> {
    Err(Error::Declined { message: why.to_string() })
}

/// Takes a lock. Nothing that runs under one of this room can panic in the middle of a change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

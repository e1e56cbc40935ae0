//! Carries out the effects that the console decided on: requests, pages, files. Each runs alongside the loop
//! and its result comes back as a message; typed input is sent in the order it was typed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Fuse, FusedFuture as _};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::envelope::TaskId;
use crate::link::{Act, Error, Operator, Reply, Request};
use crate::model::{CloseReason, PlaceId, Subject, TypedInput, UndoRequest};
use crate::tools::CallAnswer;

use crate::console::effect::{Effect, Notification};
use crate::console::io::clipboard;
use crate::console::io::files::{self, Made};
use crate::console::io::hook::{self, Hooks};
use crate::console::io::pages::Player;
use crate::console::msg::Msg;
use crate::console::state::{FileName, call_name};

/// Maximum number of inputs queued for the runtime.
const KEYS_AHEAD: usize = 256;
/// Maximum number of messages queued for the loop.
const NEWS_AHEAD: usize = 64;

/// How long to wait for a started task to be listed.
const LISTED: Duration = Duration::from_secs(5);

/// Sends what is typed, in its order; polled by the loop itself.
pub(super) type Typist = Fuse<BoxFuture<'static, ()>>;

/// The work that runs alongside the loop.
pub(in crate::console) struct Effects {
    pub(super) operator: Operator,
    clipboard: Vec<clipboard::Tool>,
    pub(super) player: Arc<Player>,
    /// The folder for exported files.
    folder: Option<PathBuf>,
    pub(super) running: JoinSet<Option<Msg>>,
    hooks: Hooks,
    pub(super) typed: mpsc::Sender<(TaskId, TypedInput)>,
    pub(super) typist: Typist,
    refusals: mpsc::Receiver<Msg>,
    pub(super) news: mpsc::Sender<Msg>,
    /// Ends once the words that were sent last are with their agent.
    telling: Option<oneshot::Receiver<()>>,
}

impl Effects {
    /// Creates an idle instance.
    pub(in crate::console) fn new(
        operator: Operator,
        clipboard: Vec<clipboard::Tool>,
        folder: Option<PathBuf>,
    ) -> Self {
        let (news, refusals) = mpsc::channel(NEWS_AHEAD);
        let (typed, typist) = typist(operator.clone(), news.clone());
        let running = JoinSet::new();
        let player = Arc::default();
        let hooks = Hooks::default();
        let telling = None;
        Self { operator, clipboard, player, folder, running, hooks, typed, typist, refusals, news, telling }
    }

    /// Returns the message of the next finished job that has one; most have none.
    pub(in crate::console) async fn next(&mut self) -> Msg {
        loop {
            let said = tokio::select! {
                Some(refused) = self.refusals.recv() => Some(refused),
                () = &mut self.typist, if !self.typist.is_terminated() => None,
                Some(done) = self.running.join_next() => match done {
                    Ok(msg) => msg,
                    Err(error) => Some(Msg::Failed(format!("a job of the console broke off: {error}"))),
                },
                else => std::future::pending().await,
            };
            if let Some(msg) = said {
                return msg;
            }
        }
    }

    /// Sends a request to the runtime; typed input is queued behind earlier input. Returns a message if there
    /// is one right away.
    pub(in crate::console) fn ask(&mut self, place: Option<PlaceId>, request: Request) -> Option<Msg> {
        if let Request { subject: Subject::Task(task), act: Act::Send(input) } = request {
            let full = self.typed.try_send((task.clone(), input)).is_err();
            // On its way at once, on this thread: no other one has to wake for a key, and no frame comes before it. The
            // loop waits for what is left of it.
            let _ = (&mut self.typist).now_or_never();
            return full.then(|| Msg::Refused(task, "it does not keep up with the keys".to_owned()));
        }
        let operator = self.operator.clone();
        let (is_told, told) = oneshot::channel::<()>();
        // What follows words, as a stop does, finds them with their agent.
        let before = self.telling.take();
        self.telling = matches!(request.act, Act::Tell(_)).then_some(told);
        self.running.spawn(async move {
            if let Some(told) = before {
                let _ = told.await;
            }
            let answer = ask(&operator, place.as_ref(), request).await;
            drop(is_told);
            answer
        });
        None
    }

    /// Reruns the command of a task; the runtime keeps the full command for a while.
    pub(in crate::console) fn rerun(&mut self, task: TaskId, mut input: Value) {
        let operator = self.operator.clone();
        let place = operator.place_of(&task);
        self.running.spawn(async move {
            match operator.ask(Act::Command.on(task)).await {
                Ok(Reply::Command(Some(cmd))) => {
                    input["cmd"] = cmd.into();
                    ask(&operator, place.as_ref(), Request::call("ExecCommand", input)).await
                }
                Ok(_) => {
                    let why = "its command is too long ago to start it again: the record has it";
                    Some(Msg::Failed(why.into()))
                }
                Err(error) => Some(Msg::Failed(failure("ExecCommand", &error))),
            }
        });
    }

    /// Runs a job alongside the loop.
    pub(in crate::console) fn spawn(&mut self, job: impl Future<Output = Option<Msg>> + Send + 'static) {
        self.running.spawn(job);
    }

    /// Draws a screen of a replay.
    pub(in crate::console) fn play(&mut self, task: TaskId, place: usize, marks: usize) {
        let player = Arc::clone(&self.player);
        self.running.spawn_blocking(move || player.draw(task, place, marks));
    }

    /// Passes text to the available clipboard tools, after the terminal was asked to copy it if it accepts
    /// that much.
    pub(in crate::console) fn copy(&mut self, text: String, what: String, was_asked: bool) {
        let tools = self.clipboard.clone();
        self.running.spawn(async move {
            let took = clipboard::hand_over(&text, &tools).await;
            let ways = was_asked.then_some("OSC 52").into_iter().chain(took).collect();
            Some(Msg::Copied(what, ways))
        });
    }

    /// Writes text to a new file.
    pub(in crate::console) fn keep(&mut self, file: FileName, text: String) {
        let folder = self.folder.clone();
        self.running.spawn_blocking(move || Some(files::save(folder.as_deref(), &file, Ok(text))));
    }

    /// Exports a task's output to a new file; a recording includes what agents typed, where the call records
    /// still have it.
    pub(in crate::console) fn keep_task(&mut self, made: Made) {
        let (operator, folder) = (self.operator.clone(), self.folder.clone());
        self.running.spawn(async move {
            let mut records = Vec::new();
            for seq in &made.inputs {
                records.extend(operator.record(*seq).await);
            }
            if let Err(error) = operator.copy_log(&made.task).await {
                return Some(Msg::Failed(format!("copy the log of the task: {error}")));
            }
            let make = move || Some(files::save(folder.as_deref(), &made.file, made.make(&records)));
            match tokio::task::spawn_blocking(make).await {
                Ok(msg) => msg,
                Err(error) => Some(Msg::Failed(format!("make the file: {error}"))),
            }
        });
    }

    /// Runs the user's notification program for an item that needs them.
    pub(in crate::console) fn notify(&mut self, program: &[String], news: Notification) {
        if !program.is_empty() {
            let workspace = self.workspace_of(&news);
            let withdrawn = self.hooks.begin(&news);
            self.running.spawn(hook::run(program.to_vec(), news, workspace, withdrawn));
        }
    }

    /// Returns the workspace that an item belongs to: with several places, that of its place.
    fn workspace_of(&self, news: &Notification) -> PathBuf {
        let snapshots = self.operator.snapshot();
        let snapshot = snapshots.borrow();
        snapshot.place_in(&news.name).map_or(&snapshot.workspace, |place| &place.workspace).clone()
    }

    /// Ends the user's notification program for an item that no longer waits.
    pub(in crate::console) fn withdraw(&mut self, id: &str) {
        self.hooks.withdraw(id);
    }

    /// Stops all tasks and ends the runtime; the link ends with it.
    pub(in crate::console) fn shut_down(&mut self) {
        let operator = self.operator.clone();
        self.running.spawn(async move { Some(shut_down(&operator).await) });
    }
}

/// Sends a request to the runtime and returns the message its reply results in, if any.
pub async fn ask(operator: &Operator, place: Option<&PlaceId>, request: Request) -> Option<Msg> {
    let reply = operator.ask_at(place, request.clone()).await;
    match ((request.subject, request.act), reply) {
        (_, Ok(Reply::Answer(answer))) => Some(Msg::Answered(Box::new(answer))),
        ((Subject::Task(task), _), Ok(Reply::Sent(sent))) => {
            sent.rejection.map(|rejection| Msg::Refused(task, rejection.message))
        }
        ((Subject::Task(task), Act::Send(_)), Err(error)) => Some(Msg::Refused(task, error.to_string())),
        ((Subject::Question(question), Act::Answer { .. }), reply) => {
            Some(Msg::AnswerTaken(question, reply.err().map(|error| error.to_string())))
        }
        // A lost runtime is reported elsewhere.
        ((_, Act::Usage(_)), Err(_)) => Some(Msg::Usage(Vec::new())),
        (_, Ok(Reply::Usage(usage))) => Some(Msg::Usage(usage)),
        (_, Ok(Reply::Record(record))) => record.map(Msg::Record),
        ((since, _), Ok(Reply::Changes(report))) => Some(Msg::Changes(since, report)),
        ((Subject::Task(task), _), Ok(Reply::Cost(said))) => Some(Msg::Cost(task, said)),
        ((Subject::Task(task), Act::Undo { is_redo, is_dry }), Ok(Reply::Undo(report))) => {
            Some(Msg::Undo(UndoRequest { task, is_redo, is_dry }, Box::new(report)))
        }
        ((_, Act::Record), Err(_)) | (_, Ok(_)) => None,
        ((_, act), Err(error)) => Some(Msg::Failed(failure(purpose(&act), &error))),
    }
}

/// Carries out an effect like [`Effects`], but for the plain-line console, which reads no further line until
/// it is done: whatever precedes a `quit` is either carried out or visibly refused. Effects that concern the
/// screen do nothing here.
pub(super) async fn carry_out(operator: Operator, effect: Effect) -> Option<Msg> {
    match effect {
        Effect::Ask(request) => ask_to_the_end(&operator, None, request).await,
        Effect::AskAt(place, request) => ask_to_the_end(&operator, Some(&place), request).await,
        Effect::Quit(_) => Some(shut_down(&operator).await),
        _ => None,
    }
}

/// Sends a request to the runtime and waits until its result is visible here.
async fn ask_to_the_end(operator: &Operator, place: Option<&PlaceId>, request: Request) -> Option<Msg> {
    if let Request { subject: Subject::Call(seq), act: Act::Record } = request {
        return Some(record(operator, seq).await);
    }
    let msg = ask(operator, place, request).await;
    if let Some(Msg::Answered(answer)) = &msg {
        is_listed(operator, answer).await;
    }
    msg
}

/// Asks for the record of a call; says why there is none.
async fn record(operator: &Operator, seq: u64) -> Msg {
    match operator.ask(Act::Record.on(Subject::Call(seq))).await {
        Ok(Reply::Record(Some(record))) => Msg::Record(record),
        Err(Error::Declined { message }) => Msg::Failed(message),
        Ok(_) | Err(_) => {
            let name = call_name(&operator.snapshot().borrow().places, seq);
            Msg::Failed(format!("there is no call {name}"))
        }
    }
}

/// Stops all tasks and ends the runtime; the link ends with it.
async fn shut_down(operator: &Operator) -> Msg {
    let closing = if operator.is_remote() { CloseReason::OperatorEnded } else { CloseReason::ConsoleClosed };
    match operator.ask(Act::Shutdown(closing).on(Subject::Home)).await {
        Ok(_) => Msg::Stopped,
        Err(error) => Msg::Failed(error.to_string()),
    }
}

/// Waits until a started task appears in the snapshot, so that a `quit` right behind it counts the task.
async fn is_listed(operator: &Operator, answer: &CallAnswer) {
    let Some(task) = answer.started_task() else { return };
    let mut snapshots = operator.snapshot();
    let listed = snapshots.wait_for(|snapshot| snapshot.tasks.iter().any(|known| known.id == task));
    // A lost runtime is reported elsewhere.
    let _ = tokio::time::timeout(LISTED, listed).await;
}

/// Describes the purpose of an act that may fail in sight of the person.
fn purpose(act: &Act) -> &str {
    match act {
        Act::Call { tool, .. } => tool,
        Act::Pause(_) => "pause agent calls",
        Act::Decide { .. } => "answer the call",
        Act::LetAgents(_) => "let agents answer",
        Act::Release => "give the turn back",
        Act::LetPass => "let the task pass",
        Act::Dismiss => "take the task off the list",
        Act::Tell(_) => "tell the agent",
        Act::Rename(_) => "name the task",
        Act::Changes => "see what differs",
        Act::Cost => "look what it would cost",
        Act::Undo { .. } => "undo the task",
        Act::EndPermissions => "end what is permitted",
        _ => "ask the runtime",
    }
}

/// Describes a failure; for a read-only recording, the error speaks for itself.
fn failure(what: &str, error: &Error) -> String {
    match error {
        Error::ReadOnly => error.to_string(),
        _ => format!("{what}: {error}"),
    }
}

/// Returns where typed input for a runtime goes, and what sends it.
pub(super) fn typist(
    operator: Operator,
    news: mpsc::Sender<Msg>,
) -> (mpsc::Sender<(TaskId, TypedInput)>, Typist) {
    let (typed, keys) = mpsc::channel(KEYS_AHEAD);
    (typed, type_in_order(operator, keys, news).boxed().fuse())
}

/// Sends typed input in order; consecutive queued keys for the same task are sent together.
async fn type_in_order(
    operator: Operator,
    mut keys: mpsc::Receiver<(TaskId, TypedInput)>,
    news: mpsc::Sender<Msg>,
) {
    let mut waiting: Option<(TaskId, TypedInput)> = None;
    loop {
        let Some((task, mut input)) = (match waiting.take() {
            Some(next) => Some(next),
            None => keys.recv().await,
        }) else {
            return;
        };
        while let Ok((other, more)) = keys.try_recv() {
            match (&mut input, more) {
                (TypedInput::Keys(keys), TypedInput::Keys(more)) if other == task => keys.extend(more),
                (_, more) => {
                    waiting = Some((other, more));
                    break;
                }
            }
        }
        let refused = ask(&operator, None, Act::Send(input).on(task)).await;
        // The loop has ended: nobody is left to receive this.
        if let Some(refused) = refused
            && news.send(refused).await.is_err()
        {
            return;
        }
    }
}

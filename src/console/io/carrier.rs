//! Carries out what the console decided: calls, typing, pages. Each runs beside the loop and comes back
//! as a message; what is typed goes out in the order it was typed.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::envelope::{Envelope, Outcome, TaskId};
use crate::link::{Operator, Request};
use crate::runtime::{Given, Input, QuestionId, TaskView, past};
use crate::terminal::Size;

use super::clipboard;
use super::files::{self, Made};
use super::hook::{self, Hooks};
use super::pages::{self, Player};
use crate::console::app::coverage::ShownCommand;
use crate::console::app::export::FileName;
use crate::console::app::search::Query;
use crate::console::msg::{Anchor, Answered, Msg, News};

/// Keys that may wait for the runtime.
const KEYS_AHEAD: usize = 256;
/// Answers that may wait for the loop.
const NEWS_AHEAD: usize = 64;

/// Past recordings listed.
const MOST_RECORDINGS: usize = 50;

/// What runs beside the loop.
pub(in crate::console) struct Carrier {
    operator: Operator,
    clipboard: Vec<clipboard::Tool>,
    player: Arc<Player>,
    /// Where files go.
    folder: Option<PathBuf>,
    running: JoinSet<Option<Msg>>,
    hooks: Hooks,
    typed: mpsc::Sender<(TaskId, Input)>,
    refusals: mpsc::Receiver<Msg>,
}

impl Carrier {
    /// Starts carrying for an operator.
    pub(in crate::console) fn new(
        operator: Operator,
        clipboard: Vec<clipboard::Tool>,
        folder: Option<PathBuf>,
    ) -> Self {
        let (typed, keys) = mpsc::channel(KEYS_AHEAD);
        let (news, refusals) = mpsc::channel(NEWS_AHEAD);
        let mut running = JoinSet::new();
        let typist = type_in_order(operator.clone(), keys, news);
        running.spawn(async move {
            typist.await;
            None
        });
        let player = Arc::default();
        let hooks = Hooks::default();
        Self { operator, clipboard, player, folder, running, hooks, typed, refusals }
    }

    /// Returns what the next finished job has to say; most have nothing to say.
    pub(in crate::console) async fn next(&mut self) -> Msg {
        loop {
            let said = tokio::select! {
                Some(refused) = self.refusals.recv() => Some(refused),
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

    /// Calls a tool.
    pub(in crate::console) fn call(&mut self, tool: &'static str, input: Value) {
        let operator = self.operator.clone();
        self.running.spawn(async move { Some(call(&operator, tool, input).await) });
    }

    /// Starts the command of a task again; the runtime has the whole of it, for a while.
    pub(in crate::console) fn rerun(&mut self, task: TaskId, mut input: Value) {
        let operator = self.operator.clone();
        self.running.spawn(async move {
            Some(match operator.command(&task).await {
                Ok(Some(cmd)) => {
                    input["cmd"] = cmd.into();
                    call(&operator, "ExecCommand", input).await
                }
                Ok(None) => {
                    Msg::Failed("its command is too long ago to start it again: the record has it".into())
                }
                Err(error) => Msg::Failed(said("ExecCommand", &error)),
            })
        });
    }

    /// Types into a task, after what was typed before.
    pub(in crate::console) fn send(&self, task: TaskId, input: Input) -> Option<Msg> {
        let full = self.typed.try_send((task.clone(), input)).is_err();
        full.then(|| Msg::Refused(task, "it does not keep up with the keys".to_owned()))
    }

    /// Looks what tasks use.
    pub(in crate::console) fn look(&mut self, tasks: Vec<TaskId>) {
        let operator = self.operator.clone();
        // A runtime that has gone is told of elsewhere.
        self.running.spawn(async move { Some(Msg::Usage(operator.usage(tasks).await.unwrap_or_default())) });
    }

    /// Asks the runtime for something, and says when it could not be done.
    pub(in crate::console) fn ask(&mut self, request: Request) {
        let operator = self.operator.clone();
        self.running.spawn(async move { ask(&operator, request).await });
    }

    /// Answers a question.
    pub(in crate::console) fn answer(&mut self, question: QuestionId, given: Given) {
        let operator = self.operator.clone();
        self.running.spawn(async move {
            let refused = operator.answer(&question, given).await.err();
            Some(Msg::AnswerTaken(question, refused.map(|error| error.to_string())))
        });
    }

    /// Fetches a call record.
    pub(in crate::console) fn fetch(&mut self, seq: u64) {
        let operator = self.operator.clone();
        self.running.spawn(async move { operator.record(seq).await.map(Msg::Record) });
    }

    /// Reads a page of a task's log.
    pub(in crate::console) fn page(&mut self, task: Arc<TaskView>, anchor: Anchor, size: Size) {
        self.running.spawn_blocking(move || match pages::read(&task, anchor, size) {
            Ok(page) => Some(Msg::Page(task.id.clone(), page)),
            // A task that never started has no log, and that is no news.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Msg::Failed(format!("read the log of the task: {error}"))),
        });
    }

    /// Opens the log of a task that is to be played again.
    pub(in crate::console) fn replay(&mut self, task: Arc<TaskView>) {
        let player = Arc::clone(&self.player);
        self.running.spawn_blocking(move || Some(player.open(&task)));
    }

    /// Reads what an answer may have shown of commands.
    pub(in crate::console) fn seen(&mut self, call: u64, shown: Vec<(ShownCommand, Option<Arc<TaskView>>)>) {
        self.running.spawn_blocking(move || {
            Some(match pages::seen(shown) {
                Ok(commands) => Msg::Coverage(call, commands),
                Err(why) => Msg::Failed(format!("what the agent saw: {why}")),
            })
        });
    }

    /// Draws a screen of the task that is played again.
    pub(in crate::console) fn play(&mut self, task: TaskId, place: usize, marks: usize) {
        let player = Arc::clone(&self.player);
        self.running.spawn_blocking(move || player.draw(task, place, marks));
    }

    /// Searches a task's log.
    pub(in crate::console) fn search(&mut self, task: Arc<TaskView>, query: Query) {
        self.running.spawn_blocking(move || match pages::search(&task, &query) {
            Ok(line) => Some(Msg::Found(task.id.clone(), query, line)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(Msg::Found(task.id.clone(), query, None))
            }
            Err(error) => Some(Msg::Failed(format!("search the log of the task: {error}"))),
        });
    }

    /// Looks for a prompt in a task's log.
    pub(in crate::console) fn prompt(&mut self, task: Arc<TaskView>, from: Option<u64>, forward: bool) {
        self.running.spawn_blocking(move || match pages::prompt(&task, from, forward) {
            Ok(line) => Some(Msg::Prompt { task: task.id.clone(), line, forward }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(Msg::Prompt { task: task.id.clone(), line: None, forward })
            }
            Err(error) => Some(Msg::Failed(format!("look for prompts in the log of the task: {error}"))),
        });
    }

    /// Hands text to the clipboard tools there are, after the terminal was asked if it takes that much.
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
        self.running.spawn_blocking(move || Some(files::told(folder.as_deref(), &file, Ok(text))));
    }

    /// Writes what a task wrote to a new file; a recording has what agents typed, where their calls still tell.
    pub(in crate::console) fn keep_task(&mut self, made: Made) {
        let (operator, folder) = (self.operator.clone(), self.folder.clone());
        self.running.spawn(async move {
            let mut records = Vec::new();
            for seq in &made.inputs {
                records.extend(operator.record(*seq).await);
            }
            let make = move || Some(files::told(folder.as_deref(), &made.file, made.make(&records)));
            match tokio::task::spawn_blocking(make).await {
                Ok(msg) => msg,
                Err(error) => Some(Msg::Failed(format!("make the file: {error}"))),
            }
        });
    }

    /// Reads what the last command of a task printed.
    pub(in crate::console) fn last_output(&mut self, task: Arc<TaskView>) {
        self.running.spawn_blocking(move || match pages::last_output(&task) {
            Ok((text, is_marked)) => Some(Msg::LastOutput(text, is_marked)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(Msg::LastOutput(String::new(), false))
            }
            Err(error) => Some(Msg::Failed(format!("read the log of the task: {error}"))),
        });
    }

    /// Lists the recordings of a workspace that are over, newest first; `own` is the one shown.
    pub(in crate::console) fn recordings(&mut self, own: PathBuf, workspace: PathBuf) {
        self.running.spawn_blocking(move || {
            let folder = own.parent()?;
            let listed = past::list(folder, Some(&workspace)).into_iter().rev();
            let over = listed.filter(|listed| !listed.live && listed.folder != own);
            Some(Msg::Recordings(over.map(|listed| listed.name).take(MOST_RECORDINGS).collect()))
        });
    }

    /// Runs the person's program and tells it what needs them.
    pub(in crate::console) fn notify(&mut self, program: &[String], news: News) {
        let workspace = self.operator.snapshot().borrow().workspace.clone();
        if !program.is_empty() {
            let withdrawn = self.hooks.begin(&news);
            self.running.spawn(hook::run(program.to_vec(), news, workspace, withdrawn));
        }
    }

    /// Ends the person's program for what waits no longer.
    pub(in crate::console) fn withdraw(&mut self, id: &str) {
        self.hooks.withdraw(id);
    }

    /// Stops all tasks and ends the runtime; the link goes with it.
    pub(in crate::console) fn shut_down(&mut self) {
        let operator = self.operator.clone();
        self.running.spawn(async move { Some(super::orders::shut_down(&operator).await) });
    }
}

async fn call(operator: &Operator, tool: &'static str, input: Value) -> Msg {
    match operator.call(tool, input).await {
        Ok(answer) => Msg::Answered(answered(tool, answer.seq, &answer.envelope)),
        Err(error) => Msg::Failed(said(tool, &error)),
    }
}

/// Asks the runtime for something and returns what the person is told when it could not be done.
pub(super) async fn ask(operator: &Operator, request: Request) -> Option<Msg> {
    let what = match &request {
        Request::Pause { .. } => "pause agent calls",
        Request::Decide { .. } => "answer the call",
        Request::LetAgents { .. } => "let agents answer",
        Request::Release { .. } => "give the input back",
        Request::Dismiss { .. } => "take the task off the list",
        Request::Rename { .. } => "name the task",
        _ => "ask the runtime",
    };
    operator.ask(request).await.err().map(|error| Msg::Failed(said(what, &error)))
}

/// Says what did not work; that nothing can be done to a recording needs no more words.
pub(super) fn said(what: &str, error: &crate::link::Error) -> String {
    match error {
        crate::link::Error::ReadOnly => error.to_string(),
        _ => format!("{what}: {error}"),
    }
}

pub(super) fn answered(tool: &str, seq: u64, envelope: &Envelope) -> Answered {
    let result = envelope.result();
    let text = |pointer| result.and_then(|value| value.pointer(pointer)).and_then(Value::as_str);
    let refused = result.and_then(|value| value.get("accepted_input")) == Some(&Value::Bool(false));
    let why = text("/rejection/message").filter(|_| refused);
    let message = match envelope.outcome() {
        Outcome::Error(error) => Some(error.message.as_str()),
        Outcome::Success(_) => None,
    };
    Answered {
        seq,
        tool: tool.to_owned(),
        text: message.or(why).unwrap_or(envelope.summary_text()).to_owned(),
        is_error: envelope.is_error() || refused,
        started: text("/task_handle/task_id")
            .and_then(|id| id.parse().ok())
            .filter(|_| tool == "ExecCommand"),
    }
}

/// Types what comes, one after the other; keys for the same task that wait together go together.
async fn type_in_order(
    operator: Operator,
    mut keys: mpsc::Receiver<(TaskId, Input)>,
    news: mpsc::Sender<Msg>,
) {
    let mut waiting: Option<(TaskId, Input)> = None;
    loop {
        let Some((task, mut input)) = (match waiting.take() {
            Some(next) => Some(next),
            None => keys.recv().await,
        }) else {
            return;
        };
        while let Ok((other, more)) = keys.try_recv() {
            match (&mut input, more) {
                (Input::Keys(keys), Input::Keys(more)) if other == task => keys.extend(more),
                (_, more) => {
                    waiting = Some((other, more));
                    break;
                }
            }
        }
        let refusal = match operator.send(&task, input).await {
            Ok(outcome) => outcome.rejection.map(|rejection| rejection.message),
            Err(error) => Some(error.to_string()),
        };
        // With the loop gone nobody is left to be told.
        if let Some(reason) = refusal
            && news.send(Msg::Refused(task, reason)).await.is_err()
        {
            return;
        }
    }
}

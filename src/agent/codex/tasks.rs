//! The processes that run as tasks, as seen by the rest of the conversation.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::message::{
    INTERNAL, INVALID_PARAMS, INVALID_REQUEST, ProcessMessage, ReadParams, SignalParams, WriteParams, decode,
    error, params, result,
};
use super::process::CodexProcess;
use crate::link::ShellInput;

/// Orders to a process that may be queued before they are passed on.
const ORDERS: usize = 64;
/// How long an ended process may still be queried.
const REMEMBERED: Duration = Duration::from_secs(30);

/// The error for input to a process that has ended.
pub(super) const NO_INPUT: &str = "failed to write to process stdin";

/// The processes that are tasks, by name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct CodexTasks(Arc<Mutex<HashMap<String, Arc<CodexTask>>>>);

/// One such process.
#[derive(Debug)]
pub(super) struct CodexTask {
    process: Mutex<CodexProcess>,
    news: watch::Sender<()>,
    orders: mpsc::Sender<TaskOrder>,
    has_begun: AtomicBool,
    /// Orders that have not been passed on to the runtime yet.
    untold: AtomicUsize,
    input: ShellInput,
}

/// An order to be passed on to the runtime.
#[derive(Debug)]
pub(super) enum TaskOrder {
    /// Input, in base64; the request with this id is answered once it is delivered.
    Type {
        id: Option<Value>,
        bytes: String,
    },
    Interrupt,
    /// A request to kill the process.
    Kill,
}

/// How a message about a process was handled.
#[derive(Debug)]
pub(super) enum MessageReply {
    /// Answered with this line.
    Answer(Vec<u8>),
    /// To be answered once there is news or its timeout expires.
    Wait(Arc<CodexTask>, Value, ReadParams),
    /// Passed on; answered later by the recipient, or not at all.
    Passed,
    /// Left to the server to answer.
    Unknown,
}

impl CodexTasks {
    /// Adds a process; `None` if the name is taken.
    pub(super) fn add(
        &self,
        name: &str,
        input: ShellInput,
    ) -> Option<(Arc<CodexTask>, mpsc::Receiver<TaskOrder>)> {
        let mut processes = self.lock();
        if processes.contains_key(name) {
            return None;
        }
        let (orders, inbox) = mpsc::channel(ORDERS);
        let task = Arc::new(CodexTask {
            process: Mutex::new(CodexProcess::new(name)),
            news: watch::Sender::default(),
            orders,
            has_begun: AtomicBool::new(false),
            untold: AtomicUsize::new(0),
            input,
        });
        processes.insert(name.to_owned(), task.clone());
        Some((task, inbox))
    }

    /// Removes a process that turned out not to run as a task.
    pub(super) fn remove(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Removes a process that has ended, after a delay.
    pub(super) async fn forget(self, name: String) {
        tokio::time::sleep(REMEMBERED).await;
        self.remove(&name);
    }

    /// Returns whether all of Codex's orders have reached the runtime.
    pub(super) fn are_told(&self) -> bool {
        self.lock().values().all(|task| task.untold.load(Ordering::Acquire) == 0)
    }

    /// Handles a message about one of these processes; `None` if it is about another.
    pub(super) fn handle(&self, about: &ProcessMessage, line: &[u8]) -> Option<MessageReply> {
        let task = self.lock().get(&about.process)?.clone();
        Some(task.handle(about, line).unwrap_or_else(|(code, message)| match &about.id {
            Some(id) => MessageReply::Answer(error(id, code, &message)),
            None => MessageReply::Passed,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<CodexTask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CodexTask {
    pub(super) fn process(&self) -> MutexGuard<'_, CodexProcess> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes all reads that wait for news.
    pub(super) fn tell(&self) {
        self.news.send_replace(());
    }

    /// Marks the process as running or waiting for approval: from now on it may be queried.
    pub(super) fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
    }

    fn handle(self: Arc<Self>, about: &ProcessMessage, line: &[u8]) -> Result<MessageReply, (i32, String)> {
        let broken = |message| (INVALID_PARAMS, message);
        let id = about.id.clone().unwrap_or_default();
        let answer = |value: Value| Ok(MessageReply::Answer(result(&id, &value)));
        let has_begun = self.has_begun.load(Ordering::Acquire);
        match about.method.as_str() {
            "process/start" => Err((INVALID_REQUEST, format!("process {} already exists", about.process))),
            "process/read" if !has_begun => {
                Err((INVALID_REQUEST, format!("process id {} is starting", about.process)))
            }
            "process/read" => Ok(MessageReply::Wait(self, id, params(line).map_err(broken)?)),
            "process/write" => {
                let WriteParams { chunk } = params(line).map_err(broken)?;
                decode(&chunk).map_err(|error| broken(error.to_string()))?;
                if !has_begun {
                    answer(json!({ "status": "starting" }))
                } else if self.input == ShellInput::Descriptor {
                    answer(json!({ "status": "stdinClosed" }))
                } else if self.process().has_exited() {
                    Err((INTERNAL, NO_INPUT.to_owned()))
                } else {
                    self.pass(TaskOrder::Type { id: about.id.clone(), bytes: chunk })
                }
            }
            "process/signal" => {
                let SignalParams { signal } = params(line).map_err(broken)?;
                if signal != "interrupt" {
                    return Err((INVALID_REQUEST, format!("unknown signal {signal}")));
                }
                if !self.process().has_exited() {
                    self.pass(TaskOrder::Interrupt)?;
                }
                answer(json!({}))
            }
            "process/terminate" if self.process().has_exited() => answer(json!({ "running": false })),
            "process/terminate" => {
                self.pass(TaskOrder::Kill)?;
                answer(json!({ "running": true }))
            }
            _ => Ok(MessageReply::Unknown),
        }
    }

    fn pass(&self, order: TaskOrder) -> Result<MessageReply, (i32, String)> {
        self.untold.fetch_add(1, Ordering::AcqRel);
        let sent = self.orders.try_send(order);
        sent.map_err(|_| {
            self.record_order();
            (INTERNAL, "the process cannot take more input right now".to_owned())
        })?;
        Ok(MessageReply::Passed)
    }

    /// Records that an order has been passed on to the runtime.
    pub(super) fn record_order(&self) {
        self.untold.fetch_sub(1, Ordering::AcqRel);
    }

    /// Answers a read as soon as there is news, or when its timeout expires.
    pub(super) async fn read(&self, asked: ReadParams) -> Value {
        let until = Instant::now() + Duration::from_millis(asked.wait_ms.unwrap_or_default());
        let mut news = self.news.subscribe();
        loop {
            news.mark_unchanged();
            if let Some(answer) = self.process().read(asked) {
                return answer;
            }
            if !matches!(tokio::time::timeout_at(until, news.changed()).await, Ok(Ok(()))) {
                return self.process().answer(asked);
            }
        }
    }
}

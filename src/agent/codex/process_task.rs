//! A process that runs as a task, until it has ended: reports to Codex what its own server would.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;

use super::forwarder::SideWriter;
use super::message::{INTERNAL, error, result};
use super::process::ProcessStream;
use super::tasks::{CodexTask, NO_INPUT, TaskOrder};
use crate::link::{Error, Loss, ShellConversation, ShellMessage, ShellReply};

/// How long the rest of a terminal's output may take to arrive after the process ended.
const REST: Duration = Duration::from_millis(50);
/// The maximum size of one output notification, in bytes.
const CHUNK: usize = 8 << 10;
/// The exit code reported when the outcome is unknown or the process ended with its runtime (`EX_TEMPFAIL`).
const UNKNOWN: i32 = 75;
/// The signal number of an interrupt.
const INTERRUPT: i32 = 2;
/// The exit code the server reports when a signal ended a process on a terminal; without one it is 128 plus the
/// signal number.
const BY_SIGNAL: i32 = 1;

/// A process that the runtime has been asked to run.
#[derive(Debug)]
pub(super) struct ProcessTask {
    pub(super) codex: SideWriter,
    pub(super) task: Arc<CodexTask>,
    pub(super) runtime: ShellConversation,
    pub(super) outputs: Vec<(ProcessStream, Receiver)>,
    pub(super) has_terminal: bool,
    /// The request ids of input that the runtime has not confirmed yet.
    pub(super) typed: VecDeque<Option<Value>>,
}

/// An event to handle.
enum ProcessEvent {
    Output(usize, io::Result<Vec<u8>>),
    Reply(Result<ShellReply, Error>),
    Order(TaskOrder),
}

impl ProcessTask {
    /// Represents the process to Codex until it has ended and all its output has been reported.
    pub(super) async fn run(
        mut self,
        first: Result<ShellReply, Error>,
        mut orders: mpsc::Receiver<TaskOrder>,
    ) {
        let mut is_over = self.hear(first).await;
        while !is_over || !self.outputs.is_empty() {
            let news = tokio::select! {
                (at, read) = next_output(&self.outputs) => ProcessEvent::Output(at, read),
                reply = self.runtime.next(), if !is_over => ProcessEvent::Reply(reply),
                Some(order) = orders.recv() => ProcessEvent::Order(order),
            };
            match news {
                ProcessEvent::Output(at, read) => self.output(at, read).await,
                ProcessEvent::Reply(reply) => is_over = self.hear(reply).await,
                ProcessEvent::Order(order) => {
                    self.pass(order).await;
                    self.task.record_order();
                }
            }
        }
        let closed = self.task.process().record_close();
        self.tell(closed).await;
        orders.close();
        while let Some(order) = orders.recv().await {
            self.pass(order).await;
            self.task.record_order();
        }
    }

    /// Handles a reply; returns whether it is the last one.
    async fn hear(&mut self, reply: Result<ShellReply, Error>) -> bool {
        let (why, code) = match reply {
            Ok(ShellReply::Held | ShellReply::Started) => return false,
            Ok(ShellReply::Typed { refused }) => {
                if let Some(Some(id)) = self.typed.pop_front() {
                    let answer = match refused {
                        None => result(&id, &json!({ "status": "accepted" })),
                        Some(why) => error(&id, INTERNAL, &why),
                    };
                    let _ = self.codex.line(&answer).await;
                }
                return false;
            }
            Ok(ShellReply::Ended { closing: Some(why), .. }) => (Some(Loss::Ended(why).to_string()), UNKNOWN),
            Ok(ShellReply::Ended { code: Some(code), note, .. }) => (note, code),
            Ok(ShellReply::Ended { signal: Some(_), note, .. }) if self.has_terminal => (note, BY_SIGNAL),
            Ok(ShellReply::Ended { signal: Some(signal), note, .. }) => (note, 128 + signal),
            Ok(ShellReply::Refused { message, code }) => (Some(message), code.map_or(UNKNOWN, i32::from)),
            Ok(ShellReply::Fenced) => (Some("this command was not run".to_owned()), UNKNOWN),
            Ok(ShellReply::Ended { .. }) | Err(_) => (Some(Loss::Begun.to_string()), UNKNOWN),
        };
        self.rest().await;
        if let Some(why) = why {
            let stream = if self.has_terminal { ProcessStream::Pty } else { ProcessStream::Stderr };
            let told = self.task.process().output(stream, format!("pilothouse: {why}\n").into_bytes());
            self.tell(told).await;
        }
        let exited = self.task.process().record_exit(code);
        self.tell(exited).await;
        for id in std::mem::take(&mut self.typed).into_iter().flatten() {
            let _ = self.codex.line(&error(&id, INTERNAL, NO_INPUT)).await;
        }
        true
    }

    /// Reports output written before the exit: it is already in the pipes, except for a terminal's, which follows
    /// shortly.
    async fn rest(&mut self) {
        let patience = if self.has_terminal { REST } else { Duration::ZERO };
        while !self.outputs.is_empty() {
            let Ok((at, read)) = tokio::time::timeout(patience, next_output(&self.outputs)).await else {
                return;
            };
            self.output(at, read).await;
        }
    }

    async fn output(&mut self, at: usize, read: io::Result<Vec<u8>>) {
        match read {
            Ok(bytes) if !bytes.is_empty() => {
                let Some((stream, _)) = self.outputs.get(at) else { return };
                let told = self.task.process().output(*stream, bytes);
                self.tell(told).await;
            }
            _ => drop(self.outputs.remove(at)),
        }
    }

    async fn pass(&mut self, order: TaskOrder) {
        let message = match order {
            TaskOrder::Type { id: Some(id), .. } if self.task.process().has_exited() => {
                return drop(self.codex.line(&error(&id, INTERNAL, NO_INPUT)).await);
            }
            TaskOrder::Type { id, bytes } => {
                self.typed.push_back(id);
                ShellMessage::Input(bytes)
            }
            TaskOrder::Interrupt => ShellMessage::Signal { number: INTERRUPT, to_group: true },
            TaskOrder::Kill => ShellMessage::Kill,
        };
        // A lost runtime is detected when reading its replies.
        let _ = self.runtime.say(&message).await;
    }

    async fn tell(&self, line: Vec<u8>) {
        let _ = self.codex.line(&line).await;
        self.task.tell();
    }
}

/// Waits for output; an empty read means that the stream has ended. Pends forever if there is no stream.
async fn next_output(outputs: &[(ProcessStream, Receiver)]) -> (usize, io::Result<Vec<u8>>) {
    poll_fn(|context| {
        let ready = outputs.iter().enumerate().find_map(|(at, (_, pipe))| match read(pipe, context) {
            Poll::Ready(read) => Some((at, read)),
            Poll::Pending => None,
        });
        ready.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

fn read(pipe: &Receiver, context: &mut Context<'_>) -> Poll<io::Result<Vec<u8>>> {
    loop {
        std::task::ready!(pipe.poll_read_ready(context))?;
        let mut bytes = vec![0; CHUNK];
        match pipe.try_read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            read => {
                return Poll::Ready(read.map(|length| {
                    bytes.truncate(length);
                    bytes
                }));
            }
        }
    }
}

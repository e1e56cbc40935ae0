//! The role `cli`: tool calls, streams of commands, programs and a few read-only requests, in frames.

use std::path::{Path, PathBuf};

use futures_util::future::OptionFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call_session::CallSession;
use super::frame::{Frame, MAX_FRAME, MAX_FROM_RUNTIME};
use super::lines::ConnectionReader;
use super::operator::{answer, decline};
use super::protocol::{Act, ClientMessage, Reply, Request, ServerMessage};
use super::{Client, ClientRole, Error, Hello, OpenConnection, dial};
use crate::envelope::units::amount;
use crate::envelope::{Actor, Envelope};
use crate::journal::Durability;
use crate::model::{ParentTask, STREAM_CALL, StreamView, Subject};
use crate::process::EnclosingTask;
use crate::prose::engine::run::{ProgramRun, RunOutcome, RunRefusal, RunRequest};
use crate::prose::engine::vm::effects::RunEvent;
use crate::runtime::Handle;
use crate::tools::{self, CallAnswer, Caller, CutHandle, IdempotencyKeys};

/// Events of a program that may be queued for sending; beyond this, the program waits.
const EVENTS: usize = 256;

/// A script's connection to a runtime.
#[derive(Debug)]
pub struct Scripts {
    reader: ConnectionReader,
    writer: OwnedWriteHalf,
    asked: u64,
}

impl Scripts {
    /// Connects to the agents' socket for a caller in `cwd`.
    ///
    /// # Errors
    /// If no process listens there or the runtime refuses.
    pub async fn dial(socket: &Path, cwd: PathBuf) -> Result<Self, Error> {
        dial(socket, &Hello::new(ClientRole::Cli, cwd)).await.map(Self::over)
    }

    /// Continues on a connection whose handshake is complete.
    pub fn over(OpenConnection { lines, writer, .. }: OpenConnection) -> Self {
        Self { reader: lines.into_reader(), writer, asked: 0 }
    }

    /// Reports the progress of a stream of commands. There is no reply.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn show(&mut self, stream: StreamView) -> Result<(), Error> {
        Frame::json(&ClientMessage::Stream(stream))?.write(&mut self.writer).await
    }

    /// Calls a tool and waits for its answer; `once` is the request's idempotency key. Once `cut` requests it, asks the
    /// runtime to end the call and answer with what there is by then.
    ///
    /// # Errors
    /// If the connection is lost or the reply is unexpected.
    pub async fn call(
        &mut self,
        tool: &str,
        input: Value,
        once: Option<&str>,
        cut: &CutHandle,
    ) -> Result<CallAnswer, Error> {
        let mut ask = Request::call(tool, input);
        if let Act::Call { once: key, .. } = &mut ask.act {
            *key = once.map(str::to_owned);
        }
        match self.converse(ask, cut, None).await? {
            Reply::Answer(answer) => Ok(answer),
            _ => Err(Error::unexpected_reply()),
        }
    }

    /// Runs a program in the runtime and reports its events. Cancelling `stop` disconnects, which ends the program;
    /// the outcome is still reported.
    ///
    /// # Errors
    /// If the connection is lost or the reply is unexpected.
    pub async fn run_program(
        &mut self,
        request: RunRequest,
        events: mpsc::Sender<RunEvent>,
        stop: CancellationToken,
    ) -> Result<Result<RunOutcome, RunRefusal>, Error> {
        let ask = Act::Program(Box::new(request)).on(Subject::Runtime);
        match self.converse(ask, &CutHandle::default(), Some((events, stop))).await? {
            Reply::Program(done) => Ok(*done),
            _ => Err(Error::unexpected_reply()),
        }
    }

    /// Sends a request that a script may make, and returns its reply.
    ///
    /// # Errors
    /// If the runtime refuses or the connection is lost.
    pub async fn ask(&mut self, request: Request) -> Result<Reply, Error> {
        self.converse(request, &CutHandle::default(), None).await
    }

    /// Sends a request and waits for its reply. Meanwhile, asks for its end once `cut` does; and passes on the events of a
    /// `program`, and disconnects once that is to stop.
    async fn converse(
        &mut self,
        ask: Request,
        cut: &CutHandle,
        program: Option<(mpsc::Sender<RunEvent>, CancellationToken)>,
    ) -> Result<Reply, Error> {
        self.asked += 1;
        let id = self.asked;
        let frame = Frame::json(&ClientMessage::Ask { id, nonce: None, ask })?;
        cut.mark_sent();
        frame.write(&mut self.writer).await?;
        let stop = program.as_ref().map(|(_, stop)| stop);
        let mut is_told = false;
        loop {
            let reading = Frame::read(&mut self.reader, MAX_FROM_RUNTIME);
            tokio::pin!(reading);
            let read = tokio::select! {
                read = &mut reading => read,
                reason = cut.wait_for_cut(), if !is_told => {
                    is_told = true;
                    // A runtime that is gone may have answered before.
                    drop(Frame::json(&ClientMessage::Cut { id, reason })?.write(&mut self.writer).await);
                    reading.await
                }
                Some(()) = OptionFuture::from(stop.map(CancellationToken::cancelled)), if !is_told => {
                    is_told = true;
                    drop(self.writer.shutdown().await);
                    reading.await
                }
            };
            match (read?.ok_or(Error::Gone)?.parse()?, &program) {
                (ServerMessage::Begun { id: of, seq }, None) if of == id => drop(cut.call_number().set(seq)),
                // The receiver may be gone; the program continues until it is asked to end.
                (ServerMessage::Event(event), Some((events, _))) => drop(events.send(*event).await),
                (ServerMessage::Reply { id: of, reply }, _) if of == id => return reply.or_else(decline),
                _ => return Err(Error::unexpected_reply()),
            }
        }
    }
}

/// Serves one script, one call after the other, until it disconnects. Disconnecting in the middle of a call cancels
/// the call, like Ctrl-C in a shell.
///
/// # Errors
/// If the script breaks the protocol or cannot be answered.
pub async fn serve(
    client: Client,
    runtime: &Handle,
    idempotency: &IdempotencyKeys,
    stop: &CancellationToken,
) -> Result<(), Error> {
    let Client { hello, task, is_console, lines, mut writer, .. } = client;
    // A program that a console runs is its user's.
    let starter = if is_console { Actor::Operator } else { Actor::Cli };
    let runtime = &runtime.within(task.and_then(within));
    let caller = Caller::new(Actor::Cli, hello.cwd);
    let mut reader = lines.into_reader();
    let mut watched = StreamCall { runtime, seq: None };
    let mut next = None;
    loop {
        // After `stop` no new requests are read, but the one in progress is still answered, which reports its
        // outcome.
        let message = match next.take() {
            Some(message) => message,
            None => {
                let read = tokio::select! {
                    read = Frame::read(&mut reader, MAX_FRAME) => read?,
                    () = stop.cancelled() => None,
                };
                let Some(frame) = read else { return Ok(()) };
                frame.parse()?
            }
        };
        let (id, ask) = match message {
            ClientMessage::Ask { id, ask, .. } => (id, ask),
            ClientMessage::Stream(stream) => {
                watched.show(stream).await;
                continue;
            }
            // For a call that was answered in the meantime.
            ClientMessage::Cut { .. } => continue,
            _ => return Err(Error::frame("a message for consoles")),
        };
        let reply = match ask.act {
            Act::Call { tool, input, once } => {
                let cut = CutHandle::default();
                let caller = Caller { begun: cut.call_number().clone(), ..caller.clone() };
                let call =
                    tools::call_once(runtime, &caller, idempotency, once.as_deref(), &tool, input, &cut);
                let mut talk =
                    CallSession { id, reader: &mut reader, writer: &mut writer, cut: &cut, next: None };
                // With an idempotency key, the call is completed even if the client disconnects: what was started
                // under a key is never done twice.
                let answer = talk.until_answered(call, once.is_some()).await?;
                next = talk.next;
                match answer {
                    Some(answer) => Ok(Reply::Answer(answer)),
                    None => return Ok(()),
                }
            }
            Act::Program(request) => Ok(Reply::Program(Box::new(
                program(&mut reader, &mut writer, runtime, (*request, starter.clone())).await?,
            ))),
            act => answer(runtime, &Actor::Cli, act.on(ask.subject)).await.map_err(|error| error.to_string()),
        };
        Frame::json(&ServerMessage::Reply { id, reply })?.write(&mut writer).await?;
    }
}

/// Returns the task that a script runs in; `None` for an id that no runtime would assign.
fn within(enclosing: EnclosingTask) -> Option<ParentTask> {
    Some(ParentTask { task: enclosing.task.parse().ok()?, is_agent: enclosing.is_agent })
}

/// Runs a program for a script and reports its events. If the script disconnects or breaks the protocol, the program is
/// ended in order.
async fn program(
    reader: &mut ConnectionReader,
    writer: &mut OwnedWriteHalf,
    runtime: &Handle,
    (request, starter): (RunRequest, Actor),
) -> Result<Result<RunOutcome, RunRefusal>, Error> {
    let (events, mut happened) = mpsc::channel(EVENTS);
    let run = match ProgramRun::open(runtime, request, starter, events).await {
        Ok(run) => run,
        Err(error) => return Ok(Err(error.into())),
    };
    let cancel = CancellationToken::new();
    let going = run.go(cancel.clone());
    tokio::pin!(going);
    let mut broken = None;
    let outcome = loop {
        tokio::select! {
            biased;
            Some(event) = happened.recv() => {
                if Frame::json(&ServerMessage::Event(Box::new(event)))?.write(writer).await.is_err() {
                    // Nobody is left to inform: end the program in an orderly way.
                    cancel.cancel();
                }
            }
            outcome = &mut going => break outcome,
            seen = reader.fill_buf(), if !cancel.is_cancelled() => {
                if seen.is_ok_and(|seen| !seen.is_empty()) {
                    broken = Some(Error::frame("a request while a program runs"));
                }
                cancel.cancel();
            }
        }
    };
    while let Ok(event) = happened.try_recv() {
        Frame::json(&ServerMessage::Event(Box::new(event)))?.write(writer).await?;
    }
    broken.map_or(Ok(Ok(outcome)), Err)
}

/// The stream of commands that a connection reports, shown as a call of the recording.
struct StreamCall<'a> {
    runtime: &'a Handle,
    seq: Option<u64>,
}

impl StreamCall<'_> {
    async fn show(&mut self, stream: StreamView) {
        let seq = match self.seq {
            Some(seq) => seq,
            None => {
                let input = json!({ "source": stream.source, "dry_run": stream.dry_run });
                self.runtime.begin_call(&Actor::Cli, STREAM_CALL, Durability::Written, &input).await
            }
        };
        self.seq = Some(seq);
        let over = stream.is_over.then(|| stream.clone());
        self.runtime.progress(seq, stream);
        if let Some(stream) = over {
            let envelope = Envelope::success(STREAM_CALL, &stream.progress_line(), &stream);
            self.runtime.end_stream(seq, &envelope, &text(&stream));
            self.seq = None;
        }
    }
}

impl Drop for StreamCall<'_> {
    fn drop(&mut self) {
        if let Some(seq) = self.seq {
            self.runtime.abandon_call(seq);
        }
    }
}

/// Formats the lines of a stream for a person: state, command, time.
fn text(stream: &StreamView) -> String {
    let rows = stream.lines.iter().map(|line| {
        let took = line.duration_ms.map(|ms| format!("{ms} ms")).unwrap_or_default();
        let state = line.state.as_deref().unwrap_or("not answered");
        format!("{:>6}  {state}  {} {} {took}", line.line, line.cmd, line.note)
    });
    let last = format!("The last {}:", amount(stream.lines.len() as u64, "line"));
    [stream.progress_line(), String::new(), last].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

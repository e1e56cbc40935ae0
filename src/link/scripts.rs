//! The role `cli`: tool calls in frames and the counters, nothing else.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::ask::{Ask, News, Order, Reply};
use super::frame::{Frame, MAX_FRAME, MAX_FROM_RUNTIME};
use super::{Error, Guest, Hello, Role, dial};
use crate::envelope::Actor;
use crate::runtime::{Handle, Metrics};
use crate::tools::{self, Answer, Caller, Repeats};

/// A script's connection to a runtime.
#[derive(Debug)]
pub struct Scripts {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    asked: u64,
}

impl Scripts {
    /// Connects to the agents' socket for a caller in `cwd`.
    ///
    /// # Errors
    /// When nobody listens there or the runtime refuses.
    pub async fn dial(socket: &Path, cwd: PathBuf) -> Result<Self, Error> {
        let (_, lines, writer) = dial(socket, &Hello::new(Role::Cli, cwd)).await?;
        Ok(Self { reader: lines.into_reader(), writer, asked: 0 })
    }

    /// Calls a tool and waits for its answer; `once` is the request's idempotency key.
    ///
    /// # Errors
    /// When the runtime goes away or answers something else.
    pub async fn call(&mut self, tool: &str, input: Value, once: Option<&str>) -> Result<Answer, Error> {
        let ask = Ask::Call { tool: tool.to_owned(), input, once: once.map(str::to_owned) };
        match self.ask(ask).await? {
            Reply::Answer(answer) => Ok(answer.into()),
            _ => Err(Error::frame("another reply than an answer")),
        }
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// When the runtime goes away or answers something else.
    pub async fn metrics(&mut self) -> Result<Metrics, Error> {
        match self.ask(Ask::Metrics).await? {
            Reply::Metrics(metrics) => Ok(*metrics),
            _ => Err(Error::frame("another reply than the counters")),
        }
    }

    async fn ask(&mut self, ask: Ask) -> Result<Reply, Error> {
        self.asked += 1;
        let order = Order::Ask { id: self.asked, ask };
        Frame::json(&order)?.write(&mut self.writer).await?;
        let frame = Frame::read(&mut self.reader, MAX_FROM_RUNTIME).await?.ok_or(Error::Gone)?;
        match frame.parse()? {
            News::Reply { id, reply } if id == self.asked => {
                reply.map_err(|message| Error::Declined { message })
            }
            _ => Err(Error::frame("news nobody asked for")),
        }
    }
}

/// Serves one script: one call after the other, until it hangs up. Hanging up in the middle of a
/// call cancels it, as Ctrl-C does in a shell.
///
/// # Errors
/// When the script breaks the protocol or cannot be answered.
pub async fn serve(guest: Guest, runtime: &Handle, repeats: &Repeats) -> Result<(), Error> {
    let Guest { hello, lines, mut writer } = guest;
    let caller = Caller { actor: Actor::Cli, cwd: hello.cwd };
    let mut reader = lines.into_reader();
    while let Some(frame) = Frame::read(&mut reader, MAX_FRAME).await? {
        let Order::Ask { id, ask } = frame.parse()? else {
            return Err(Error::frame("an order for consoles"));
        };
        let reply = match ask {
            Ask::Call { tool, input, once } => {
                let call = tools::call_once(runtime, &caller, repeats, once.as_deref(), &tool, input);
                match unless_hung_up(&mut reader, call).await? {
                    Some(answer) => Ok(Reply::Answer(answer.into())),
                    None => return Ok(()),
                }
            }
            Ask::Metrics => Ok(Reply::Metrics(Box::new(runtime.metrics()))),
            _ => Err("a script may only call tools".to_owned()),
        };
        Frame::json(&News::Reply { id, reply })?.write(&mut writer).await?;
    }
    Ok(())
}

/// Waits for `call`, or drops it and returns `None` when the other end hangs up. Reads nothing.
async fn unless_hung_up<T>(
    reader: &mut BufReader<OwnedReadHalf>,
    call: impl Future<Output = T>,
) -> Result<Option<T>, Error> {
    tokio::pin!(call);
    tokio::select! {
        answer = &mut call => return Ok(Some(answer)),
        seen = reader.fill_buf() => if seen.map_err(Error::Talk)?.is_empty() { return Ok(None) },
    }
    Ok(Some(call.await))
}

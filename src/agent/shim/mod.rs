//! `pilothouse mcp`: an agent's standard input and output, carried to the runtime's socket.
//!
//! More than a pump: the runtime may go away and another take its place, and the agent must neither
//! wait for ever nor notice more than an error. Standard output carries the protocol and nothing else.

mod join;
mod ledger;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::timeout;

pub use join::start_headless;
use ledger::{Heard, Ledger, Loss};

use crate::link::{self, Hello, Line, Lines};
use crate::paths::Places;

/// The longest line taken from either side; the runtime itself takes less, and the answer of a large batch
/// carries its envelope twice in the profile `structured`.
const MAX_LINE: usize = 32 << 20;
/// Lines that may wait for the agent to read them.
const BACKLOG: usize = 64;
/// How long answers in flight are waited for once the agent has closed its end.
const DRAIN: Duration = Duration::from_secs(5);

/// Where the runtime is.
#[derive(Debug, Clone)]
pub enum Target {
    /// Behind this socket, started by somebody else.
    Socket(PathBuf),
    /// In this workspace; started when there is none.
    Workspace {
        /// Its folders.
        places: Places,
        /// The program that serves, this very one.
        program: PathBuf,
    },
}

/// One agent's shim.
#[derive(Debug)]
pub struct Shim {
    /// What the runtime is told.
    pub hello: Hello,
    /// Where it is.
    pub target: Target,
}

/// Why the shim ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The runtime could not be reached or refused.
    #[error(transparent)]
    Link(#[from] link::Error),
    /// A headless runtime could not be started.
    #[error("start a runtime with {program}")]
    Start {
        /// The program.
        program: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A headless runtime was started and does not answer.
    #[error("the runtime that was started does not answer after 10 s; see {log}")]
    Silent {
        /// What it wrote.
        log: PathBuf,
    },
    /// Standard input or output failed.
    #[error("{0}")]
    Stdio(&'static str, #[source] io::Error),
}

/// A runtime, joined.
struct Joined {
    lines: Lines<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

impl Shim {
    /// Carries lines until the agent closes its end or stops reading.
    ///
    /// # Errors
    /// When no runtime can be joined at the start, or standard input or output fails.
    pub async fn run(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
    ) -> Result<(), Error> {
        let runtime = self.join().await?;
        let (answers, answered) = mpsc::channel(BACKLOG);
        let carrier = Carrier {
            ledger: Ledger::new(self.hello.profile),
            agent: Lines::new(input, MAX_LINE),
            runtime: Some(runtime),
            answers,
            shim: self,
        };
        // Writing has a place of its own: an agent that does not read is still heard.
        let writing = write_lines(output, answered);
        tokio::pin!(writing);
        let carried = tokio::select! {
            carried = carrier.run() => carried,
            written = &mut writing => return written,
        };
        writing.await?;
        carried
    }
}

/// Writes lines to the agent until nobody sends any more.
async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> Result<(), Error> {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        written.await.map_err(|source| Error::Stdio("write to the agent", source))?;
    }
    Ok(())
}

/// The two ends and what is between them.
struct Carrier<R> {
    shim: Shim,
    ledger: Ledger,
    agent: Lines<R>,
    runtime: Option<Joined>,
    answers: mpsc::Sender<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Carrier<R> {
    async fn run(mut self) -> Result<(), Error> {
        loop {
            tokio::select! {
                // The runtime first: a request must not be given to one that has just gone.
                biased;
                line = next_line(&mut self.runtime) => match line {
                    Some(line) => self.pass_on(line).await,
                    None => self.lose().await,
                },
                line = self.agent.next() => {
                    match line.map_err(|source| Error::Stdio("read from the agent", source))? {
                        Some(Line::Whole(line)) => self.hear(line).await,
                        Some(Line::TooLong) => tracing::warn!("a line of over {MAX_LINE} bytes was dropped"),
                        None => break,
                    }
                }
            }
        }
        self.drain().await;
        Ok(())
    }

    /// Hears a line from the agent.
    async fn hear(&mut self, line: Vec<u8>) {
        let replay = if self.runtime.is_none() { self.ledger.replay() } else { Vec::new() };
        match self.ledger.client_said(&line) {
            Heard::Answer(answer) => self.answer(vec![answer]).await,
            Heard::Other => self.tell(line).await,
            Heard::Request => {
                if self.runtime.is_none() {
                    match self.shim.join().await {
                        Ok(joined) => self.runtime = Some(joined),
                        Err(error) => {
                            let answers = self.ledger.lost(Loss::Unreachable(&error.to_string()));
                            return self.answer(answers).await;
                        }
                    }
                }
                for line in replay {
                    self.tell(line.into_bytes()).await;
                }
                self.tell(line).await;
            }
        }
    }

    /// Gives a line to the runtime, if one is there.
    async fn tell(&mut self, mut line: Vec<u8>) {
        let Some(runtime) = &mut self.runtime else { return };
        line.push(b'\n');
        if runtime.writer.write_all(&line).await.is_err() {
            self.lose().await;
        }
    }

    /// Gives a line from the runtime to the agent.
    async fn pass_on(&mut self, line: Vec<u8>) {
        if self.ledger.runtime_said(&line) {
            // An agent that no longer reads is noticed where its lines are written.
            let _ = self.answers.send(line).await;
        }
    }

    /// Takes note that the runtime has gone; the next request joins another.
    async fn lose(&mut self) {
        self.runtime = None;
        let answers = self.ledger.lost(Loss::Gone);
        self.answer(answers).await;
    }

    async fn answer(&self, answers: Vec<String>) {
        for answer in answers {
            let _ = self.answers.send(answer.into_bytes()).await;
        }
    }

    /// Tells the runtime that nothing more comes and waits for what it still has to say.
    async fn drain(&mut self) {
        if let Some(runtime) = &mut self.runtime {
            // A runtime that has gone needs no telling.
            let _ = runtime.writer.shutdown().await;
        }
        let rest = async {
            while !self.ledger.is_settled()
                && let Some(line) = next_line(&mut self.runtime).await
            {
                self.pass_on(line).await;
            }
        };
        if timeout(DRAIN, rest).await.is_err() {
            tracing::warn!("the agent left before all its requests were answered");
        }
    }
}

/// Returns the runtime's next line, or `None` once it has gone; waits for ever when none is there.
async fn next_line(runtime: &mut Option<Joined>) -> Option<Vec<u8>> {
    let Some(joined) = runtime else { return std::future::pending().await };
    match joined.lines.next().await {
        Ok(Some(Line::Whole(line))) => Some(line),
        // A runtime that sends more than it may, or fails, is as good as gone.
        Ok(Some(Line::TooLong) | None) | Err(_) => None,
    }
}

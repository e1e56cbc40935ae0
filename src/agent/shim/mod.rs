//! `pilothouse mcp`: connects an agent's standard input and output to the runtime's socket.
//!
//! It is more than a pipe: the shim answers requests that need no runtime by itself, and starts a runtime at the
//! first call. The runtime may end and another may replace it; the agent must neither wait forever nor notice more
//! than an error. Standard output carries only the protocol.

mod fuzz;
mod join;
mod loss;
mod outbox;
mod relay;
mod requests;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

#[doc(hidden)]
pub use fuzz::fuzz_lines;
use outbox::{Outbox, write_lines};
use relay::Relay;

use crate::config::Limits;
use crate::link::{self, Hello, Lines, Link, RuntimeRoute};
use crate::paths::Places;

/// The maximum length of a line from either side, in bytes. The runtime itself accepts less, and the answer to a
/// large batch contains its envelope twice in the `structured` profile.
const MAX_LINE: usize = 32 << 20;
/// How long to wait for an agent that has closed its end to read its remaining answers.
const FAREWELL: Duration = Duration::from_millis(200);

/// Where the runtime is.
#[derive(Debug, Clone)]
pub enum Target {
    /// Behind this socket, started by another process.
    Socket(PathBuf),
    /// On another machine, where its command starts one if there is none.
    Elsewhere(RuntimeRoute),
    /// In this workspace; started if there is none.
    Workspace {
        /// The workspace's file locations.
        places: Places,
        /// The program that serves as the runtime: this one.
        program: PathBuf,
    },
}

/// One agent's shim.
#[derive(Debug, Clone)]
pub struct Shim {
    /// The hello message for the runtime.
    pub hello: Hello,
    /// Where it is.
    pub target: Target,
    /// Its limits, if its settings can be read here.
    pub limits: Option<Limits>,
}

/// Why the shim ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The runtime could not be reached or refused.
    #[error(transparent)]
    Link(#[from] link::Error),
    /// Standard input or output failed.
    #[error("{0}")]
    Stdio(&'static str, #[source] io::Error),
}

/// A joined runtime.
struct Joined {
    lines: Lines<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// The transport of the connection.
    link: Link,
}

impl Shim {
    /// Forwards lines until the agent closes its end or stops reading.
    ///
    /// # Errors
    /// When standard input or output fails.
    pub async fn run(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
    ) -> Result<(), Error> {
        let mut answers = Outbox::default();
        // Writing is driven separately, so that requests are still read from an agent that does not read its answers.
        let writing = write_lines(output, answers.connect());
        tokio::pin!(writing);
        let wrote = |source| Error::Stdio("write to the agent", source);
        let relay = Relay::new(self, Lines::new(input, MAX_LINE), answers);
        let carried = tokio::select! {
            carried = relay.run() => carried,
            written = &mut writing => return written.map_err(wrote),
        };
        // Do not wait for an agent that has stopped reading.
        timeout(FAREWELL, writing).await.unwrap_or(Ok(())).map_err(wrote)?;
        carried
    }
}

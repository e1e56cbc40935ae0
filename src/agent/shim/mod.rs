//! `pilothouse mcp`: an agent's standard input and output, carried to the runtime's socket.
//!
//! More than a pump: the shim answers by itself what needs no runtime, and starts one at the first call. The
//! runtime may go away and another take its place, and the agent must neither wait for ever nor notice more than
//! an error. Standard output carries the protocol and nothing else.

mod fuzz;
mod join;
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

use crate::link::{self, Hello, Lines, Link, Way};
use crate::paths::Places;

/// The longest line taken from either side; the runtime itself takes less, and the answer of a large batch
/// carries its envelope twice in the profile `structured`.
const MAX_LINE: usize = 32 << 20;
/// How long an agent that has closed its end may take for the answers it has not read.
const FAREWELL: Duration = Duration::from_millis(200);

/// Where the runtime is.
#[derive(Debug, Clone)]
pub enum Target {
    /// Behind this socket, started by somebody else.
    Socket(PathBuf),
    /// On another machine, whose command starts it when there is none.
    Elsewhere(Way),
    /// In this workspace; started when there is none.
    Workspace {
        /// Its folders.
        places: Places,
        /// The program that serves, this very one.
        program: PathBuf,
    },
}

/// One agent's shim.
#[derive(Debug, Clone)]
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
    /// Standard input or output failed.
    #[error("{0}")]
    Stdio(&'static str, #[source] io::Error),
}

/// A runtime, joined.
struct Joined {
    lines: Lines<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// What carries the connection.
    link: Link,
}

impl Shim {
    /// Carries lines until the agent closes its end or stops reading.
    ///
    /// # Errors
    /// When standard input or output fails.
    pub async fn run(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
    ) -> Result<(), Error> {
        let mut answers = Outbox::default();
        // Writing has a place of its own: an agent that does not read is still heard.
        let writing = write_lines(output, answers.connect());
        tokio::pin!(writing);
        let wrote = |source| Error::Stdio("write to the agent", source);
        let relay = Relay::new(self, Lines::new(input, MAX_LINE), answers);
        let carried = tokio::select! {
            carried = relay.run() => carried,
            written = &mut writing => return written.map_err(wrote),
        };
        // One that reads no more is not waited for.
        timeout(FAREWELL, writing).await.unwrap_or(Ok(())).map_err(wrote)?;
        carried
    }
}

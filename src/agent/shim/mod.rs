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
mod roots;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

#[doc(hidden)]
pub use fuzz::fuzz_lines;
pub use join::{Shim, ShimError, ShimTarget};

use join::MAX_LINE;
use outbox::{LineQueue, write_lines};
use relay::ShimRelay;

use crate::link::LineReader;

/// How long to wait for an agent that has closed its end to read its remaining answers.
const FAREWELL: Duration = Duration::from_millis(200);

impl Shim {
    /// Forwards lines until the agent closes its end or stops reading.
    ///
    /// # Errors
    /// When standard input or output fails.
    pub async fn run(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
    ) -> Result<(), ShimError> {
        let mut answers = LineQueue::default();
        // Writing is driven separately, so that requests are still read from an agent that does not read its answers.
        let writing = write_lines(output, answers.connect());
        tokio::pin!(writing);
        let wrote = |source| ShimError::Stdio("write to the agent", source);
        let relay = ShimRelay::new(self, LineReader::new(input, MAX_LINE).with_rest(), answers);
        let carried = tokio::select! {
            carried = relay.run() => carried,
            written = &mut writing => return written.map_err(wrote),
        };
        // Do not wait for an agent that has stopped reading.
        timeout(FAREWELL, writing).await.unwrap_or(Ok(())).map_err(wrote)?;
        carried
    }
}

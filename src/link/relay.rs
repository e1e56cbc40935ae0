//! The far end of a carried connection: a command that connects its standard input and output to a runtime on its
//! machine. Data passes through unread and unchanged, and to the runtime this process is the client, so the operator
//! socket refuses it if it was started in a task.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::{Access, Ack, Door, Error, socket};
use crate::envelope::with_causes;
use crate::paths::Places;
use crate::process::PeerReader;

/// How long a console may be silent; a live one sends a request every 20 s.
const SILENT: Duration = Duration::from_secs(120);
/// The buffer size for copying, in bytes.
const PIECE: usize = 8 << 10;

/// A connection to a runtime on this machine.
#[derive(Debug)]
pub struct Relay {
    stream: UnixStream,
    door: Door,
}

impl Relay {
    /// Connects to a runtime; if none serves the workspace and it `may_start` one, `access` does.
    ///
    /// # Errors
    /// If there is none or it cannot be reached.
    pub async fn to(access: &Access, door: Door, may_start: bool) -> Result<Self, Error> {
        let connect = |places: Places| async move {
            match door {
                Door::Agent => socket::connect(&places.agent_socket()).await,
                Door::Operator => socket::connect(&places.operator_socket()).await,
            }
        };
        access.join(may_start, connect).await.map(|(stream, _)| Self { stream, door })
    }

    /// Carries bytes in both directions until the runtime disconnects, or until a console has been silent for longer
    /// than a live one can be. The end of the input is passed on, and answers after that are still carried back.
    ///
    /// # Errors
    /// If the runtime or the output fails.
    pub async fn carry(
        self,
        mut input: impl AsyncRead + Unpin,
        mut output: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let Self { stream, door } = self;
        let (reader, mut writer) = stream.into_split();
        let mut reader = PeerReader::new(reader);
        let there = async {
            // A broken link is treated like a closed one: the runtime is informed that nothing follows.
            if pass_on(&mut input, &mut writer, door).await.is_ok_and(|end| end == InputEnd::Silent) {
                return;
            }
            let _ = writer.shutdown().await;
            std::future::pending().await
        };
        tokio::select! {
            ended = tokio::io::copy(&mut reader, &mut output) => drop(ended?),
            () = there => {}
        };
        output.shutdown().await
    }
}

/// How the input of a relay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputEnd {
    /// The input was closed.
    Closed,
    /// A console has been silent for too long. Its carrier is gone without having closed the connection, which would
    /// otherwise be kept.
    Silent,
}

/// Copies the input until it ends.
async fn pass_on(
    input: &mut (impl AsyncRead + Unpin),
    output: &mut (impl AsyncWrite + Unpin),
    door: Door,
) -> io::Result<InputEnd> {
    let mut piece = vec![0; PIECE];
    loop {
        let reading = input.read(&mut piece);
        let read = match door {
            Door::Agent => reading.await?,
            Door::Operator => match timeout(SILENT, reading).await {
                Ok(read) => read?,
                Err(_) => return Ok(InputEnd::Silent),
            },
        };
        if read == 0 {
            return Ok(InputEnd::Closed);
        }
        output.write_all(piece.get(..read).unwrap_or_default()).await?;
    }
}

/// Returns the answer to send in the runtime's place if none could be reached.
pub fn refusal(error: &Error) -> Vec<u8> {
    let ack = Ack {
        reason: Some(with_causes(error)),
        no_runtime: matches!(error, Error::NoRuntime { .. }),
        runtime_pid: 0,
        ..Ack::new(std::path::PathBuf::new(), Some(error))
    };
    let mut line = serde_json::to_vec(&ack).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bytes_pass_both_ways_and_the_end_of_the_input_is_passed_on() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let (mut caller, input) = UnixStream::pair().expect("a pair");
        let (reader, writer) = input.into_split();
        let carried = tokio::spawn(Relay { stream: ours, door: Door::Agent }.carry(reader, writer));
        caller.write_all(b"question").await.expect("takes it");
        caller.shutdown().await.expect("no more");
        let mut heard = String::new();
        theirs.read_to_string(&mut heard).await.expect("ends");
        assert_eq!(heard, "question");
        theirs.write_all(b"answer").await.expect("takes it");
        drop(theirs);
        let mut answer = String::new();
        caller.read_to_string(&mut answer).await.expect("ends");
        assert_eq!(answer, "answer");
        carried.await.expect("joins").expect("carried");
    }

    /// A dead link goes unnoticed if its carrier never learned of it: a terminal, a connection that was cut off.
    #[tokio::test(start_paused = true)]
    async fn a_console_that_has_gone_silent_is_let_go_and_an_agent_is_not() {
        for (door, ends) in [(Door::Operator, true), (Door::Agent, false)] {
            let (ours, mut theirs) = UnixStream::pair().expect("a pair");
            let (_open, input) = UnixStream::pair().expect("a pair");
            let (reader, writer) = input.into_split();
            let mut carried = Box::pin(Relay { stream: ours, door }.carry(reader, writer));
            let hour = timeout(Duration::from_secs(3_600), &mut carried).await;
            assert_eq!(hour.is_ok(), ends, "{door:?}");
            drop(carried);
            let mut heard = String::new();
            theirs.read_to_string(&mut heard).await.expect("ends");
        }
    }

    #[test]
    fn a_missing_runtime_is_reported_in_the_form_of_a_refusal_by_a_runtime() {
        let line = refusal(&Error::NoRuntime { path: "/w".into() });
        let ack: Ack = serde_json::from_slice(&line).expect("an ack");
        assert!(!ack.ok && ack.no_runtime && line.ends_with(b"\n"), "{ack:?}");
    }
}

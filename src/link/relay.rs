//! The far end of a carried connection: a command that leads from its standard input and output to a runtime of its
//! machine. What passes is neither read nor changed, and whoever connects is this very process: the socket of consoles
//! refuses it where it came out of a task.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;

use super::{Access, Ack, Door, Error, VERSION, socket};
use crate::paths::Places;

/// What leads to a runtime of this machine.
#[derive(Debug)]
pub struct Relay(UnixStream);

impl Relay {
    /// Connects to a runtime; `access` starts one where none serves the workspace and it `may_start`.
    ///
    /// # Errors
    /// When none is there, or it cannot be reached.
    pub async fn to(access: &Access, door: Door, may_start: bool) -> Result<Self, Error> {
        let connect = |places: Places| async move {
            match door {
                Door::Agent => socket::connect(&places.agent_socket()).await,
                Door::Operator => socket::connect(&places.operator_socket()).await,
            }
        };
        if may_start {
            access.join(connect).await.map(|(stream, _)| Self(stream))
        } else {
            access.join_running(connect).await.map(Self)
        }
    }

    /// Carries bytes both ways until the runtime hangs up. The end of the input is passed on, and what is still answered
    /// after that is carried back.
    ///
    /// # Errors
    /// When the runtime or the output fails.
    pub async fn carry(
        self,
        mut input: impl AsyncRead + Unpin,
        mut output: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let (mut reader, mut writer) = self.0.into_split();
        let there = async {
            // A link that breaks ends as one that is closed: the runtime is told that nothing follows.
            let _ = tokio::io::copy(&mut input, &mut writer).await;
            let _ = writer.shutdown().await;
            std::future::pending::<io::Result<u64>>().await
        };
        tokio::select! {
            ended = tokio::io::copy(&mut reader, &mut output) => ended?,
            never = there => never?,
        };
        output.shutdown().await
    }
}

/// Returns what the command says in the runtime's place when it does not get to one.
#[must_use]
pub fn refusal(error: &Error) -> Vec<u8> {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let reason = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
    let ack = Ack {
        v: VERSION,
        ok: false,
        reason: Some(reason),
        connection_limit: None,
        no_runtime: matches!(error, Error::NoRuntime { .. }),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        workspace: std::path::PathBuf::new(),
        runtime_pid: 0,
    };
    let mut line = serde_json::to_vec(&ack).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn bytes_pass_both_ways_and_the_end_of_the_input_is_passed_on() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let (mut caller, input) = UnixStream::pair().expect("a pair");
        let (reader, writer) = input.into_split();
        let carried = tokio::spawn(Relay(ours).carry(reader, writer));
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

    #[test]
    fn that_no_runtime_is_there_is_said_as_a_runtime_would_refuse() {
        let line = refusal(&Error::NoRuntime { path: "/w".into() });
        let ack: Ack = serde_json::from_slice(&line).expect("an ack");
        assert!(!ack.ok && ack.no_runtime && line.ends_with(b"\n"), "{ack:?}");
    }
}

//! Runs a command on another machine to its end and collects a limited amount of its output.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

use super::carrier::{LETTERS, last_lines};
use super::{RemoteHost, TransportError};
use crate::link::Error;
use crate::process::keep_descriptors;

/// Bytes kept of the output, and of what is written to standard error.
const OUTPUT: u64 = 4 << 20;
const SAID: u64 = 16 * LETTERS as u64;

/// The result of a remote command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOutput {
    /// Its exit code, or that of the carrier program; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The last lines that the command or the carrier wrote to standard error: stripped of control characters, joined
    /// to one line.
    pub said: String,
    /// What both wrote to standard error, as it is.
    stderr: Vec<u8>,
}

impl RemoteOutput {
    /// Returns the error that this result means for a command that had to answer. Without a message on standard error,
    /// the reason is what was printed in place of an answer.
    pub fn error(&self, host: &RemoteHost) -> Error {
        let said = if self.said.is_empty() { last_lines(&self.stdout) } else { self.said.clone() };
        Error::Carried {
            host: host.name.clone(),
            why: TransportError::of_exit(self.code, &self.stderr, said),
        }
    }
}

impl RemoteHost {
    /// Returns the command that runs pilothouse there with these arguments.
    ///
    /// # Errors
    /// If this process cannot keep its descriptors from it.
    pub(super) fn command(&self, words: &[&str]) -> Result<Command, Error> {
        // An OpenSSH master outlives its caller: it must not inherit a pipe from the caller's parent.
        keep_descriptors().map_err(|error| self.not_started(error))?;
        let mut argv = self.argv(words).into_iter();
        let mut command = Command::new(argv.next().unwrap_or_default());
        command.args(argv);
        Ok(command)
    }

    /// Returns the error of a carrier program that cannot be started here.
    pub(super) fn not_started(&self, error: io::Error) -> Error {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such program".to_owned(),
            _ => error.to_string(),
        };
        let why = TransportError::NoCarrier { program: self.program().to_owned(), why };
        Error::Carried { host: self.name.clone(), why }
    }

    /// Runs pilothouse there with these arguments.
    ///
    /// # Errors
    /// If the carrier program cannot be started or takes longer than `patience`.
    pub async fn run(&self, words: &[&str], patience: Duration) -> Result<RemoteOutput, Error> {
        let failed = |error| self.not_started(error);
        let mut command = self.command(words)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !self.may_ask() {
            command.process_group(0);
        }
        let mut child = command.kill_on_drop(true).spawn().map_err(failed)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let talk = async { tokio::join!(read(stdout, OUTPUT), read(stderr, SAID), child.wait()) };
        let Ok((stdout, stderr, exit)) = timeout(patience, talk).await else {
            let why = TransportError::Silent { said: String::new() };
            return Err(Error::Carried { host: self.name.clone(), why });
        };
        let code = exit.map_err(failed)?.code();
        Ok(RemoteOutput { code, stdout, said: last_lines(&stderr), stderr })
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What was read before an error is kept.
        let _ = pipe.take(most).read_to_end(&mut bytes).await;
    }
    bytes
}

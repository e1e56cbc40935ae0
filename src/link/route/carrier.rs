//! The program that carries a connection: starting it, reading its messages, ending it. Its messages are untrusted
//! text: size-limited, stripped of control characters, and shown only if the connection failed.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{RemoteHost, TransportError};
use crate::envelope::SafeText;
use crate::link::Error;

/// Bytes kept of a carrier's messages, from their end.
const SAID: usize = 4 << 10;
/// How many lines and characters of the messages are shown.
const LINES: usize = 3;
pub(super) const LETTERS: usize = 600;
/// How long a carrier whose stream has ended may take to exit, so that it can report why.
const ENDING: Duration = Duration::from_millis(1_500);
/// How long its last messages may take after that: an OpenSSH master may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// What begins the lines by which ssh teaches how to forget a host's key, or tells of one that it has learnt.
const OF_KEYS: [&str; 4] = ["Warning: Permanently added", "Offending ", "remove with:", "ssh-keygen "];

/// A program that carries a connection. Killed on drop.
#[derive(Debug)]
pub(in crate::link) struct Carrier {
    host: String,
    child: Child,
    // A lock, not a message: held for one copy.
    said: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
}

impl Carrier {
    /// Starts the program that leads to a pilothouse command on another host. The returned stream is connected to its
    /// standard input and output.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(in crate::link) fn start(host: &RemoteHost, words: &[&str]) -> Result<(UnixStream, Self), Error> {
        let failed = |error| host.not_started(error);
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let input = OwnedFd::from(theirs.into_std().map_err(failed)?);
        // Programs expect blocking reads.
        rustix::io::ioctl_fionbio(&input, false).map_err(|errno| failed(errno.into()))?;
        let output = input.try_clone().map_err(failed)?;
        let mut child = host
            .command(words)?
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::piped())
            // Keys that generate signals in the terminal must not reach it.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let said = Arc::default();
        let listening = child.stderr.take().map(|stderr| tokio::spawn(listen(stderr, Arc::clone(&said))));
        Ok((ours, Self { host: host.name.clone(), child, said, listening }))
    }

    /// Waits a moment for the carrier's end, and returns the error that describes it.
    pub(in crate::link) async fn why(&mut self) -> Error {
        let exit = timeout(ENDING, self.child.wait()).await;
        if let Some(listening) = &mut self.listening {
            let _ = timeout(LAST_WORDS, listening).await;
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let told = last_lines(&said);
        self.error(match exit {
            Ok(Ok(exit)) => TransportError::of_exit(exit.code(), &said, told),
            Ok(Err(_)) | Err(_) => TransportError::Silent { said: told },
        })
    }

    /// Returns an error of this carrier.
    pub(in crate::link) fn error(&self, why: TransportError) -> Error {
        Error::Carried { host: self.host.clone(), why }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

/// Keeps the end of a carrier's messages.
async fn listen(mut stderr: ChildStderr, said: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(piece.get(..read).unwrap_or_default());
        let surplus = said.len().saturating_sub(SAID);
        said.drain(..surplus);
    }
}

/// Returns the last lines of the messages, joined to one line.
pub(super) fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let is_told = |line: &&str| !line.is_empty() && OF_KEYS.iter().all(|begin| !line.starts_with(begin));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_told).collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("; ");
    let surplus = last.chars().count().saturating_sub(LETTERS);
    let last: String = last.chars().skip(surplus).collect();
    SafeText::lines(last.trim_end_matches('.')).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_carrier_is_shortened_and_stripped_of_control_characters() {
        let long = format!(
            "first\n\n{}\r\n\u{1b}[31mred\u{1b}[0m\u{7}\nPermission denied (publickey).\n",
            "x".repeat(2_000)
        );
        let told = last_lines(long.as_bytes());
        assert!(told.chars().count() < 2 * LETTERS && !told.contains(['\u{1b}', '\u{7}', '\n']), "{told}");
        assert!(told.ends_with("Permission denied (publickey)"), "{told}");
    }
}

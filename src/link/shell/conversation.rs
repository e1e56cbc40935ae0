//! The caller's end for a process that handles many commands, without a thread for each.

use std::io;
use std::os::unix::net::UnixStream as Connected;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::caller::message;
use super::{ShellMessage, ShellReply};
use crate::link::Error;
use crate::link::hello::MAX_HELLO;
use crate::process::PeerReader;

/// The conversation about a requested command.
#[derive(Debug)]
pub struct ShellConversation {
    reader: PeerReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    unread: Vec<u8>,
}

impl ShellConversation {
    pub(super) fn new(stream: Connected, unread: Vec<u8>) -> io::Result<Self> {
        stream.set_write_timeout(None)?;
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        Ok(Self { reader: PeerReader::new(reader), writer, unread })
    }

    /// Returns the next reply. Cancellation-safe.
    ///
    /// # Errors
    /// If the connection is lost or the runtime breaks the protocol.
    pub async fn next(&mut self) -> Result<ShellReply, Error> {
        loop {
            if let Some(reply) = super::take(&mut self.unread, MAX_HELLO)? {
                return Ok(reply);
            }
            if self.reader.read_buf(&mut self.unread).await.map_err(Error::Talk)? == 0 {
                return Err(Error::Gone);
            }
        }
    }

    /// Sends a message to the runtime.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn say(&mut self, said: &ShellMessage) -> Result<(), Error> {
        self.writer.write_all(&message(said)?).await.map_err(Error::Talk)
    }
}

//! The caller's end: one thread, no async runtime, since it is in the way of each command.

use std::io::{self, IoSlice, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sockopt};
use serde::de::DeserializeOwned;

use super::{DESCRIPTORS, ShellConversation, ShellMessage, ShellReply, ShellRequest};
use crate::link::hello::{MAX_HELLO, PATIENCE};
use crate::link::{Ack, Error, Hello, socket};

/// A call of a runtime by an agent's shell.
#[derive(Debug)]
pub struct ShellCall {
    stream: UnixStream,
    unread: Vec<u8>,
}

impl ShellCall {
    /// Connects to the runtime behind `socket` and is admitted. Nothing is asked of it yet.
    ///
    /// # Errors
    /// When nobody listens, the other end is foreign or slow, or the runtime refuses.
    pub fn dial(path: &Path, hello: &Hello) -> Result<Self, Error> {
        let hello = hello.to_bytes()?;
        let address = socket::Address::of(path)?;
        let failed = |verb| move |source| Error::Io { verb, path: path.to_owned(), source };
        let stream = UnixStream::connect(&address.path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                Error::NoRuntime { path: path.to_owned() }
            }
            _ => failed("connect to")(error),
        })?;
        let peer = sockopt::socket_peercred(&stream)
            .map_err(io::Error::from)
            .map_err(failed("ask who listens on"))?;
        if peer.uid != rustix::process::geteuid() {
            return Err(Error::Foreign { path: path.to_owned(), uid: peer.uid.as_raw() });
        }
        stream.set_read_timeout(Some(PATIENCE)).map_err(Error::Talk)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(Error::Talk)?;
        let mut call = Self { stream, unread: Vec::new() };
        let sent = call.stream.write_all(&hello).map_err(Error::Talk);
        // A runtime that refuses before it has read the hello has said why all the same.
        let line = call.line().map_err(|error| sent.err().unwrap_or(error))?;
        let ack: Ack = parse(&line)?;
        if !ack.ok {
            return Err(match ack.connection_limit {
                Some(limit) => Error::TooManyConnections { limit },
                None => Error::Refused { reason: ack.reason.unwrap_or_else(|| "no reason given".into()) },
            });
        }
        call.stream.set_read_timeout(None).map_err(Error::Talk)?;
        Ok(call)
    }

    /// Sends the request, and the descriptors with it.
    ///
    /// # Errors
    /// [`Error::Frame`] when it is too long to be sent, and nothing was; otherwise it is not known how much has arrived.
    pub fn ask(&mut self, request: &ShellRequest, fds: [BorrowedFd<'_>; DESCRIPTORS]) -> Result<(), Error> {
        let bytes = request.to_bytes()?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        let sent = rustix::io::retry_on_intr(|| {
            rustix::net::sendmsg(&self.stream, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL)
        });
        let sent = sent.map_err(|errno| Error::Talk(errno.into()))?;
        self.stream.write_all(bytes.get(sent..).unwrap_or_default()).map_err(Error::Talk)
    }

    /// Passes a signal on.
    ///
    /// # Errors
    /// When the runtime has gone.
    pub fn signal(&mut self, number: i32) -> Result<(), Error> {
        self.stream.write_all(&message(&ShellMessage::Signal(number))?).map_err(Error::Talk)
    }

    /// Goes on with the command that was asked for on the present tokio runtime.
    ///
    /// # Errors
    /// When there is none.
    pub fn converse(self) -> Result<ShellConversation, Error> {
        ShellConversation::new(self.stream, self.unread).map_err(Error::Talk)
    }

    /// Reads what has come, waiting for something; returns the next reply when it is whole, [`Error::Gone`] at the end.
    ///
    /// # Errors
    /// When the runtime has gone or breaks the protocol.
    pub fn read(&mut self) -> Result<Option<ShellReply>, Error> {
        if let Some(reply) = self.next_reply()? {
            return Ok(Some(reply));
        }
        self.fill()?;
        self.next_reply()
    }

    /// Returns the next reply of those that have come.
    ///
    /// # Errors
    /// When the runtime breaks the protocol.
    pub fn next_reply(&mut self) -> Result<Option<ShellReply>, Error> {
        let Some((body, rest)) = super::part(&self.unread, MAX_HELLO)? else { return Ok(None) };
        let (reply, left) = (parse(body)?, rest.len());
        self.unread.drain(..self.unread.len() - left);
        Ok(Some(reply))
    }

    fn line(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.unread) {
                let line = self.unread.drain(..=end).take(end).collect();
                return Ok(line);
            }
            if self.unread.len() > MAX_HELLO {
                return Err(Error::handshake("the first line is too long"));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 4096];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&self.stream, &mut bytes));
        match read {
            Ok(0) => Err(Error::Gone),
            Ok(read) => {
                self.unread.extend_from_slice(bytes.get(..read).unwrap_or_default());
                Ok(())
            }
            Err(errno) => Err(Error::Talk(errno.into())),
        }
    }
}

impl AsFd for ShellCall {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::handshake(format!("the answer is broken: {error}")))
}

/// Returns a message as it is sent.
pub(super) fn message(message: &ShellMessage) -> Result<Vec<u8>, Error> {
    let message = serde_json::to_vec(message).map_err(|error| Error::frame(error.to_string()))?;
    let length = u32::try_from(message.len()).unwrap_or_default().to_be_bytes();
    Ok([&length[..], &message].concat())
}

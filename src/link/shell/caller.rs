//! The caller's end of the `shell` role: single-threaded and without an async runtime, because it adds to the latency
//! of every command.

use std::io::{self, IoSlice, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sockopt};
use serde::de::DeserializeOwned;

use super::{ALL_DESCRIPTORS, DESCRIPTORS, ShellConversation, ShellMessage, ShellReply, ShellRequest};
use crate::link::hello::{MAX_HELLO, PATIENCE};
use crate::link::{Ack, Error, Hello, socket};
use crate::process::is_gone;

/// A call from an agent's shell to a runtime.
#[derive(Debug)]
pub struct ShellCall {
    stream: UnixStream,
    unread: Vec<u8>,
}

impl ShellCall {
    /// Connects to the runtime at a socket, which may take this long to answer, and completes the handshake. No request is
    /// sent yet.
    ///
    /// # Errors
    /// If no process listens, the other end belongs to another user or is slow, or the runtime refuses.
    pub fn dial(path: &Path, hello: &Hello, answer: Duration) -> Result<Self, Error> {
        let hello = hello.to_bytes()?;
        let address = socket::SocketPath::of(path)?;
        let stream = UnixStream::connect(&address.path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                Error::NoRuntime { path: path.to_owned() }
            }
            _ => Error::io("connect to", path)(error),
        })?;
        let peer = sockopt::socket_peercred(&stream)
            .map_err(io::Error::from)
            .map_err(Error::io("ask who listens on", path))?;
        if peer.uid != rustix::process::geteuid() {
            return Err(Error::Foreign { path: path.to_owned(), uid: peer.uid.as_raw() });
        }
        stream.set_read_timeout(Some(answer)).map_err(Error::Talk)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(Error::Talk)?;
        let mut call = Self { stream, unread: Vec::new() };
        let sent = call.stream.write_all(&hello).map_err(Error::Talk);
        // A runtime that refuses before reading the hello has still sent its reason.
        let line = call.line().map_err(|error| sent.err().unwrap_or(error))?;
        parse::<Ack>(&line)?.admission()?;
        call.stream.set_read_timeout(None).map_err(Error::Talk)?;
        Ok(call)
    }

    /// Waits, for a limited time, until the runtime closes the connection.
    ///
    /// # Errors
    /// If it does not.
    pub fn until_closed(mut self) -> Result<(), Error> {
        self.stream.set_read_timeout(Some(PATIENCE)).map_err(Error::Talk)?;
        loop {
            match self.fill() {
                Ok(()) => {}
                Err(Error::Gone) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends the request together with its descriptors, and with `more` that the request numbers.
    ///
    /// # Errors
    /// [`Error::Frame`] if the request is too long, in which case nothing was sent; otherwise it is unknown how much
    /// has arrived.
    pub fn ask(
        &mut self,
        request: &ShellRequest,
        fds: [BorrowedFd<'_>; DESCRIPTORS],
        more: &[BorrowedFd<'_>],
    ) -> Result<(), Error> {
        let bytes = request.to_bytes()?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(ALL_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds = [&fds, more].concat();
        if !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(Error::frame("more descriptors than can be handed over"));
        }
        let sent = rustix::io::retry_on_intr(|| {
            rustix::net::sendmsg(&self.stream, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL)
        });
        let sent = sent.map_err(|errno| Error::Talk(errno.into()))?;
        self.stream.write_all(bytes.get(sent..).unwrap_or_default()).map_err(Error::Talk)
    }

    /// Forwards a signal.
    ///
    /// # Errors
    /// If the connection is lost.
    pub fn signal(&mut self, number: i32, to_group: bool) -> Result<(), Error> {
        self.say(&ShellMessage::Signal { number, to_group })
    }

    /// Reports that the caller's terminal has another size.
    ///
    /// # Errors
    /// If the connection is lost.
    pub fn report_resize(&mut self) -> Result<(), Error> {
        self.say(&ShellMessage::Resized)
    }

    /// Sends a message. What a runtime that is gone had replied before is still to be read.
    fn say(&mut self, said: &ShellMessage) -> Result<(), Error> {
        match self.stream.write_all(&message(said)?) {
            Err(error) if is_gone(&error) => Ok(()),
            sent => sent.map_err(Error::Talk),
        }
    }

    /// Continues the requested command's conversation on the current tokio runtime.
    ///
    /// # Errors
    /// If there is no tokio runtime.
    pub fn converse(self) -> Result<ShellConversation, Error> {
        ShellConversation::new(self.stream, self.unread).map_err(Error::Talk)
    }

    /// Reads from the connection, blocking; returns the next reply once it is complete, [`Error::Gone`] at the end.
    ///
    /// # Errors
    /// If the connection is lost or the runtime breaks the protocol.
    pub fn read(&mut self) -> Result<Option<ShellReply>, Error> {
        if let Some(reply) = self.next_reply()? {
            return Ok(Some(reply));
        }
        self.fill()?;
        self.next_reply()
    }

    /// Returns the next complete reply that was already received.
    ///
    /// # Errors
    /// If the runtime breaks the protocol.
    pub fn next_reply(&mut self) -> Result<Option<ShellReply>, Error> {
        super::take(&mut self.unread, MAX_HELLO)
    }

    pub(in crate::link) fn send_line(&mut self, line: &[u8]) -> Result<(), Error> {
        self.stream.write_all(&[line, b"\n"].concat()).map_err(Error::Talk)
    }

    /// Waits for a line, this long, or however long it takes.
    pub(in crate::link) fn line_within(&mut self, time: Option<Duration>) -> Result<Vec<u8>, Error> {
        self.stream.set_read_timeout(time).map_err(Error::Talk)?;
        self.line()
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
            Err(errno) if is_gone(&errno.into()) => Err(Error::Gone),
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
    let message = serde_json::to_vec(message)?;
    let length = u32::try_from(message.len()).unwrap_or_default().to_be_bytes();
    Ok([&length[..], &message].concat())
}

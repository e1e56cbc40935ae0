//! The runtime's end of the `shell` role.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;

use super::{
    ALL_DESCRIPTORS, DESCRIPTORS, MAX_ARGUMENTS, MAX_HEADER, ShellMessage, ShellReply, ShellRequest,
};
use crate::link::frame::Frame;
use crate::link::hello::{PATIENCE, within};
use crate::link::{Client, Error};

/// Size limit of a caller's message, in bytes; input is the largest.
const MAX_MESSAGE: usize = 1 << 20;
/// The numbers that a descriptor above the standard streams may have.
const ABOVE: std::ops::Range<i32> = 3..1 << 20;
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// A request and its descriptors.
#[derive(Debug)]
pub struct ServedRequest {
    pub request: ShellRequest,
    /// The directory in which the command starts.
    pub workdir: OwnedFd,
    /// Its standard input.
    pub stdin: OwnedFd,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
    /// Its descriptors above these, with their numbers.
    pub descriptors: Vec<(i32, OwnedFd)>,
}

/// A connection on which one command was requested.
#[derive(Debug)]
pub struct ShellLine {
    stream: UnixStream,
    unread: Vec<u8>,
}

impl ShellLine {
    /// Waits at most 5 s for the request of an admitted client.
    ///
    /// # Errors
    /// If the client sends something else, too much, or nothing.
    pub async fn receive(client: Client) -> Result<(Self, ServedRequest), Error> {
        let Client { lines, writer, .. } = client;
        let reader = lines.into_reader();
        // A client may not send anything before it is admitted, and a reader that does not expect descriptors loses
        // them.
        if !reader.buffer().is_empty() {
            return Err(Error::frame("bytes before the request"));
        }
        let stream = reader.into_inner().into_inner().reunite(writer);
        let stream = stream.map_err(|_| Error::frame("two halves of different connections"))?;
        let mut line = Self { stream, unread: Vec::new() };
        let asked = within("request", PATIENCE, line.request()).await?;
        Ok((line, asked))
    }

    async fn request(&mut self) -> Result<ServedRequest, Error> {
        let (mut bytes, mut fds) = (Vec::new(), Vec::new());
        loop {
            if let Some((request, rest)) = ShellRequest::parse(&bytes)? {
                self.unread = rest.to_vec();
                let numbers = &request.descriptors;
                if fds.len() != DESCRIPTORS + numbers.len()
                    || numbers.iter().any(|number| !ABOVE.contains(number))
                {
                    return Err(Error::frame("not the descriptors of a command"));
                }
                let more = fds.split_off(DESCRIPTORS);
                let fds: [OwnedFd; DESCRIPTORS] =
                    fds.try_into().map_err(|_| Error::frame("not the descriptors of a command"))?;
                let [workdir, stdin, stdout, stderr] = fds;
                let descriptors = numbers.iter().copied().zip(more).collect();
                return Ok(ServedRequest { request, workdir, stdin, stdout, stderr, descriptors });
            }
            if bytes.len() > MAX_HEADER + MAX_ARGUMENTS + CHUNK || fds.len() > ALL_DESCRIPTORS {
                return Err(Error::frame("a request that is too long"));
            }
            let stream = &self.stream;
            let receiving = stream.async_io(Interest::READABLE, || receive_some(stream.as_fd(), &mut fds));
            let got = receiving.await.map_err(Error::Talk)?;
            if got.is_empty() {
                return Err(Error::Gone);
            }
            bytes.extend(got);
        }
    }

    /// Sends a reply to the caller. A caller that is gone is noticed by [`ShellLine::next`].
    pub async fn tell(&mut self, reply: &ShellReply) {
        if let Ok(frame) = Frame::json(reply) {
            let _ = frame.write(&mut self.stream).await;
        }
    }

    /// Returns the next message; `None` once the caller is gone. Cancellation-safe.
    pub async fn next(&mut self) -> Option<ShellMessage> {
        loop {
            if let Some(message) = super::take(&mut self.unread, MAX_MESSAGE).ok()? {
                return Some(message);
            }
            match self.stream.read_buf(&mut self.unread).await {
                Ok(1..) => {}
                _ => return None,
            }
        }
    }

    /// Closes the connection.
    pub async fn close(mut self) {
        let _ = self.stream.shutdown().await;
    }
}

fn receive_some(stream: BorrowedFd<'_>, fds: &mut Vec<OwnedFd>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(ALL_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = rustix::net::recvmsg(stream, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    bytes.truncate(received.bytes);
    Ok(bytes)
}

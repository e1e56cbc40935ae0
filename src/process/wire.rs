//! The messages on the control sockets: each is a length-prefixed JSON value, optionally with descriptors. Makes no
//! decisions.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::environment::OsText;
use super::group_counts::GroupCounts;
use super::{InheritedAttributes, MOST_DESCRIPTORS, ShellProfile, SignalScope, Turn};
use crate::config::Ceilings;
use crate::model::{Exit, Leftovers, Signal, UnendedProcess};

/// The size limit of a message, in bytes; a longer one means that the peer is broken.
const MAX_MESSAGE: usize = 64 << 20;
/// The workdir, three streams and further descriptors.
const MAX_DESCRIPTORS: usize = 4 + MOST_DESCRIPTORS;
const PREFIX: usize = 4;

/// The first message from the runtime to the host. Its descriptors are the workdir, followed by either the terminal,
/// or standard input (if `stdin`), output and error.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spec<'a> {
    pub(super) shell: OsText<'a>,
    pub(super) profile: ShellProfile,
    pub(super) cmd: String,
    /// A text that it finds as a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The full arguments of the shell, replacing `profile` and `cmd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<Vec<OsText<'a>>>,
    /// What the program that would have run it hands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inherited: Option<InheritedAttributes>,
    /// The numbers of its descriptors above the standard streams, which come last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) descriptors: Vec<i32>,
    pub(super) env: Vec<(OsText<'a>, OsText<'a>)>,
    /// The file mode creation mask; `None` for the runtime's.
    pub(super) umask: Option<u32>,
    pub(super) tty: bool,
    pub(super) stdin: bool,
    /// The soft descriptor limit the runtime was started with, if it raised its own.
    pub(super) descriptor_limit: Option<u64>,
    /// What it may take, and whether it must not run if the kernel cannot hold that.
    pub(super) ceilings: Ceilings,
    pub(super) must_hold: bool,
    pub(super) folder: OsText<'a>,
}

/// A request from the runtime to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HostRequest {
    Signal {
        signal: Signal,
        scope: SignalScope,
    },
    End {
        grace_ms: u64,
    },
    /// The output is drained. If `waits`, `leftovers` applies once no process is part of the command any more.
    Finish {
        leftovers: Leftovers,
        waits: bool,
    },
    /// Change the foreground process group of the terminal beside the command's streams.
    Turn(Turn),
    /// After the last report, to a host whose command ended by itself and left nothing: become the host of another
    /// task. It answers with [`HostReport::Forked`] and is then as one that was just created.
    Next(HostTask),
}

/// What a host is told about its task in advance; its command follows as a [`Spec`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostTask {
    /// The id of the task; a later runtime recognises the host by it.
    pub(super) id: Option<String>,
    /// The folder of the control group to create for the command.
    pub(super) group: Option<OsText<'static>>,
    /// The folder of the task, if it exists already.
    pub(super) folder: Option<OsText<'static>>,
}

/// A message from the runtime to the host, after the [`Spec`]: the command may be started now.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GoAhead {
    Go,
}

/// A report from the host to the runtime; the first one of a new host comes from the fork server. `polled` are the ceilings
/// that the kernel does not hold.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HostReport {
    Forked { pid: u32 },
    NotForked { errno: i32 },
    Started { pid: u32, polled: Ceilings },
    NotStarted(StartFailure),
    Exited(Exit),
    AtWork { names: Vec<String> },
    Leftovers { names: Vec<String> },
    Counted(GroupCounts),
    Ended { survivors: Vec<UnendedProcess> },
}

/// Why a command could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StartFailure {
    pub(super) stage: StartStage,
    pub(super) errno: i32,
}

/// The step of a start that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartStage {
    /// Having the kernel hold its ceilings.
    Ceilings,
    /// Creating a process for it.
    Process,
    /// Preparing that process: session, streams, the text of a long command.
    Prepare,
    /// Making the PTY its controlling terminal.
    Terminal,
    /// Entering the workdir.
    Workdir,
    /// Executing the shell.
    Exec,
}

impl StartStage {
    /// Returns the failure of this stage with an error.
    pub(super) fn failure(self, error: impl Into<io::Error>) -> StartFailure {
        StartFailure { stage: self, errno: error.into().raw_os_error().unwrap_or(libc::EIO) }
    }
}

pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; PREFIX];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - PREFIX).map_err(|_| io::ErrorKind::InvalidInput)?;
    bytes[..PREFIX].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Decodes a complete message.
pub(super) fn decode<T: DeserializeOwned>(message: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(message.get(PREFIX..).unwrap_or_default())?)
}

/// Sends a message and descriptors on a blocking socket.
pub(super) fn send(socket: impl AsFd, message: &impl Serialize, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_encoded(socket, &encode(message)?, fds)
}

/// Like [`send`], for a message that is already encoded.
pub(super) fn send_encoded(socket: impl AsFd, message: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let (mut rest, mut fds) = (message, fds);
    while !rest.is_empty() {
        let sent = send_some(&socket, rest, fds)?;
        rest = rest.get(sent..).unwrap_or_default();
        fds = &[];
    }
    Ok(())
}

/// Sends as many bytes as the socket takes, with the descriptors attached to the first byte; returns the number of
/// bytes sent.
pub(super) fn send_some(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)
    })?)
}

/// Sends messages if they fit into the socket's buffer now, because the peer may have stopped reading.
pub(super) fn send_now(socket: impl AsFd, messages: &[impl Serialize]) -> io::Result<()> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let bytes: Vec<u8> = messages.iter().map(encode).collect::<io::Result<Vec<_>>>()?.concat();
    rustix::net::send(socket, &bytes, flags)?;
    Ok(())
}

/// Receives one message with its descriptors from a blocking socket; `None` at end-of-file.
pub(super) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let Some((message, fds)) = receive_encoded(socket)? else { return Ok(None) };
    Ok(Some((decode(&message)?, fds)))
}

/// Like [`receive`], for a message that is passed on unchanged.
pub(super) fn receive_encoded(socket: impl AsFd) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut frames = Frames::default();
    let mut fds = Vec::new();
    loop {
        if let Some(message) = frames.take()? {
            return Ok(Some((message, fds)));
        }
        let mut bytes = vec![0; frames.missing().min(64 << 10)];
        let got = receive_some(&socket, &mut bytes, &mut fds)?;
        if got == 0 {
            return Ok(None);
        }
        frames.push(bytes.get(..got).unwrap_or_default());
    }
}

fn receive_some(socket: impl AsFd, bytes: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        let mut into = [IoSliceMut::new(bytes)];
        rustix::net::recvmsg(&socket, &mut into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok(received.bytes)
}

/// Splits a stream of bytes into messages.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Appends bytes that were read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the minimum number of bytes still missing from the next message.
    fn missing(&self) -> usize {
        let whole = self.length().map_or(PREFIX, |length| PREFIX + length);
        whole.saturating_sub(self.bytes.len())
    }

    fn length(&self) -> Option<usize> {
        let prefix = self.bytes.first_chunk::<PREFIX>()?;
        usize::try_from(u32::from_le_bytes(*prefix)).ok()
    }

    /// Takes the next complete message and decodes it.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        self.take()?.map(|message| decode(&message)).transpose()
    }

    /// Takes the bytes of the next complete message.
    fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(length) = self.length() else { return Ok(None) };
        if length > MAX_MESSAGE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let is_whole = self.bytes.len() >= PREFIX + length;
        Ok(is_whole.then(|| self.bytes.drain(..PREFIX + length).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_any_cut_of_the_stream() {
        let orders = [
            HostRequest::End { grace_ms: 5000 },
            HostRequest::Finish { leftovers: Leftovers::Keep, waits: true },
        ];
        let bytes: Vec<u8> = orders.iter().flat_map(|order| encode(order).expect("encodes")).collect();
        for size in 1..bytes.len() {
            let mut frames = Frames::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(size) {
                frames.push(piece);
                while let Some(order) = frames.next::<HostRequest>().expect("decodes") {
                    seen.push(order);
                }
            }
            assert_eq!(seen, orders, "cut every {size} bytes");
        }
    }

    #[test]
    fn an_absurd_length_is_an_error_and_no_allocation() {
        let mut frames = Frames::default();
        frames.push(&[0xff; 8]);
        assert!(frames.next::<HostRequest>().is_err());
    }

    #[test]
    fn descriptors_arrive_with_a_message_larger_than_the_socket_buffer() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("pair");
        let text = "x".repeat(1 << 20);
        std::thread::scope(|scope| {
            scope.spawn(|| send(&ours, &text, &[ours.as_fd(), ours.as_fd()]).expect("sends"));
            let (message, fds) = receive::<String>(&theirs).expect("receives").expect("a message");
            assert_eq!((message.len(), fds.len()), (text.len(), 2));
        });
    }
}

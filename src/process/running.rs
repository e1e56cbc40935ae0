//! A started command from the runtime's point of view: its streams, requests to its host, the host's events, and the
//! async task that carries both.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::host_event::HostEvent;
use super::lateness::{HOST_PATIENCE, LatenessWatch};
use super::orphans::OrphanSearch;
use super::peer::is_gone;
use super::start::creation::PATIENCE;
use super::start::hosts::HostProcess;
use super::stopped_host_watch::StoppedLooks;
use super::wire::{self, Frames, HostReport, HostRequest, StartFailure};
use super::{Pty, SignalScope, Turn, guard, sys, tree};
use crate::clock::millis;
use crate::config::Ceilings;
use crate::model::{Leftovers, Signal};

/// A host sends at most five events, so none is ever dropped.
const EVENTS: usize = 8;
/// More requests than a person or an agent can have in progress for one command.
const REQUESTS: usize = 64;

/// A started command.
#[derive(Debug)]
pub struct RunningCommand {
    /// The shell's process id; for the console only. `None` if the host was lost before it reported how the start went:
    /// whether any of the command ran cannot be known then, and [`HostEvent::Lost`] is the only event.
    pub pid: Option<u32>,
    /// Its ceilings that the kernel does not hold.
    pub polled: Ceilings,
    /// Our ends of its streams.
    pub io: Io,
    /// Our side of the terminal beside its streams, if it has one.
    pub side: Option<Pty>,
    /// Requests to its host.
    pub host: HostHandle,
    /// Events from its host. Dropping the receiver ends the command.
    pub events: mpsc::Receiver<HostEvent>,
}

/// Our ends of a command's streams, all non-blocking and close-on-exec.
#[derive(Debug)]
pub enum Io {
    Pipes {
        /// Its standard input, if kept open.
        stdin: Option<OwnedFd>,
        /// Its standard output.
        stdout: OwnedFd,
        /// Its standard error; `None` if that is its standard output.
        stderr: Option<OwnedFd>,
    },
    /// A terminal.
    Pty(Pty),
}

/// Sends requests to the host of one command. They never block and never fail: their outcome arrives as events, and a
/// host that does not react is killed, which is reported as [`HostEvent::Lost`].
#[derive(Debug, Clone)]
pub struct HostHandle {
    pid: Option<u32>,
    requests: mpsc::Sender<HostRequest>,
}

impl HostHandle {
    /// Returns the host's process id, while it has one.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Sends a signal to the processes in `scope`.
    pub fn signal(&self, signal: Signal, scope: SignalScope) {
        self.request(HostRequest::Signal { signal, scope });
    }

    /// Ends the whole tree: asks the processes to end, waits for `grace`, then kills them. A second call with a
    /// shorter grace period shortens it; with zero, the tree is killed immediately.
    pub fn end(&self, grace: Duration) {
        self.request(HostRequest::End { grace_ms: millis(grace) });
    }

    /// Reports that the output is drained, and says what happens to processes that outlived the shell: at once, or if
    /// `waits`, when none of them is part of the command any more. A second call without `waits` ends the wait.
    pub fn finish(&self, leftovers: Leftovers, waits: bool) {
        self.request(HostRequest::Finish { leftovers, waits });
    }

    /// Changes the foreground process group of the terminal beside the command's streams.
    pub fn give_turn(&self, turn: Turn) {
        self.request(HostRequest::Turn(turn));
    }

    fn request(&self, request: HostRequest) {
        // If the channel is full, the host has taken none of the last requests and is about to be given up. If it is
        // closed, the host is gone and the last event says so.
        let _ = self.requests.try_send(request);
    }
}

/// The runtime's end of a control socket.
#[derive(Debug)]
pub(super) struct Control {
    /// Watched for reports only. If it were watched for room as well, a thread would wake up whenever the host has read
    /// something.
    socket: AsyncFd<OwnedFd>,
    frames: Frames,
}

impl Control {
    /// Wraps a non-blocking socket.
    pub(super) fn new(socket: UnixStream) -> io::Result<Self> {
        Ok(Self { socket: sys::watch(socket.into(), Interest::READABLE)?, frames: Frames::default() })
    }

    /// Sends an encoded message and descriptors. The future must not be dropped before completion, unless the socket
    /// is dropped as well.
    pub(super) async fn send(&self, message: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let (mut rest, mut fds) = (message, fds);
        while !rest.is_empty() {
            match wire::send_some(self.socket.get_ref(), rest, fds) {
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    fds = &[];
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.room().await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the host has read some of what was sent.
    async fn room(&self) -> io::Result<()> {
        let socket = UnixStream::from(self.socket.get_ref().try_clone()?);
        tokio::net::UnixStream::from_std(socket)?.writable().await
    }

    /// Waits for the host's next report. Cancellation-safe.
    pub(super) async fn receive(&mut self) -> io::Result<HostReport> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(report) = self.frames.next()? {
                return Ok(report);
            }
            let mut ready = self.socket.readable().await?;
            match rustix::io::retry_on_intr(|| rustix::io::read(self.socket.get_ref(), &mut bytes)) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    if read < bytes.len() {
                        ready.clear_ready();
                    }
                    self.frames.push(bytes.get(..read).unwrap_or_default());
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A host that was told to start its command.
pub(super) struct StartingHost {
    pub(super) control: Control,
    pub(super) process: HostProcess,
    /// Whether the shell is in its host's session because it has a terminal beside its streams.
    pub(super) is_aside: bool,
    pub(super) task_id: Option<String>,
}

/// Takes over a host that has sent its last report, or returns it.
type HostReuse = Box<dyn FnOnce((Control, HostProcess)) -> Option<(Control, HostProcess)> + Send>;

/// Carries requests and events between the runtime and one host until the host is gone.
pub(super) struct HostLink {
    host: StartingHost,
    /// The process id of the shell, once the host has reported it.
    shell: Option<u32>,
    events: mpsc::Sender<HostEvent>,
    requests: mpsc::Receiver<HostRequest>,
    watch: LatenessWatch,
    stops: StoppedLooks,
    after: HostReuse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkEnd {
    /// The host sent its last report.
    Ended,
    /// Nobody receives its events any more.
    Forgotten,
    /// The host is gone without a report, or takes no requests.
    Lost,
}

impl HostLink {
    /// Links a host.
    pub(super) fn new(
        host: StartingHost,
        stops: StoppedLooks,
        after: HostReuse,
    ) -> (Self, HostHandle, mpsc::Receiver<HostEvent>) {
        let (events, receiver) = mpsc::channel(EVENTS);
        let (sender, requests) = mpsc::channel(REQUESTS);
        let pid = host.process.id();
        let link =
            Self { host, shell: None, events, requests, watch: LatenessWatch::default(), stops, after };
        (link, HostHandle { pid, requests: sender }, receiver)
    }

    /// Waits for the host's report on the start of the command, before [`HostLink::run`]. `None` if it is lost: killed,
    /// stopped for too long, or silent. Cancellation-safe.
    pub(super) async fn start(&mut self) -> Option<Result<(u32, Ceilings), StartFailure>> {
        // The host limits each of its steps by a third of this.
        let late = Instant::now() + 3 * PATIENCE;
        loop {
            tokio::select! {
                biased;
                report = self.host.control.receive() => return match report {
                    Ok(HostReport::Started { pid, polled }) => Some(Ok((*self.shell.insert(pid), polled))),
                    Ok(HostReport::NotStarted(failure)) => Some(Err(failure)),
                    _ => None,
                },
                () = sleep_until(late) => return None,
                look = self.stops.next() => {
                    if self.is_stopped_for_long(look) {
                        return None;
                    }
                }
            }
        }
    }

    /// Runs until the host is gone and reaped.
    pub(super) async fn run(mut self) {
        match self.carry().await {
            LinkEnd::Lost => self.lose().await,
            LinkEnd::Forgotten => self.reap().await,
            LinkEnd::Ended if !self.watch.shell_gone => self.reap().await,
            LinkEnd::Ended => {
                let StartingHost { control, process, .. } = self.host;
                if let Some((control, process)) = (self.after)((control, process)) {
                    leave(control, process).await;
                }
            }
        }
    }

    /// Closes the socket, which makes a host that is still there end the tree, and waits until it is gone.
    pub(super) async fn reap(self) {
        leave(self.host.control, self.host.process).await;
    }

    /// Kills the host and everything that it had started, and reports the loss.
    pub(super) async fn lose(self) {
        let Self {
            host: StartingHost { control, process, is_aside, task_id },
            shell,
            events,
            watch,
            stops,
            ..
        } = self;
        // Nobody needs to look at this host any more.
        drop(stops);
        let session = if is_aside { process.id() } else { shell };
        process.start_kill();
        leave(control, process).await;
        let session = session.filter(|_| !watch.shell_gone);
        let search = OrphanSearch { session, task_id, since: 0, keeper: guard::keeper() };
        let orphans = tokio::task::spawn_blocking(move || search.end()).await.unwrap_or_default();
        tracing::warn!(shell, ?orphans, "the task host is gone; what it left was killed");
        let _ = events.try_send(HostEvent::Lost { survivors: orphans.survivors });
    }

    async fn carry(&mut self) -> LinkEnd {
        loop {
            let late = self.watch.deadline();
            tokio::select! {
                biased;
                report = self.host.control.receive() => match report.map(|report| self.pass_on(report)) {
                    Ok(false) => {}
                    Ok(true) => return LinkEnd::Ended,
                    Err(_) => return LinkEnd::Lost,
                },
                Some(request) = self.requests.recv() => {
                    match self.send(&request).await {
                        // The host has left by itself or was killed; its last report and the end of its socket will
                        // tell.
                        Err(error) if is_gone(&error) => {}
                        Err(_) => return LinkEnd::Lost,
                        Ok(()) => {}
                    }
                }
                () = self.events.closed() => return LinkEnd::Forgotten,
                () = sleep_until(late.unwrap_or_else(Instant::now)), if late.is_some() => return LinkEnd::Lost,
                look = self.stops.next() => {
                    if self.is_stopped_for_long(look) {
                        return LinkEnd::Lost;
                    }
                }
            }
        }
    }

    /// Tells at this look whether the host has been stopped for too long.
    fn is_stopped_for_long(&mut self, look: u64) -> bool {
        let is_stopped = self.host.process.id().is_some_and(tree::is_stopped);
        self.stops.count(look, is_stopped)
    }

    /// Passes a report on; returns true for the last one.
    fn pass_on(&mut self, report: HostReport) -> bool {
        let event = match report {
            HostReport::Forked { .. }
            | HostReport::NotForked { .. }
            | HostReport::Started { .. }
            | HostReport::NotStarted(_) => return false,
            HostReport::Exited(status) => HostEvent::Exited(status),
            HostReport::AtWork { names } => HostEvent::AtWork { names },
            HostReport::Leftovers { names } => HostEvent::Leftovers { names },
            HostReport::Counted(counts) => HostEvent::Counted(counts),
            HostReport::Ended { survivors } => HostEvent::Ended { survivors },
        };
        self.watch.note_event(&event, Instant::now());
        let is_last = matches!(event, HostEvent::Ended { .. });
        let _ = self.events.try_send(event);
        is_last
    }

    async fn send(&mut self, request: &HostRequest) -> io::Result<()> {
        self.watch.note_request(request, Instant::now());
        let message = wire::encode(request)?;
        timeout(HOST_PATIENCE, self.host.control.send(&message, &[])).await?
    }
}

/// Waits until a host that is no longer needed is gone; kills it if that takes too long.
async fn leave(control: Control, mut process: HostProcess) {
    drop(control);
    if timeout(HOST_PATIENCE, process.wait()).await.is_err() {
        process.start_kill();
        process.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_that_does_not_fit_into_the_socket_is_sent_piece_by_piece() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        ours.set_nonblocking(true).expect("set");
        let control = Control::new(ours).expect("registered");
        let message: Vec<u8> = (0..4_u32 << 20).map(|at| at.to_le_bytes()[at as usize % 4]).collect();
        let reader = tokio::task::spawn_blocking(move || {
            let mut read = Vec::new();
            std::io::Read::read_to_end(&mut theirs, &mut read).map(|_| read)
        });
        control.send(&message, &[]).await.expect("sent");
        drop(control);
        assert!(reader.await.expect("runs").expect("read") == message);
    }
}

//! One task's descriptors as the pump holds them: reading from them, and deciding when their drain is over.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use tokio::sync::mpsc;

use super::copying::OwedDelivery;
use super::event::ByteEvent;
use super::inlet::Inlet;
use super::outlet::Outlet;
use super::task_io::TaskIo;
use crate::process::{TerminalRead, read_output, read_terminal};
use crate::terminal::ByteSource;

/// After a shell's exit, its output is complete when no byte arrives for this long (docs/contract.md#execcommand).
pub(super) const QUIET: Duration = Duration::from_millis(100);
/// After a shell's exit, reading continues for no longer than this.
pub(super) const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// Reads from one descriptor before the next one gets its turn.
pub(super) const READS: usize = 4;
/// If more descriptors than this have something to read, each gets one read before the next one gets its turn.
pub(super) const FEW: usize = 2;
/// Descriptor slots per task: three to read, one to write, three to copy to, one that its caller types on.
pub(super) const SLOTS: u64 = 8;
/// The slot to write to.
pub(super) const WRITER: u64 = 3;
/// The first of the slots to copy to; the first source is copied there.
pub(super) const FIRST_OUTLET: u64 = 4;
/// The slot that its caller types on.
pub(super) const INLET: u64 = 7;

/// A descriptor to read and the stream it carries.
pub(crate) type Source = (ByteSource, OwnedFd);

/// A task to watch: non-blocking descriptors to read, where each is copied to, by index, where its input goes, and where
/// its caller types.
#[derive(Debug)]
pub(crate) struct TaskDescriptors {
    pub(crate) io: Arc<TaskIo>,
    pub(crate) sources: Vec<Source>,
    pub(crate) outlets: Vec<Outlet>,
    pub(crate) writer: Option<Arc<OwnedFd>>,
    pub(crate) inlet: Option<Inlet>,
}

impl TaskDescriptors {
    /// Registers its descriptors under a key.
    pub(super) fn register(&self, poll: &OwnedFd, key: u64) {
        let Self { io, sources, writer, inlet, .. } = self;
        let sources = (0..WRITER).zip(sources).map(|(slot, (stream, fd))| (slot, fd, interest(*stream)));
        for (slot, fd, interest) in
            sources.chain(writer.iter().map(|fd| (WRITER, &**fd, EventFlags::empty())))
        {
            if let Err(error) = epoll::add(poll, fd, data_of(key, slot), interest) {
                tracing::error!(%error, task = %io.id, slot, "watch a descriptor");
            }
        }
        inlet.iter().for_each(|inlet| inlet.listen(poll, key));
    }
}

/// One task's descriptors.
pub(super) struct FdEntry {
    pub(super) io: Arc<TaskIo>,
    /// The epoll set that its sources and outlets are in.
    pub(super) poll: Arc<OwnedFd>,
    pub(super) sources: [Option<Source>; 3],
    /// Where each source is copied to, by index.
    pub(super) outlets: [Option<Outlet>; 3],
    pub(super) delivery: OwedDelivery,
    pub(super) writer: Option<Arc<OwnedFd>>,
    pub(super) inlet: Option<Inlet>,
    pub(super) drain: Option<Drain>,
    pub(super) paused: bool,
}

/// A drain in progress.
pub(super) struct Drain {
    pub(super) since: Duration,
    pub(super) last_byte: Duration,
}

impl FdEntry {
    /// Takes over descriptors that are registered in `poll`.
    pub(super) fn of(
        TaskDescriptors { io, sources, outlets, writer, inlet }: TaskDescriptors,
        poll: Arc<OwnedFd>,
    ) -> Self {
        let (mut slots, mut copies) = ([const { None }; 3], [const { None }; 3]);
        slots.iter_mut().zip(sources).for_each(|(slot, source)| *slot = Some(source));
        copies.iter_mut().zip(outlets).for_each(|(slot, outlet)| *slot = Some(outlet));
        let (drain, delivery) = (None, OwedDelivery::default());
        Self { io, poll, sources: slots, outlets: copies, delivery, writer, inlet, drain, paused: false }
    }

    /// Returns the slot of the terminal beside the task's streams. The runtime keeps that terminal open, so it never
    /// reaches end-of-file by itself.
    pub(super) fn aside(&self) -> Option<usize> {
        let is_tty =
            |source: &Option<Source>| source.as_ref().is_some_and(|(stream, _)| *stream == ByteSource::Tty);
        self.sources.iter().position(is_tty).filter(|_| !self.io.tty)
    }

    /// Tells whether all streams have reached their ends.
    pub(super) fn has_ended(&self) -> bool {
        let aside = self.aside();
        self.sources.iter().enumerate().all(|(slot, source)| source.is_none() || Some(slot) == aside)
    }

    /// Tells whether no descriptor is left and nobody waits for anything of it.
    pub(super) fn is_over(&self) -> bool {
        let is_open = self.sources.iter().any(Option::is_some) || self.outlets.iter().any(Option::is_some);
        let is_awaited = self.drain.is_some() || self.delivery.is_awaited();
        !is_open && !is_awaited && self.writer.is_none()
    }

    /// Tells whether a drain is over: end-of-file everywhere, quiet for long enough, or out of time.
    pub(super) fn is_drained(&mut self, now: Duration) -> bool {
        let (waits, ended) = (self.paused || self.is_undelivered(), self.has_ended());
        let Some(drain) = &mut self.drain else { return true };
        if waits {
            // Its bytes wait for a parser or for a reader: the task is not quiet.
            drain.last_byte = now;
        }
        ended || now >= drain.last_byte + QUIET || now >= drain.since + DRAIN_LIMIT
    }

    /// Tells whether it may be read at a pace: a terminal whose output goes nowhere else and has not ended.
    pub(super) fn may_be_paced(&self) -> bool {
        let is_copied = self.outlets.iter().any(Option::is_some);
        self.io.tty && !is_copied && self.drain.is_none() && self.delivery.closing.is_none()
    }

    pub(super) fn pause(&mut self, key: u64) {
        self.paused = true;
        self.listen(key, false);
        // A parser may have emptied the ring between the two steps above.
        if !self.io.lock_ring().blocked {
            self.paused = false;
            self.listen(key, true);
        }
    }

    /// Sets whether its output is reported as readable.
    pub(super) fn listen(&self, key: u64, listens: bool) {
        for (slot, source) in self.sources.iter().enumerate() {
            let Some((stream, fd)) = source else { continue };
            let interest = if listens { interest(*stream) } else { EventFlags::empty() };
            let _ = epoll::modify(&self.poll, fd, data_of(key, slot as u64), interest);
        }
    }

    /// Has a terminal reported again whose other side is closed: what is left in it takes more than one read.
    pub(super) fn rearm(&self, key: u64, slot: usize) {
        if let Some((stream, fd)) = self.sources.get(slot).and_then(Option::as_ref)
            && *stream == ByteSource::Tty
        {
            let interest = self.interest(*stream);
            let _ = epoll::modify(&self.poll, fd, data_of(key, slot as u64), interest);
        }
    }

    /// Moves its sources to another epoll set.
    pub(super) fn move_to(&mut self, poll: &Arc<OwnedFd>, key: u64) {
        for (slot, source) in self.sources.iter().enumerate() {
            let Some((stream, fd)) = source else { continue };
            let _ = epoll::delete(&self.poll, fd);
            let _ = epoll::add(poll, fd, data_of(key, slot as u64), self.interest(*stream));
        }
        self.poll = poll.clone();
    }

    /// Follows what the program does with its input, before the output that comes with that is shown.
    pub(super) fn follow_input(&self, is_flushed: bool, events: &mpsc::Sender<ByteEvent>) {
        if self.io.follow_input(is_flushed) {
            let _ = events.blocking_send(ByteEvent::InputLost(self.io.id.clone()));
        }
    }

    /// Returns how a stream is watched now.
    pub(super) fn interest(&self, stream: ByteSource) -> EventFlags {
        if self.paused { EventFlags::empty() } else { interest(stream) }
    }
}

/// Returns how a stream is watched. A terminal is reported once for each piece that arrives in it: to check whether one
/// that was just read has more, as epoll does otherwise, the kernel first processes what is on its way through that
/// terminal, and the thread waits for that, behind all other floods. Whatever arrives after a read is reported.
pub(super) fn interest(stream: ByteSource) -> EventFlags {
    if stream == ByteSource::Tty { EventFlags::IN | EventFlags::ET } else { EventFlags::IN }
}

/// Returns the value by which epoll names a slot of a task.
pub(super) fn data_of(key: u64, slot: u64) -> EventData {
    EventData::new_u64(key * SLOTS + slot)
}

/// Why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadEnd {
    /// It was enough for one turn.
    Enough,
    /// Nothing more was there.
    Dry,
    /// It has reached its end.
    Closed,
}

/// Reads what is available in a few reads. Fewer and
/// larger chunks also make the writing process faster (up to 1.6 times in measurements), but a keystroke must not
/// wait for them: a terminal delivers 4 KiB at a time, and more than 16 KiB of a flood in a row would be noticeable.
pub(super) fn read_available((stream, fd): &Source, buffer: &mut [u8], reads: usize) -> Available {
    let mut available = Available { length: 0, end: ReadEnd::Enough, is_flushed: false };
    let (mut left, mut reports) = (reads, MOST_REPORTS);
    while left > 0 && available.length < buffer.len() {
        let room = &mut buffer[available.length..];
        let read = match stream {
            ByteSource::Tty => read_terminal(fd, room),
            ByteSource::Stdout | ByteSource::Stderr => read_output(fd, room).map(TerminalRead::Output),
        };
        left -= 1;
        match read {
            Ok(TerminalRead::Output(0)) => available.end = ReadEnd::Closed,
            Ok(TerminalRead::Output(read)) => available.length += read,
            // It comes instead of output, which is not reported again.
            Ok(report) => {
                available.is_flushed |= report == TerminalRead::Flush;
                left += usize::from(reports > 0);
                reports = reports.saturating_sub(1);
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => available.end = ReadEnd::Dry,
            Err(_) => available.end = ReadEnd::Closed,
        }
        if available.end != ReadEnd::Enough {
            break;
        }
    }
    available
}

/// So many reports of a terminal in a row do not count as reads: a program that makes many may not keep the thread.
const MOST_REPORTS: usize = 64;

/// What was read of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Available {
    pub(super) length: usize,
    pub(super) end: ReadEnd,
    /// Whether a terminal has reported that its input was thrown away.
    pub(super) is_flushed: bool,
}

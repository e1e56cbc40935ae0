//! One task's descriptors as the pump holds them: reading from them, and deciding when their drain is over.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use super::copying::Delivery;
use super::outlet::Outlet;
use super::pump::Source;
use super::task_io::TaskIo;
use crate::terminal::Stream;

/// After a shell's exit, its output is complete when no byte arrives for this long (docs/contract.md#execcommand).
pub(super) const QUIET: Duration = Duration::from_millis(100);
/// After a shell's exit, reading continues for no longer than this.
pub(super) const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// Reads from one descriptor before the next one gets its turn.
const READS: usize = 4;
/// Descriptor slots per task: three to read, one to write, three to copy to.
pub(super) const SLOTS: u64 = 8;
/// The first of the slots to copy to; the first source is copied there.
pub(super) const FIRST_OUTLET: u64 = 4;

/// One task's descriptors.
pub(super) struct FdEntry {
    pub(super) io: Arc<TaskIo>,
    pub(super) sources: [Option<Source>; 3],
    /// Where each source is copied to, by index.
    pub(super) outlets: [Option<Outlet>; 3],
    pub(super) delivery: Delivery,
    pub(super) writer: Option<OwnedFd>,
    pub(super) drain: Option<Drain>,
    pub(super) paused: bool,
}

/// A drain in progress.
pub(super) struct Drain {
    pub(super) since: Duration,
    pub(super) last_byte: Duration,
}

impl FdEntry {
    /// Returns the slot of the terminal beside the task's streams. The runtime keeps that terminal open, so it never
    /// reaches end-of-file by itself.
    pub(super) fn aside(&self) -> Option<usize> {
        let is_tty =
            |source: &Option<Source>| source.as_ref().is_some_and(|(stream, _)| *stream == Stream::Tty);
        self.sources.iter().position(is_tty).filter(|_| !self.io.tty)
    }

    /// Tells whether all streams have reached their ends.
    pub(super) fn has_ended(&self) -> bool {
        let aside = self.aside();
        self.sources.iter().enumerate().all(|(slot, source)| source.is_none() || Some(slot) == aside)
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

    pub(super) fn pause(&mut self, poll: &OwnedFd, key: u64) {
        self.paused = true;
        self.listen(poll, key, EventFlags::empty());
        // A parser may have emptied the ring between the two steps above.
        if !self.io.lock_ring().blocked {
            self.paused = false;
            self.listen(poll, key, EventFlags::IN);
        }
    }

    pub(super) fn listen(&self, poll: &OwnedFd, key: u64, interest: EventFlags) {
        for (slot, source) in self.sources.iter().enumerate() {
            if let Some((_, fd)) = source {
                let data = EventData::new_u64(key * SLOTS + slot as u64);
                let _ = epoll::modify(poll, fd, data, interest);
            }
        }
    }
}

/// Reads what is available in a few reads; returns the number of bytes, and whether the end was reached. Fewer and
/// larger chunks also make the writing process faster (up to 1.6 times in measurements), but a keystroke must not
/// wait for them: a terminal delivers 4 KiB at a time, and more than 16 KiB of a flood in a row would be noticeable.
pub(super) fn read_available(fd: &OwnedFd, buffer: &mut [u8]) -> (usize, bool) {
    let mut length = 0;
    for _ in 0..READS {
        match rustix::io::read(fd, &mut buffer[length..]) {
            Ok(0) => return (length, length < buffer.len()),
            Ok(read) => length += read,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return (length, false),
            // A PTY that no process has open any more fails with EIO, which is its end-of-file.
            Err(_) => return (length, true),
        }
    }
    (length, false)
}

//! One task's descriptors as the pump holds them: what is read, when its drain is over.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use super::pump::Source;
use super::task_io::TaskIo;

/// After the exit of a shell: this long without a byte counts as all of it (docs/contract.md#execcommand).
pub(super) const QUIET: Duration = Duration::from_millis(100);
/// After the exit of a shell: no longer than this, quiet or not.
pub(super) const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// Reads of one descriptor before the next one has its turn.
const READS: usize = 4;
/// Descriptors of one task: two to read, one to write.
pub(super) const SLOTS: u64 = 4;

/// One task's descriptors.
pub(super) struct FdEntry {
    pub(super) io: Arc<TaskIo>,
    pub(super) sources: [Option<Source>; 3],
    pub(super) writer: Option<OwnedFd>,
    pub(super) drain: Option<Drain>,
    pub(super) paused: bool,
}

/// A drain under way.
pub(super) struct Drain {
    pub(super) since: Duration,
    pub(super) last_byte: Duration,
}

impl FdEntry {
    /// Tells whether a drain is over: end of file everywhere, quiet, or out of time.
    pub(super) fn is_drained(&mut self, now: Duration) -> bool {
        let Some(drain) = &mut self.drain else { return true };
        if self.paused {
            // Its bytes wait for a parser: that is not quiet.
            drain.last_byte = now;
        }
        let ended = self.sources.iter().all(Option::is_none);
        ended || now >= drain.last_byte + QUIET || now >= drain.since + DRAIN_LIMIT
    }

    pub(super) fn pause(&mut self, poll: &OwnedFd, key: u64) {
        self.paused = true;
        self.listen(poll, key, EventFlags::empty());
        // A parser may have taken the ring between the two steps above.
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

/// Reads until nothing is there, a few times at most; returns the length and whether it ended. Fewer, larger chunks
/// also make the writing process faster (measured: up to 1.6 times), but a key must not wait for them: a terminal
/// gives 4 KiB a time, and more than 16 KiB of a flood in a row were felt.
pub(super) fn gather(fd: &OwnedFd, buffer: &mut [u8]) -> (usize, bool) {
    let mut length = 0;
    for _ in 0..READS {
        match rustix::io::read(fd, &mut buffer[length..]) {
            Ok(0) => return (length, length < buffer.len()),
            Ok(read) => length += read,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return (length, false),
            // A PTY whose last holder is gone answers EIO: that is its end of file.
            Err(_) => return (length, true),
        }
    }
    (length, false)
}

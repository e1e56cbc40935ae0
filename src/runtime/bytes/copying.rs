//! The pump's handling of output that is forwarded to a caller: a caller that does not read stalls only its own
//! command, and everything written before the shell's end is delivered before the caller learns of that end.

use std::io;
use std::time::Duration;

use rustix::event::epoll::{self, EventFlags};
use rustix::io::ioctl_fionread;
use tokio::sync::mpsc;

use super::event::ByteEvent;
use super::fd_entry::{FIRST_OUTLET, FdEntry, ReadEnd, Source, data_of};
use super::inlet::Inlet;
use super::outlet::{CopyResult, Outlet};
use crate::terminal::ByteSource;

/// How long a command may keep writing to a caller that no longer reads, before its pipe breaks too. Meanwhile, a
/// caller that was killed is noticed.
const BROKEN: Duration = Duration::from_millis(300);

/// The most bytes that lie in a terminal, unless others write while they are read.
const MOST_IN_TERMINAL: usize = 128 << 10;

/// What must still be delivered before a task's end can be reported.
#[derive(Debug, Default)]
pub(super) struct OwedDelivery {
    /// Bytes of each stream that were written before the shell ended and are still unread.
    owed: Option<[usize; 3]>,
    /// The task has ended: what is left is delivered, until this deadline at most.
    pub(super) closing: Option<ClosingTask>,
    /// Its caller is gone, so it no longer matters whether anyone reads.
    is_detached: bool,
}

/// A task that has ended while its caller has not read everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClosingTask {
    /// The deadline; `None` waits indefinitely.
    pub(super) until: Option<Duration>,
}

impl OwedDelivery {
    /// Notes that nothing more lies in a stream.
    pub(super) fn has_run_dry(&mut self, slot: usize) {
        self.owed.iter_mut().filter_map(|owed| owed.get_mut(slot)).for_each(|owed| *owed = 0);
    }

    /// Tells whether something that was written before the shell ended may still lie in a stream.
    pub(super) fn owes(&self, slot: usize) -> bool {
        self.owed.is_some_and(|owed| owed.get(slot).is_some_and(|owed| *owed > 0))
    }

    /// Tells whether anyone waits for a report about it.
    pub(super) fn is_awaited(&self) -> bool {
        self.owed.is_some() || self.closing.is_some()
    }
}

impl FdEntry {
    /// Forwards bytes that were read from a source.
    pub(super) fn copy(&mut self, key: u64, slot: usize, bytes: &[u8], now: Duration) {
        if let Some(owed) = self.delivery.owed.as_mut().and_then(|owed| owed.get_mut(slot)) {
            *owed = owed.saturating_sub(bytes.len());
        }
        let Some(outlet) = self.outlets.get_mut(slot).and_then(Option::as_mut) else { return };
        match outlet.copy(bytes, now) {
            CopyResult::All => {}
            CopyResult::Stuck => self.stall(key, slot),
            CopyResult::Broken => {
                if let Some(errno) = outlet.failure() {
                    // Only the first error counts.
                    let _ = self.io.unwritten.set(io::Error::from(errno).to_string());
                }
                let is_over = outlet.broken_since().is_some_and(|since| now >= since + BROKEN);
                // A terminal does not break: it is hung up, which its programs are told by a signal.
                if is_over && !self.delivery.is_detached && !self.io.tty {
                    self.end_source(slot);
                }
            }
        }
    }

    /// Tells whether the stream waits for its caller to read.
    pub(super) fn is_stalled(&self, slot: usize) -> bool {
        self.outlets.get(slot).and_then(Option::as_ref).is_some_and(Outlet::is_stuck)
    }

    /// Stops reading a stream until its caller has read. Its source is removed from the epoll set, where its end
    /// would be reported forever.
    fn stall(&mut self, key: u64, slot: usize) {
        if let Some((_, fd)) = self.sources.get(slot).and_then(Option::as_ref) {
            let _ = epoll::delete(&self.poll, fd);
        }
        if let Some(outlet) = self.outlets.get(slot).and_then(Option::as_ref) {
            let data = data_of(key, FIRST_OUTLET + slot as u64);
            // It may have been added already.
            let _ = epoll::add(&self.poll, outlet, data, EventFlags::OUT);
        }
    }

    /// Writes what is pending for a stream's caller, and resumes reading the stream once nothing is pending.
    pub(super) fn flush(&mut self, key: u64, slot: usize, now: Duration) {
        let Some(outlet) = self.outlets.get_mut(slot).and_then(Option::as_mut) else { return };
        if outlet.flush(now) == CopyResult::Stuck {
            return;
        }
        if let Some(errno) = outlet.failure() {
            let _ = self.io.unwritten.set(io::Error::from(errno).to_string());
        }
        let _ = epoll::delete(&self.poll, &*outlet);
        match self.sources.get(slot).and_then(Option::as_ref) {
            Some((stream, fd)) => {
                let data = data_of(key, slot as u64);
                let _ = epoll::add(&self.poll, fd, data, self.interest(*stream));
            }
            None => self.end_outlet(slot),
        }
    }

    /// Notes how a read of a stream ended.
    pub(super) fn note_read_end(&mut self, end: ReadEnd, slot: usize) {
        match end {
            ReadEnd::Dry => self.delivery.has_run_dry(slot),
            ReadEnd::Closed => self.end_outlet(slot),
            ReadEnd::Enough => {}
        }
    }

    /// Closes the caller's descriptor once its stream has ended, so that readers see end-of-file.
    pub(super) fn end_outlet(&mut self, slot: usize) {
        if !self.is_stalled(slot)
            && let Some(outlet) = self.outlets.get_mut(slot)
        {
            *outlet = None;
        }
    }

    fn end_source(&mut self, slot: usize) {
        if let Some(source) = self.sources.get_mut(slot)
            && let Some((_, fd)) = source.take()
        {
            let _ = epoll::delete(&self.poll, fd);
        }
    }

    /// Notes that the shell has ended: what is in its pipes now was written before.
    pub(super) fn owe(&mut self) {
        let lying = |source: &Option<Source>| match source {
            // The kernel counts only a part of what lies in a terminal.
            Some((ByteSource::Tty, _)) if self.io.tty => MOST_IN_TERMINAL,
            // What was written to a terminal beside the streams is not forwarded.
            Some((ByteSource::Tty, _)) | None => 0,
            Some((_, fd)) => {
                ioctl_fionread(fd).ok().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default()
            }
        };
        let mut owed = [0; 3];
        owed.iter_mut().zip(&self.sources).for_each(|(owed, source)| *owed = lying(source));
        self.delivery.owed = Some(owed);
    }

    /// Reports, once, that everything written before the shell's end has been delivered.
    pub(super) fn settle_delivery(&mut self, events: &mpsc::Sender<ByteEvent>) {
        let Some(owed) = self.delivery.owed else { return };
        let is_read = |slot: usize| owed[slot] == 0 || self.sources[slot].is_none();
        if (0..owed.len()).all(|slot| is_read(slot) && !self.is_stalled(slot)) {
            self.delivery.owed = None;
            let _ = events.blocking_send(ByteEvent::Delivered(self.io.id.clone()));
        }
    }

    /// Tells whether anything remains to be read or delivered to the caller.
    pub(super) fn has_more(&self) -> bool {
        let lies_there = |slot: usize| {
            let source = self.sources[slot].as_ref().filter(|_| self.outlets[slot].is_some());
            source.is_some_and(|(_, fd)| ioctl_fionread(fd).is_ok_and(|bytes| bytes > 0))
        };
        self.is_undelivered() || (0..self.sources.len()).any(lies_there)
    }

    /// Tells whether the caller still has to read.
    pub(super) fn is_undelivered(&self) -> bool {
        (0..self.outlets.len()).any(|slot| self.is_stalled(slot))
    }

    /// Notes that the caller is gone: the task continues whether or not anyone reads.
    pub(super) fn detach(&mut self) {
        self.delivery.is_detached = true;
        self.inlet.take().into_iter().for_each(Inlet::give_back);
    }
}

//! Reads what tasks write: stores it, shows it, and passes it on.

use std::sync::atomic::Ordering;

use rustix::event::epoll::{self, EventFlags};

use super::event::ByteEvent;
use super::fd_entry::{Available, READS, ReadEnd, WRITER, read_available};
use super::pump::Worker;
use crate::terminal::ByteSource;

/// As much as this of a task that a person types into, mostly the echo of a key, is parsed where it was read: waking a
/// parser takes longer.
const SHORT: usize = 4 << 10;
/// So is as much as this of any task while few have something to read.
const LINE: usize = 512;

impl Worker {
    pub(super) fn can_read(&mut self, key: u64, slot: u64, (flags, reads): (EventFlags, usize)) {
        self.read(key, slot, reads);
        if flags.contains(EventFlags::HUP)
            && let (Some(entry), Ok(slot)) = (self.entries.get(&key), usize::try_from(slot))
        {
            entry.rearm(key, slot);
        }
    }

    /// Reads what a stream has, in a few reads at most.
    pub(super) fn read(&mut self, key: u64, slot: u64, reads: usize) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let Ok(slot) = usize::try_from(slot) else { return };
        if entry.is_stalled(slot) {
            return;
        }
        let is_aside = entry.aside() == Some(slot);
        let Some(source) = entry.sources.get_mut(slot) else { return };
        let Some(open) = source else { return };
        // Set before the read, so that a thread that finds the terminal empty knows that something was there.
        let has_spoken = is_aside && entry.io.has_spoken.swap(true, Ordering::AcqRel);
        let Available { length, end, is_flushed } = read_available(open, &mut self.buffer, reads);
        let ended = end == ReadEnd::Closed;
        if is_aside && length == 0 {
            entry.io.has_spoken.store(has_spoken, Ordering::Release);
        }
        let stream = open.0;
        if ended {
            let _ = epoll::delete(&entry.poll, &open.1);
            *source = None;
        }
        if is_flushed || stream == ByteSource::Tty && length <= SHORT {
            entry.follow_input(is_flushed, &self.events);
        }
        let is_last = ended && entry.has_ended();
        if length > 0 {
            let taken = entry.io.ingest(stream, &self.buffer[..length], self.parsers.ring_bytes());
            if let Some(drain) = &mut entry.drain {
                drain.last_byte = self.clock.now().mono;
            }
            entry.copy(key, slot, &self.buffer[..length], self.clock.now().mono);
            let is_line = reads == READS && length <= LINE && entry.io.screen.is_whole();
            if is_line || length <= SHORT && self.prioritized.contains(&entry.io.id) {
                self.parsers.parse_short(&entry.io, &mut self.piece);
            } else {
                self.parsers.submit(&entry.io);
            }
            entry.io.tell_counts();
            if taken.full {
                entry.pause(key);
            }
            if taken.overrun {
                let _ = self.events.blocking_send(ByteEvent::Overrun(entry.io.id.clone()));
            }
        }
        entry.note_read_end(end, slot);
        if is_last {
            entry.io.end();
        }
        entry.settle_delivery(&self.events);
        self.note_piece(key, length);
        if end == ReadEnd::Enough {
            self.read_owed(key, slot);
        }
        if is_last {
            self.release(key);
        }
    }

    pub(super) fn resume(&mut self, key: u64) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.listen(key, true);
            entry.paused = false;
        }
    }

    pub(super) fn read_prioritized(&mut self) {
        for at in 0..self.prioritized.len() {
            let Some(&key) = self.names.get(&self.prioritized[at]) else { continue };
            let is_read = self.entries.get(&key).is_some_and(|entry| !entry.paused);
            (0..WRITER).filter(|_| is_read).for_each(|slot| self.read(key, slot, READS));
        }
    }
}

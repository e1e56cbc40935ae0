//! The pump's handling of a task after its shell has ended: its output is drained and delivered, and its descriptors
//! are closed.

use std::time::Duration;

use rustix::event::{Timespec, epoll};

use super::copying::ClosingTask;
use super::event::ByteEvent;
use super::fd_entry::{
    Available, DRAIN_LIMIT, Drain, FdEntry, QUIET, READS, ReadEnd, WRITER, read_available,
};
use super::pump::{BUFFER_BYTES, Worker};
use super::ring::RING_BYTES;
use crate::terminal::ByteSource;

impl Worker {
    /// Continues a stream whose caller can be written to again.
    pub(super) fn can_copy(&mut self, key: u64, slot: u64) {
        let (Some(entry), Ok(slot)) = (self.entries.get_mut(&key), usize::try_from(slot)) else { return };
        entry.flush(key, slot, self.clock.now().mono);
        entry.settle_delivery(&self.events);
        self.read_owed(key, slot);
    }

    pub(super) fn begin_delivery(&mut self, key: u64) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        entry.owe();
        // Its caller types for others from now on.
        entry.inlet = None;
        entry.settle_delivery(&self.events);
        self.read_owed(key, 0);
    }

    /// Reads the rest of what a task's terminal owes: that nothing is left in it is not reported.
    pub(super) fn read_owed(&mut self, key: u64, slot: usize) {
        let owes = |entry: &FdEntry| entry.io.tty && entry.delivery.owes(slot) && !entry.is_stalled(slot);
        if self.entries.get(&key).is_some_and(owes) {
            self.read(key, slot as u64, READS);
        }
    }

    pub(super) fn detach(&mut self, key: u64) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.detach();
        }
    }

    /// Writes a line to the task's standard error (or to its standard output if both share one stream), in order with
    /// the task's own output.
    pub(super) fn say(&mut self, key: u64, line: &[u8]) {
        let now = self.clock.now().mono;
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let slot_of = |stream: ByteSource| {
            entry.sources.iter().position(|source| source.as_ref().is_some_and(|(own, _)| *own == stream))
        };
        let of = |stream: ByteSource| slot_of(stream).map(|slot| (stream, slot));
        let Some((stream, slot)) = of(ByteSource::Stderr).or_else(|| of(ByteSource::Stdout)) else { return };
        entry.io.ingest(stream, line, RING_BYTES);
        entry.copy(key, slot, line, now);
        self.parsers.submit(&entry.io);
        entry.io.tell_counts();
    }

    pub(super) fn begin_close(&mut self, key: u64, patience: Option<Duration>) {
        self.free(key);
        let until = patience.map(|patience| self.clock.now().mono + patience);
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.delivery.closing = Some(ClosingTask { until });
            self.closing.push(key);
        }
    }

    /// Closes the ended tasks whose callers have read everything or whose deadline has passed.
    pub(super) fn settle_closing(&mut self) {
        let now = self.clock.now().mono;
        for key in std::mem::take(&mut self.closing) {
            let Some(entry) = self.entries.get(&key) else { continue };
            let is_late = |closing: ClosingTask| closing.until.is_some_and(|until| now >= until);
            if entry.has_more() && !entry.delivery.closing.is_some_and(is_late) {
                self.closing.push(key);
                continue;
            }
            let id = entry.io.id.clone();
            self.close(key);
            let _ = self.events.blocking_send(ByteEvent::Closed(id));
        }
    }

    pub(super) fn begin_drain(&mut self, key: u64) {
        self.free(key);
        // A terminal beside the streams has no end to read up to.
        if let Some(aside) = self.entries.get(&key).and_then(FdEntry::aside) {
            self.read(key, aside as u64, READS);
        }
        let now = self.clock.now().mono;
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.drain = Some(Drain { since: now, last_byte: now });
            self.draining.push(key);
        }
    }

    /// Reports the drains that are complete.
    pub(super) fn settle_drains(&mut self) {
        for key in std::mem::take(&mut self.draining) {
            if self.is_drained(key) && !self.reads_more(key) {
                let Some(entry) = self.entries.get_mut(&key) else { continue };
                entry.drain = None;
                let _ = self.events.blocking_send(ByteEvent::Drained(entry.io.id.clone()));
            } else {
                self.draining.push(key);
            }
        }
    }

    fn is_drained(&mut self, key: u64) -> bool {
        let now = self.clock.now().mono;
        self.entries.get_mut(&key).is_none_or(|entry| entry.is_drained(now))
    }

    /// Reads what a task has that seems to be quiet: on a busy machine the kernel may not have reported it yet. Returns whether
    /// it is drained no longer.
    fn reads_more(&mut self, key: u64) -> bool {
        if self.entries.get(&key).is_some_and(|entry| !entry.has_ended()) {
            (0..WRITER).for_each(|slot| self.read(key, slot, READS));
        }
        !self.is_drained(key)
    }

    pub(super) fn next_deadline(&self) -> Option<Timespec> {
        let now = self.clock.now().mono;
        let drains = self.draining.iter().filter_map(|key| self.entries.get(key)?.drain.as_ref());
        let drains = drains.map(|drain| (drain.last_byte + QUIET).min(drain.since + DRAIN_LIMIT));
        let closing = self.closing.iter().filter_map(|key| self.entries.get(key)?.delivery.closing?.until);
        let settling = drains.chain(closing).min().map(|next| next.saturating_sub(now));
        let wait = settling.into_iter().chain(self.pacing.wait(now)).min()?;
        Some(Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        })
    }

    /// Lets go of a task that has no descriptors left.
    pub(super) fn release(&mut self, key: u64) {
        if self.entries.get(&key).is_some_and(FdEntry::is_over)
            && let Some(entry) = self.entries.remove(&key)
        {
            self.names.remove(&entry.io.id);
            self.pacing.leave(key);
            entry.io.release();
        }
    }

    pub(super) fn close(&mut self, key: u64) {
        let Some(entry) = self.entries.remove(&key) else { return };
        self.names.remove(&entry.io.id);
        self.pacing.leave(key);
        for source in entry.sources.into_iter().flatten() {
            // What was written between the drain and the end of the tree: at most what the kernel buffers.
            let mut taken = 0;
            while taken < BUFFER_BYTES {
                let Available { length, end, .. } = read_available(&source, &mut self.buffer, READS);
                if length > 0 {
                    entry.io.ingest(source.0, &self.buffer[..length], RING_BYTES);
                    entry.io.tell_counts();
                }
                taken += length;
                if length == 0 || end == ReadEnd::Closed {
                    break;
                }
            }
            let _ = epoll::delete(&entry.poll, &source.1);
        }
        entry.io.finish_log();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::sync::Arc;

    use rustix::pipe::{PipeFlags, pipe_with};
    use tokio::sync::mpsc::channel;

    use super::super::fd_entry::TaskDescriptors;
    use super::super::parsers::Parsers;
    use super::super::task_io::{TaskIo, TaskIoSpec};
    use super::*;
    use crate::clock::Clock;
    use crate::envelope::TaskId;
    use crate::runtime::log::LogFiles;
    use crate::terminal::Size;

    #[test]
    fn a_drain_ends_after_a_read_that_found_nothing_however_late_output_is_reported() {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let tokio = tokio.expect("a runtime");
        let _entered = tokio.enter();
        let dir = tempfile::tempdir().expect("temp dir");
        let clock = Clock::start();
        let (events, mut reported) = channel(8);
        let parsers = Parsers::start(clock.clone(), Arc::default(), events.clone()).expect("threads");
        let mut worker = Worker::new(clock.clone(), parsers.clone(), events).expect("a worker");
        let io = TaskIo::begin(TaskIoSpec {
            id: TaskId::random(),
            folder: dir.path().to_owned(),
            files: LogFiles::create(dir.path()).expect("files"),
            tty: false,
            answers: true,
            size: Size::default(),
            head_bytes: 1 << 20,
            tail_bytes: 1 << 10,
            output_bytes: None,
            clock,
            counted: Arc::default(),
        });
        let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).expect("a pipe");
        let sources = vec![(ByteSource::Stdout, read)];
        let watched = TaskDescriptors { io: io.clone(), sources, outlets: vec![], writer: None, inlet: None };
        worker.add(1, watched);
        worker.begin_drain(1);
        File::from(write.try_clone().expect("a copy")).write_all(b"got x\n").expect("written");
        tokio.block_on(tokio::time::advance(QUIET));
        worker.settle_drains();
        assert!(reported.try_recv().is_err(), "it was not quiet");
        assert_eq!(io.output().bytes, 6);
        tokio.block_on(tokio::time::advance(QUIET));
        worker.settle_drains();
        assert!(matches!(reported.try_recv(), Ok(ByteEvent::Drained(_))));
        parsers.stop();
    }
}

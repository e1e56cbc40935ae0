//! The output and input of one task, shared by the pump, parsers and readers: log, counters, ring, screen and input
//! queue.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::input_queue::InputQueue;
use super::lock::lock;
use super::ring::ByteRing;
use crate::clock::Clock;
use crate::envelope::TaskId;
use crate::model::OutputView;
use crate::process::Pty;
use crate::runtime::log::{LogFiles, OutputLog};
use crate::runtime::screen::TaskScreen;
use crate::terminal::{ByteOrigin, ByteSource, Size};

/// How much of a task's output is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StoredProgress {
    /// Bytes stored in the merged log.
    pub(crate) stored: u64,
    /// Whether the task has ended and all its output is stored.
    pub(crate) settled: bool,
    /// Whether the task listens on a port.
    pub(crate) listening: bool,
    /// Whether the task certainly waits for input, and whether a caller has been told.
    pub(crate) asks: bool,
    pub(crate) is_told: bool,
}

/// The result of storing a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IngestResult {
    /// Whether the ring is full, so that the task must wait.
    pub(super) full: bool,
    /// Whether this chunk made the task exceed its output limit.
    pub(super) overrun: bool,
}

/// The parameters of a [`TaskIo`].
pub(crate) struct TaskIoSpec {
    pub(crate) id: TaskId,
    pub(crate) folder: PathBuf,
    pub(crate) files: LogFiles,
    pub(crate) tty: bool,
    /// Whether its screen answers the program's queries; otherwise its caller's terminal does.
    pub(crate) answers: bool,
    pub(crate) size: Size,
    pub(crate) head_bytes: u64,
    pub(crate) tail_bytes: usize,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) clock: Clock,
    pub(crate) counted: Arc<Notify>,
}

/// The output and input of one task.
// Locks, not messages: each guards a few appends or takes by one of two threads, never I/O that can block on a person
// or a child.
#[derive(Debug)]
pub(crate) struct TaskIo {
    pub(crate) id: TaskId,
    pub(crate) folder: PathBuf,
    /// Whether its streams are a terminal.
    pub(crate) tty: bool,
    /// Whether its screen answers the program's queries.
    pub(super) answers: bool,
    /// Whether replies wait until its terminal no longer echoes them.
    pub(crate) has_early_reply: AtomicBool,
    /// Why output could not be written to its caller's descriptors.
    pub(crate) unwritten: OnceLock<String>,
    pub(crate) screen: Arc<TaskScreen>,
    pub(crate) progress: watch::Sender<StoredProgress>,
    /// Its terminal, once it was started with one: either its streams or beside them.
    pub(crate) pty: OnceLock<Pty>,
    pub(super) ring: Mutex<ByteRing>,
    pub(super) typed: Mutex<InputQueue>,
    /// Whether a console shows it.
    pub(in crate::runtime) visible: AtomicBool,
    closed: AtomicBool,
    /// Whether the pump has none of its descriptors any more.
    released: AtomicBool,
    /// Whether every descriptor has reached its end and the log is complete.
    complete: AtomicBool,
    /// Whether anything arrived from the terminal beside its streams.
    pub(super) has_spoken: AtomicBool,
    log: Mutex<OutputLog>,
    counts: OutputCounts,
    output_bytes: Option<u64>,
    clock: Clock,
    since: Duration,
    /// Notified when counts change.
    counted: Arc<Notify>,
}

/// Counters of a task's output.
#[derive(Debug, Default)]
struct OutputCounts {
    bytes: AtomicU64,
    /// Those of them from standard error.
    stderr: AtomicU64,
    /// Bytes that the other counters leave out: from the terminal beside its streams, or typed by its caller.
    aside: AtomicU64,
    lines: AtomicU64,
    dropped: AtomicU64,
    /// When the last byte arrived, in milliseconds since the Unix epoch; 0 before the first.
    last_at: AtomicU64,
    /// When the last byte of any kind arrived, in milliseconds since the task's creation.
    heard_ms: AtomicU32,
    /// Milliseconds from the task's creation to the first byte, plus one; 0 before the first.
    first_ms: AtomicU64,
}

impl TaskIo {
    /// Begins with an empty screen and with `files` in which the size is recorded.
    pub(crate) fn begin(spec: TaskIoSpec) -> Arc<Self> {
        let origin = ByteOrigin::of(spec.tty);
        let log = OutputLog::begin(&spec.folder, spec.files, spec.head_bytes, spec.tail_bytes);
        let since = spec.clock.now().mono;
        Arc::new(Self {
            id: spec.id,
            folder: spec.folder,
            tty: spec.tty,
            answers: spec.answers,
            has_early_reply: AtomicBool::new(false),
            screen: Arc::new(TaskScreen::blank(spec.size, origin)),
            progress: watch::Sender::new(StoredProgress::default()),
            pty: OnceLock::new(),
            unwritten: OnceLock::new(),
            ring: Mutex::default(),
            typed: Mutex::default(),
            visible: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            released: AtomicBool::new(false),
            complete: AtomicBool::new(false),
            has_spoken: AtomicBool::new(false),
            log: Mutex::new(log),
            counts: OutputCounts::default(),
            output_bytes: spec.output_bytes,
            clock: spec.clock,
            since,
            counted: spec.counted,
        })
    }

    /// Stores a chunk, counts it and adds it to the ring, where so many bytes may wait. [`Self::tell_counts`] says so.
    pub(super) fn ingest(&self, stream: ByteSource, bytes: &[u8], most: usize) -> IngestResult {
        if stream == ByteSource::Tty && !self.tty {
            return self.ingest_aside(bytes, most);
        }
        let (dropped, stored) = {
            let mut log = self.lock_log();
            (log.append(stream, bytes, self.elapsed_ms()), log.position())
        };
        let length = bytes.len() as u64;
        let before = self.counts.bytes.fetch_add(length, Ordering::Relaxed);
        if stream == ByteSource::Stderr {
            self.counts.stderr.fetch_add(length, Ordering::Relaxed);
        }
        if before == 0 {
            self.counts.first_ms.store(u64::from(self.elapsed_ms()) + 1, Ordering::Relaxed);
        }
        let overrun = self.output_bytes.is_some_and(|limit| before <= limit && before + length > limit);
        self.counts.lines.fetch_add(memchr::memchr_iter(b'\n', bytes).count() as u64, Ordering::Relaxed);
        self.counts.dropped.fetch_add(dropped, Ordering::Relaxed);
        let now = u64::try_from(self.clock.now().wall.as_millisecond()).unwrap_or_default();
        self.counts.last_at.store(now, Ordering::Relaxed);
        self.counts.heard_ms.store(self.elapsed_ms(), Ordering::Relaxed);
        self.progress.send_if_modified(|progress| {
            let moved = progress.stored != stored;
            progress.stored = stored;
            moved
        });
        IngestResult { full: self.lock_ring().ingest(false, bytes, most), overrun }
    }

    /// Stores a chunk from the terminal beside its streams: it is shown and logged, but is not part of the command's
    /// output.
    fn ingest_aside(&self, bytes: &[u8], most: usize) -> IngestResult {
        self.lock_log().append(ByteSource::Tty, bytes, self.elapsed_ms());
        self.counts.aside.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.counts.heard_ms.store(self.elapsed_ms(), Ordering::Relaxed);
        IngestResult { full: self.lock_ring().ingest(true, bytes, most), overrun: false }
    }

    /// Counts bytes that its caller has typed.
    pub(super) fn count_typed(&self, length: usize) {
        self.counts.aside.fetch_add(length as u64, Ordering::Relaxed);
        self.tell_counts();
    }

    /// Says that the counts of its output have changed, after what was stored was shown: that is more urgent.
    pub(super) fn tell_counts(&self) {
        self.counted.notify_one();
    }

    /// Tells whether the last line from the terminal beside its streams is unfinished.
    pub(crate) fn asks(&self) -> bool {
        self.lock_ring().dialogue.asks()
    }

    /// Returns how many bytes it has written, to its output or to the terminal beside it, and how many its caller has
    /// typed: while that grows, it waits for nothing.
    pub(crate) fn byte_count(&self) -> u64 {
        self.counts.bytes.load(Ordering::Relaxed) + self.counts.aside.load(Ordering::Relaxed)
    }

    /// Returns for how many milliseconds no byte has arrived.
    pub(crate) fn silent_ms(&self) -> u32 {
        self.elapsed_ms().saturating_sub(self.counts.heard_ms.load(Ordering::Relaxed))
    }

    /// Completes the log after the last byte, appending the kept tails to the heads.
    pub(super) fn finish_log(&self) {
        let mut log = self.lock_log();
        log.finish(self.elapsed_ms());
        let stored = log.position();
        drop(log);
        self.progress.send_modify(|progress| progress.stored = stored);
    }

    /// Sets the size of the screen and records it in the log.
    pub(crate) fn resize(&self, size: Size) {
        self.screen.update(|terminal| terminal.resize(size));
        self.lock_log().resize(size, self.elapsed_ms());
    }

    /// Records in the log that input is sent.
    pub(super) fn note_input(&self) {
        self.lock_log().note_input(self.elapsed_ms());
    }

    /// Returns the counts so far.
    pub(crate) fn output(&self) -> OutputView {
        let last = i64::try_from(self.counts.last_at.load(Ordering::Relaxed)).unwrap_or_default();
        OutputView {
            bytes: self.counts.bytes.load(Ordering::Relaxed),
            stderr_bytes: self.counts.stderr.load(Ordering::Relaxed),
            lines: self.counts.lines.load(Ordering::Relaxed),
            dropped_bytes: self.counts.dropped.load(Ordering::Relaxed),
            last_at: (last > 0).then(|| jiff::Timestamp::from_millisecond(last).ok()).flatten(),
        }
    }

    /// Returns how long after the task's creation the first byte arrived, in milliseconds.
    pub(crate) fn first_byte_ms(&self) -> Option<u64> {
        self.counts.first_ms.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Returns the end of a stream that is not in the log yet.
    pub(crate) fn live_tail(&self, stream: ByteSource) -> Option<Vec<u8>> {
        self.lock_log().live_tail(stream)
    }

    /// Returns the end of the merged log on disk.
    pub(crate) fn log_end(&self) -> u64 {
        self.lock_log().position()
    }

    /// Completes the log once every descriptor has reached its end.
    pub(super) fn end(&self) {
        self.finish_log();
        self.complete.store(true, Ordering::Release);
    }

    /// Tells whether the log is complete and nothing more can arrive.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire) && !self.may_speak()
    }

    /// Tells whether something may be unread on the terminal beside its streams. Once anything has arrived there, the
    /// end of that terminal is left to the pump.
    fn may_speak(&self) -> bool {
        // The order matters: whatever the pump has read by the time of the first check is known by the second.
        let lies_there = || self.pty.get().is_some_and(Pty::has_output);
        !self.tty && (lies_there() || self.has_spoken.load(Ordering::Acquire))
    }

    /// Notes that the pump has none of its descriptors any more.
    pub(super) fn release(&self) {
        self.released.store(true, Ordering::Release);
    }

    /// Tells whether the pump has none of its descriptors any more.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    /// Marks the output as complete; the screen is dropped once the ring is empty.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn lock_ring(&self) -> MutexGuard<'_, ByteRing> {
        lock(&self.ring)
    }

    pub(super) fn lock_typed(&self) -> MutexGuard<'_, InputQueue> {
        lock(&self.typed)
    }

    fn lock_log(&self) -> MutexGuard<'_, OutputLog> {
        lock(&self.log)
    }

    fn elapsed_ms(&self) -> u32 {
        let elapsed = self.clock.now().mono.saturating_sub(self.since);
        u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX)
    }
}

//! The pool of threads that feed terminals from rings: the focused task first, then the others in turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use super::event::ByteEvent;
use super::lock::lock;
use super::pump::Pump;
use super::ring::{self, SLICE, Slice};
use super::task_io::TaskIo;
use super::viewers::Viewers;
use crate::clock::{Clock, millis};
use crate::process;
use crate::runtime::log;
use crate::terminal::LogBytes;

/// How much of the log's end is used to rebuild a screen after a panic.
const REBUILD_BYTES: u64 = 256 << 10;

/// A buffer larger than this is freed after a period without work.
const SMALL_BYTES: usize = 64 << 10;
/// The length of that period.
const KEEP_LARGE: Duration = Duration::from_millis(100);

/// The handle of the pool.
#[derive(Debug)]
pub(crate) struct Parsers {
    queue: Mutex<ParserQueue>,
    ready: Condvar,
    /// How many tasks wait: read for each piece of output, without the lock.
    waiting: AtomicUsize,
    viewers: Arc<Viewers>,
    pump: OnceLock<Weak<Pump>>,
    events: mpsc::Sender<ByteEvent>,
    clock: Clock,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct ParserQueue {
    tasks: VecDeque<Arc<TaskIo>>,
    stop: bool,
}

impl Parsers {
    /// Starts `min(4, cores / 2)` threads, at least one.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(crate) fn start(
        clock: Clock,
        viewers: Arc<Viewers>,
        events: mpsc::Sender<ByteEvent>,
    ) -> std::io::Result<Arc<Self>> {
        let parsers = Arc::new(Self {
            queue: Mutex::default(),
            ready: Condvar::new(),
            waiting: AtomicUsize::new(0),
            viewers,
            pump: OnceLock::new(),
            events,
            clock,
            threads: Mutex::default(),
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for number in 0..(cores / 2).clamp(1, 4) {
            let own = parsers.clone();
            let thread =
                std::thread::Builder::new().name(format!("parser-{number}")).spawn(move || own.run())?;
            lock(&parsers.threads).push(thread);
        }
        Ok(parsers)
    }

    /// Names the pump to wake when a ring has room again.
    pub(crate) fn connect(&self, pump: &Arc<Pump>) {
        let _ = self.pump.set(Arc::downgrade(pump));
    }

    /// Returns how many bytes of a task may wait for a parser.
    pub(super) fn ring_bytes(&self) -> usize {
        ring::share(self.waiting.load(Ordering::Relaxed))
    }

    /// Queues a task's ring for parsing.
    pub(super) fn submit(&self, io: &Arc<TaskIo>) {
        let is_queued = std::mem::replace(&mut io.lock_ring().queued, true);
        if !is_queued {
            self.enqueue(io.clone());
        }
    }

    /// Parses a task's ring on the calling thread, unless it is queued already. `piece` is empty before and after.
    pub(super) fn parse_short(&self, io: &Arc<TaskIo>, piece: &mut Vec<u8>) {
        let is_queued = std::mem::replace(&mut io.lock_ring().queued, true);
        if !is_queued {
            self.parse(io, piece);
        }
    }

    /// Has what is left of an ended task parsed and its terminal dropped; without a parser, if it never wrote anything.
    pub(crate) fn finish(&self, io: &Arc<TaskIo>) {
        io.close();
        let ring = io.lock_ring();
        let is_unused = !ring.queued && ring.bytes.is_empty();
        drop(ring);
        if is_unused && io.output().bytes == 0 && !io.visible.load(Ordering::Relaxed) {
            io.screen.drop_terminal();
        } else {
            self.submit(io);
        }
    }

    /// Stops the threads once their current slices are done.
    pub(crate) fn stop(&self) {
        self.lock_queue().stop = true;
        self.ready.notify_all();
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a parser thread had panicked");
            }
        }
    }

    fn enqueue(&self, io: Arc<TaskIo>) {
        let is_first = self.viewers.is_focused(&io.id);
        self.push(io, is_first);
    }

    fn push(&self, io: Arc<TaskIo>, is_first: bool) {
        let mut queue = self.lock_queue();
        if is_first {
            queue.tasks.push_front(io)
        } else {
            queue.tasks.push_back(io)
        }
        self.waiting.store(queue.tasks.len(), Ordering::Relaxed);
        drop(queue);
        self.ready.notify_one();
    }

    fn run(&self) {
        process::take_short_turns();
        let mut piece = Vec::new();
        while let Some(io) = self.next(&mut piece) {
            self.parse(&io, &mut piece);
        }
    }

    /// Waits for the next task. `piece` is empty; its memory is freed after a while without work.
    fn next(&self, piece: &mut Vec<u8>) -> Option<Arc<TaskIo>> {
        let mut queue = self.lock_queue();
        loop {
            if queue.stop {
                return None;
            }
            if let Some(io) = queue.tasks.pop_front() {
                self.waiting.store(queue.tasks.len(), Ordering::Relaxed);
                return Some(io);
            }
            if piece.capacity() > SMALL_BYTES {
                let (woken, rest) =
                    self.ready.wait_timeout(queue, KEEP_LARGE).unwrap_or_else(PoisonError::into_inner);
                if rest.timed_out() {
                    *piece = Vec::new();
                }
                queue = woken;
            } else {
                queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Parses what is in the ring, then queues the task again if more has arrived. `piece` is empty before and after.
    fn parse(&self, io: &Arc<TaskIo>, piece: &mut Vec<u8>) {
        let (blocked, mut slice) = {
            let mut ring = io.lock_ring();
            (ring.swap_out(piece), ring.slice)
        };
        if blocked && let Some(pump) = self.pump.get().and_then(Weak::upgrade) {
            pump.unblock(&io.id);
        }
        let mut parsed = 0;
        while parsed < piece.len() {
            let until = piece.len().min(parsed + slice.bytes());
            self.feed(io, &piece[parsed..until], &mut slice);
            parsed = until;
            if parsed < piece.len() && self.focus_waits(io) {
                break;
            }
        }
        let mut ring = io.lock_ring();
        ring.slice = slice;
        let more = ring.put_back(piece, parsed);
        drop(ring);
        if more {
            self.push(io.clone(), false);
        } else if io.is_closed() {
            io.screen.drop_terminal();
            self.viewers.wake_all(io.visible.load(Ordering::Relaxed));
        }
    }

    fn feed(&self, io: &Arc<TaskIo>, bytes: &[u8], slice: &mut Slice) {
        let started = self.clock.now().mono;
        let now_ms = millis(started);
        let colours = self.viewers.colours(&io.id);
        let fed = io.screen.feed(|terminal| {
            terminal.note_time(now_ms);
            terminal.set_colours(colours);
            let fed = terminal.feed(bytes);
            terminal.note_time(now_ms);
            if fed.reset {
                terminal.rebuild(&log_tail(io));
            }
            fed
        });
        let spent = self.clock.now().mono.saturating_sub(started);
        slice.adapt(bytes.len(), spent);
        self.viewers.wake_all(io.visible.load(Ordering::Relaxed));
        if let Some(fed) = fed {
            if fed.reset {
                let _ = self.events.blocking_send(ByteEvent::ScreenReset(io.id.clone()));
            }
            if !fed.replies.is_empty() {
                self.reply(io, &fed.replies);
            }
        }
        // Let a waiting reader go first: it takes microseconds, and at most one slice.
        let until = self.clock.now().mono + SLICE;
        while io.screen.is_wanted() && self.clock.now().mono < until {
            std::thread::yield_now();
        }
    }

    fn reply(&self, io: &TaskIo, bytes: &[u8]) {
        if !io.answers {
            return;
        }
        if io.echoes_lines() {
            // Whoever asks for more before it prepares its terminal gets no more.
            if io.has_early_reply.swap(true, Ordering::Relaxed) {
                return;
            }
            let _ = self.events.blocking_send(ByteEvent::EarlyReply(io.id.clone(), bytes.to_vec()));
        } else if io.queue_reply(bytes)
            && let Some(pump) = self.pump.get().and_then(Weak::upgrade)
        {
            pump.write(&io.id);
        }
    }

    fn focus_waits(&self, io: &TaskIo) -> bool {
        let queue = self.lock_queue();
        queue.tasks.front().is_some_and(|first| first.id != io.id && self.viewers.is_focused(&first.id))
    }

    fn lock_queue(&self) -> std::sync::MutexGuard<'_, ParserQueue> {
        lock(&self.queue)
    }
}

/// Returns the end of a task's log for rebuilding its screen; empty if it cannot be read.
fn log_tail(io: &TaskIo) -> Vec<u8> {
    let tail = log::open_log(&io.folder).and_then(|file| {
        let length = LogBytes::len(&file);
        file.read_range(length.saturating_sub(REBUILD_BYTES)..length)
    });
    tail.unwrap_or_else(|error| {
        tracing::warn!(%error, task = %io.id, "read the log to rebuild a screen; it starts blank");
        Vec::new()
    })
}

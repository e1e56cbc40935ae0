//! The thread that reads the output of all tasks and writes their input.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use tokio::sync::mpsc;

use super::event::ByteEvent;
use super::fd_entry::{FEW, FIRST_OUTLET, FdEntry, INLET, READS, SLOTS, TaskDescriptors, WRITER};
use super::lock::lock;
use super::pacing::PacedTerminals;
use super::parsers::Parsers;
use super::pump_request::PumpRequest;
use crate::clock::Clock;
use crate::envelope::TaskId;
use crate::process;

/// The capacity of a pipe.
pub(super) const BUFFER_BYTES: usize = 64 << 10;
const WAKE: u64 = u64::MAX;

/// The handle of the pump thread.
#[derive(Debug)]
pub(crate) struct Pump {
    shared: Arc<PumpState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct PumpState {
    requests: Mutex<Vec<PumpRequest>>,
    /// Whether the thread was woken for requests: cheaper to check between reads than the list.
    has_requests: AtomicBool,
    wake: OwnedFd,
    poll: Arc<OwnedFd>,
    /// The key of the next task.
    next: AtomicU64,
}

impl Pump {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system provides no epoll instance, eventfd or thread.
    pub(crate) fn start(
        clock: Clock,
        parsers: Arc<Parsers>,
        events: mpsc::Sender<ByteEvent>,
    ) -> io::Result<Arc<Self>> {
        let worker = Worker::new(clock, parsers, events)?;
        let shared = worker.shared.clone();
        let thread = std::thread::Builder::new().name("pump".into()).spawn(move || worker.run())?;
        Ok(Arc::new(Self { shared, thread: Mutex::new(Some(thread)) }))
    }

    /// Starts reading a task's output and writing its input. The thread is not woken before there is something to read.
    pub(crate) fn watch(&self, watched: TaskDescriptors) {
        let key = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let has_input = watched.io.has_input();
        // The thread may see the first event before this returns; the lock makes it wait for the request.
        let mut requests = lock(&self.shared.requests);
        watched.register(&self.shared.poll, key);
        requests.push(PumpRequest::Watch(key, watched));
        drop(requests);
        if has_input {
            self.wake();
        }
    }

    /// Writes a line to the task's standard error.
    pub(crate) fn say(&self, id: &TaskId, line: Vec<u8>) {
        self.request(PumpRequest::Say(id.clone(), line));
    }

    /// Reports `Delivered` once what is in the task's pipes now has reached its caller.
    pub(crate) fn deliver(&self, id: &TaskId) {
        self.request(PumpRequest::Deliver(id.clone()));
    }

    /// Notes that the task's caller is gone: the task continues whether or not anyone reads.
    pub(crate) fn detach(&self, id: &TaskId) {
        self.request(PumpRequest::Detach(id.clone()));
    }

    /// Writes the task's queued input.
    pub(crate) fn write(&self, id: &TaskId) {
        self.request(PumpRequest::Write(id.clone()));
    }

    /// Notes that input was written to the task, which is soon enough when the thread wakes for something else.
    pub(crate) fn note_input(&self, id: &TaskId) {
        let mut requests = lock(&self.shared.requests);
        let is_noted =
            |request: &PumpRequest| matches!(request, PumpRequest::NoteInput(noted) if noted == id);
        if !requests.iter().any(is_noted) {
            requests.push(PumpRequest::NoteInput(id.clone()));
        }
        drop(requests);
        self.shared.has_requests.store(true, Ordering::Release);
    }

    /// Resumes reading a task whose ring was full.
    pub(super) fn unblock(&self, id: &TaskId) {
        self.request(PumpRequest::Unblock(id.clone()));
    }

    /// Reports `Drained` once the task's output is quiet.
    pub(crate) fn drain(&self, id: &TaskId) {
        self.request(PumpRequest::Drain(id.clone()));
    }

    /// Reads what is left, completes the log and closes the descriptors, once the caller has read everything or
    /// `patience` has passed.
    pub(crate) fn close(&self, id: &TaskId, patience: Option<Duration>) {
        self.request(PumpRequest::Close { id: id.clone(), patience });
    }

    /// Like `close`, for a task whose log is complete; nothing is reported.
    pub(crate) fn forget(&self, id: &TaskId) {
        self.request(PumpRequest::Forget(id.clone()));
    }

    /// Reads these tasks before all others, because a person types into them.
    pub(crate) fn prioritize(&self, ids: Vec<TaskId>) {
        self.request(PumpRequest::Prioritize(ids));
    }

    /// Stops the thread.
    pub(crate) fn stop(&self) {
        self.request(PumpRequest::Quit);
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the pump thread had panicked");
        }
    }

    fn request(&self, request: PumpRequest) {
        lock(&self.shared.requests).push(request);
        self.wake();
    }

    fn wake(&self) {
        self.shared.has_requests.store(true, Ordering::Release);
        // The write fails only when the counter is full, and then the thread is awake anyway.
        let _ = rustix::io::write(&self.shared.wake, &1u64.to_ne_bytes());
    }
}

pub(super) struct Worker {
    shared: Arc<PumpState>,
    pub(super) poll: Arc<OwnedFd>,
    /// The epoll set of the paced terminals.
    pub(super) paced: Arc<OwnedFd>,
    pub(super) pacing: PacedTerminals,
    pub(super) clock: Clock,
    pub(super) parsers: Arc<Parsers>,
    pub(super) events: mpsc::Sender<ByteEvent>,
    pub(super) entries: HashMap<u64, FdEntry>,
    pub(super) names: HashMap<TaskId, u64>,
    /// Tasks being drained.
    pub(super) draining: Vec<u64>,
    /// Tasks that have ended and whose callers may not have read everything yet.
    pub(super) closing: Vec<u64>,
    /// Tasks to read before all others.
    pub(super) prioritized: Vec<TaskId>,
    pub(super) buffer: Vec<u8>,
    /// Empty: what is parsed on this thread.
    pub(super) piece: Vec<u8>,
}

impl Worker {
    /// Returns a worker that watches nothing yet.
    ///
    /// # Errors
    /// If the system provides no epoll instance or eventfd.
    pub(super) fn new(
        clock: Clock,
        parsers: Arc<Parsers>,
        events: mpsc::Sender<ByteEvent>,
    ) -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let poll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        epoll::add(&poll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        let shared = Arc::new(PumpState {
            requests: Mutex::default(),
            has_requests: AtomicBool::new(false),
            wake,
            poll: poll.clone(),
            next: AtomicU64::new(0),
        });
        Ok(Self {
            shared,
            poll,
            paced: Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?),
            pacing: PacedTerminals::of(cores),
            clock,
            parsers,
            events,
            entries: HashMap::new(),
            names: HashMap::new(),
            draining: Vec::new(),
            closing: Vec::new(),
            prioritized: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
            piece: Vec::new(),
        })
    }

    fn run(mut self) {
        process::take_short_turns();
        let mut ready = Vec::with_capacity(64);
        loop {
            ready.clear();
            let timeout = self.next_deadline();
            match epoll::wait(&self.poll, rustix::buffer::spare_capacity(&mut ready), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => {
                    tracing::error!(%error, "poll the tasks' descriptors");
                    return;
                }
            }
            if self.handle(&ready) || self.read_paced() {
                return;
            }
            self.settle_drains();
            self.settle_closing();
        }
    }

    /// Handles what epoll has reported; returns whether to quit.
    pub(super) fn handle(&mut self, ready: &[Event]) -> bool {
        let reads = if ready.len() > FEW { 1 } else { READS };
        for event in ready {
            let token = event.data.u64();
            let is_new = token != WAKE && !self.entries.contains_key(&(token / SLOTS));
            if is_new && self.take_requests() {
                return true;
            }
            if token == WAKE {
                self.clear_wake();
            } else if token % SLOTS == WRITER {
                self.can_write(token / SLOTS, event.flags);
            } else if token % SLOTS == INLET {
                self.can_take(token / SLOTS);
            } else if token % SLOTS >= FIRST_OUTLET {
                self.can_copy(token / SLOTS, token % SLOTS - FIRST_OUTLET);
            } else {
                self.can_read(token / SLOTS, token % SLOTS, (event.flags, reads));
            }
            // Neither a keystroke nor its echo may wait until dozens of flooding tasks have had their turn.
            if self.shared.has_requests.swap(false, Ordering::Acquire) && self.take_requests() {
                return true;
            }
            // After the last one, epoll tells whether they have anything.
            if ready.len() > 1 {
                self.read_prioritized();
            }
        }
        false
    }

    fn clear_wake(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.shared.wake, &mut count);
    }

    /// Handles the requests; returns whether to quit.
    fn take_requests(&mut self) -> bool {
        let requests = std::mem::take(&mut *lock(&self.shared.requests));
        for request in requests {
            match request {
                PumpRequest::Watch(key, watched) => self.add(key, watched),
                PumpRequest::Write(id) => self.by_name(&id, Self::write),
                PumpRequest::NoteInput(id) => self.by_name(&id, |worker, key| worker.note_input(key)),
                PumpRequest::Say(id, line) => self.by_name(&id, |worker, key| worker.say(key, &line)),
                PumpRequest::Unblock(id) => self.by_name(&id, Self::resume),
                PumpRequest::Drain(id) => self.if_held(id, Self::begin_drain, ByteEvent::Drained),
                PumpRequest::Deliver(id) => self.if_held(id, Self::begin_delivery, ByteEvent::Delivered),
                PumpRequest::Detach(id) => self.by_name(&id, Self::detach),
                PumpRequest::Close { id, patience } => {
                    self.if_held(id, |worker, key| worker.begin_close(key, patience), ByteEvent::Closed);
                }
                PumpRequest::Forget(id) => self.by_name(&id, Self::close),
                PumpRequest::Prioritize(ids) => self.read_first(ids),
                PumpRequest::Quit => return true,
            }
        }
        false
    }

    fn read_first(&mut self, ids: Vec<TaskId>) {
        let keys: Vec<u64> = ids.iter().filter_map(|id| self.names.get(id).copied()).collect();
        keys.into_iter().for_each(|key| self.free(key));
        self.prioritized = ids;
    }

    fn by_name(&mut self, id: &TaskId, act: impl FnOnce(&mut Self, u64)) {
        if let Some(&key) = self.names.get(id) {
            act(self, key);
        }
    }

    /// Acts on a task if any of its descriptors is left, and otherwise reports that the act is complete.
    fn if_held(&mut self, id: TaskId, act: impl FnOnce(&mut Self, u64), done: fn(TaskId) -> ByteEvent) {
        match self.names.get(&id) {
            Some(&key) => act(self, key),
            None => drop(self.events.blocking_send(done(id))),
        }
    }

    pub(super) fn add(&mut self, key: u64, watched: TaskDescriptors) {
        self.names.insert(watched.io.id.clone(), key);
        let entry = FdEntry::of(watched, self.poll.clone());
        self.entries.insert(key, entry);
        self.write(key);
    }
}

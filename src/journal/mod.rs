//! The journal of a recording: every call and task event, as a hash chain of lines in which any change is detectable.
//!
//! A recording's folder holds the journal in segments, `meta.json` (what the recording is), `head.json` (where the
//! journal ended when it was last synced) and `parts/` (values too large for a line). A single thread writes; anyone
//! may read at the same time. The journal never interprets its rows. See docs/reliability.md for what is guaranteed
//! and what is not.

mod appender;
mod chain;
mod disk;
mod error;
mod layout;
mod line_file;
mod parts;
mod problem;
mod queue;
mod reader;
mod repair;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{Notify, oneshot, watch};

pub use appender::Bounds;
pub use chain::{Hash, Header};
pub use disk::{Disk, Os};
pub use error::Error;
pub use layout::{Head, META_VERSION, Meta, is_held, is_of_journal};
pub use line_file::{LineFile, replace_file};
pub use parts::Part;
pub use problem::{Problem, ProblemKind};
pub use reader::{Item, Reader, Record, last};
pub use repair::{Repaired, repair};
pub use verify::{Report, verify};
pub use writer::{Degraded, Health};

#[cfg(test)]
pub(crate) use disk::blocking::Block;

use appender::Appender;
use chain::Entry;
use queue::Queue;
use writer::{Row, Writer};

use crate::clock::Clock;

/// When a row counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: for rows whose effect may only happen afterwards (starts, input).
    Synced,
    /// Once it is handed to the operating system, which survives the death of this process; synced to disk soon
    /// after.
    Written,
    /// As `Written`, but synced to disk only with the next row that requires it.
    Late,
}

/// The writing side of a recording.
#[derive(Debug)]
pub struct Journal {
    queue: Queue,
    writer: Mutex<Option<JoinHandle<()>>>,
    health: watch::Receiver<Health>,
    clock: Clock,
    recording: PathBuf,
}

impl Journal {
    /// Creates the journal of a new recording in its folder. `changed` is notified when the record becomes degraded
    /// or recovers.
    ///
    /// # Errors
    /// If a journal already exists or a file cannot be created.
    pub fn create(recording: &Path, meta: &Meta, clock: Clock, changed: Arc<Notify>) -> Result<Self, Error> {
        Self::create_with(Box::new(Os), recording, (meta, Bounds::default()), (clock, changed))
    }

    /// Creates a journal on a disk that a test can block.
    #[cfg(test)]
    pub(crate) fn create_blocked(
        block: &Block,
        recording: &Path,
        meta: &Meta,
        clock: Clock,
        changed: Arc<Notify>,
    ) -> Result<Self, Error> {
        let disk = Box::new(disk::blocking::Blocked(block.clone()));
        Self::create_with(disk, recording, (meta, Bounds::default()), (clock, changed))
    }

    fn create_with(
        disk: Box<dyn Disk>,
        recording: &Path,
        (meta, bounds): (&Meta, Bounds),
        (clock, changed): (Clock, Arc<Notify>),
    ) -> Result<Self, Error> {
        meta.write(&*disk, recording)?;
        let appender = Appender::create(disk, recording, bounds)?;
        Self::start(appender, recording, (clock, changed))
    }

    fn start(
        appender: Appender,
        recording: &Path,
        (clock, changed): (Clock, Arc<Notify>),
    ) -> Result<Self, Error> {
        let (queue, rows, state) = Queue::new();
        let writer = Writer::new(appender, clock.clone(), (changed, state));
        let health = writer.health();
        let thread = std::thread::Builder::new().name("journal".into());
        let writer =
            thread.spawn(move || writer.run(&rows)).map_err(Error::io("start the writer of", recording))?;
        Ok(Self { queue, writer: Mutex::new(Some(writer)), health, clock, recording: recording.to_owned() })
    }

    /// Returns the recording's folder.
    #[must_use]
    pub fn recording(&self) -> &Path {
        &self.recording
    }

    /// Returns the current health of the record.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health.borrow().clone()
    }

    /// Returns for how long the disk has not responded to the writer, once that is long enough to report.
    #[must_use]
    pub fn stalled(&self) -> Option<Duration> {
        self.queue.stalled(self.clock.now().mono)
    }

    /// Appends a row and waits until it counts as written; before that, waits for room in the queue. A row is an
    /// object with the fields `kind` and `data`.
    ///
    /// # Errors
    /// If the row could not be written: what it announces must then not happen.
    pub async fn append(&self, row: &impl Serialize, durability: Durability) -> Result<(), Error> {
        let (done, written) = oneshot::channel();
        let entry = self.entry(row)?;
        let room = self.queue.room(entry.body.len()).await?;
        self.queue.send(Row { entry, durability, done: Some(done), room })?;
        written.await.map_err(|_| Error::Closed)?.map_err(Error::Append)
    }

    /// Appends a row, waiting only for room in the queue. The row is ordered before every row appended later; the
    /// writer keeps what it cannot write yet.
    ///
    /// # Errors
    /// If the row cannot be encoded or the journal is closed.
    pub async fn enqueue(&self, row: &impl Serialize, durability: Durability) -> Result<(), Error> {
        let entry = self.entry(row)?;
        let room = self.queue.room(entry.body.len()).await?;
        self.queue.send(Row { entry, durability, done: None, room })
    }

    /// Appends a row without waiting; the writer keeps what it cannot write yet.
    ///
    /// # Errors
    /// If the row cannot be encoded, the journal is closed, or the disk has stalled for so long that there is no room
    /// for another row. Rows dropped that way are counted by a `gap` row.
    pub fn note(&self, row: &impl Serialize, durability: Durability) -> Result<(), Error> {
        let entry = self.entry(row)?;
        let room = self.queue.room_now(entry.body.len())?;
        self.queue.send(Row { entry, durability, done: None, room })
    }

    /// Writes the queued rows and stops the writer.
    pub fn close(&self) {
        self.queue.close();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer
            && writer.join().is_err()
        {
            tracing::error!("the journal's writer had panicked");
        }
    }

    fn entry(&self, row: &impl Serialize) -> Result<Entry, Error> {
        let mut body = serde_json::to_vec(row).map_err(Error::Encode)?;
        // The chain adds the braces.
        body.pop();
        body.drain(..1);
        let now = self.clock.now();
        let mono = u64::try_from(now.mono.as_micros()).unwrap_or(u64::MAX);
        Ok(Entry { ts: now.wall, mono, body })
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

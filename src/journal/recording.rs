//! The writing side of a recording: rows are queued here for the thread that writes them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{Notify, oneshot, watch};

use super::appender::{Appender, Bounds};
use super::chain::ChainEntry;
#[cfg(test)]
use super::disk::blocking::DiskBlock;
use super::disk::{Disk, Os};
use super::error::JournalError;
use super::layout::RecordingMeta;
use super::queue::RowQueue;
use super::queued_row::{Durability, PendingRow, QueuedRow};
use super::writer::{Health, JournalWriter};
use crate::clock::Clock;

/// The writing side of a recording.
#[derive(Debug)]
pub struct Journal {
    queue: RowQueue,
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
    pub fn create(
        recording: &Path,
        meta: &RecordingMeta,
        clock: Clock,
        changed: Arc<Notify>,
    ) -> Result<Self, JournalError> {
        Self::create_with(Box::new(Os), recording, (meta, Bounds::default()), (clock, changed))
    }

    /// Creates a journal on a disk that a test can block.
    #[cfg(test)]
    pub(crate) fn create_blocked(
        block: &DiskBlock,
        recording: &Path,
        meta: &RecordingMeta,
        clock: Clock,
        changed: Arc<Notify>,
    ) -> Result<Self, JournalError> {
        let disk = Box::new(super::disk::blocking::BlockedDisk(block.clone()));
        Self::create_with(disk, recording, (meta, Bounds::default()), (clock, changed))
    }

    pub(super) fn create_with(
        disk: Box<dyn Disk>,
        recording: &Path,
        (meta, bounds): (&RecordingMeta, Bounds),
        (clock, changed): (Clock, Arc<Notify>),
    ) -> Result<Self, JournalError> {
        meta.write(&*disk, recording)?;
        let appender = Appender::create(disk, recording, bounds)?;
        Self::start(appender, recording, (clock, changed))
    }

    pub(super) fn start(
        appender: Appender,
        recording: &Path,
        (clock, changed): (Clock, Arc<Notify>),
    ) -> Result<Self, JournalError> {
        let (queue, rows, state) = RowQueue::new();
        let writer = JournalWriter::new(appender, clock.clone(), (changed, state));
        let health = writer.health();
        let thread = std::thread::Builder::new().name("journal".into());
        let writer = thread
            .spawn(move || writer.run(&rows))
            .map_err(JournalError::io("start the writer of", recording))?;
        Ok(Self { queue, writer: Mutex::new(Some(writer)), health, clock, recording: recording.to_owned() })
    }

    /// Returns the recording's folder.
    pub fn recording(&self) -> &Path {
        &self.recording
    }

    /// Returns the current health of the record.
    pub fn health(&self) -> Health {
        self.health.borrow().clone()
    }

    /// Returns the size of the rows that this process has appended so far, in bytes.
    pub fn appended_bytes(&self) -> u64 {
        self.queue.queued_bytes()
    }

    /// Returns for how long the disk has not responded to the writer, once that is long enough to report.
    pub fn stall_time(&self) -> Option<Duration> {
        self.queue.stall_time(self.clock.now().mono)
    }

    /// Appends a row and waits until it counts as written; before that, waits for room in the queue. A row is an
    /// object with the fields `kind` and `data`.
    ///
    /// # Errors
    /// If the row could not be written: what it announces must then not happen.
    pub async fn append(&self, row: &impl Serialize, durability: Durability) -> Result<(), JournalError> {
        self.begin_append(row, durability).await?.wait().await
    }

    /// Like [`append`](Self::append), but returns once the row is in the queue.
    ///
    /// # Errors
    /// If the row cannot be encoded or the journal is closed.
    pub async fn begin_append(
        &self,
        row: &impl Serialize,
        durability: Durability,
    ) -> Result<PendingRow, JournalError> {
        let (done, written) = oneshot::channel();
        let entry = self.entry(row)?;
        let room = self.queue.room(entry.body.len()).await?;
        self.queue.send(QueuedRow { entry, durability, done: Some(done), room })?;
        Ok(PendingRow(written))
    }

    /// Appends a row, waiting only for room in the queue. The row is ordered before every row appended later; the
    /// writer keeps what it cannot write yet.
    ///
    /// # Errors
    /// If the row cannot be encoded or the journal is closed.
    pub async fn enqueue(&self, row: &impl Serialize, durability: Durability) -> Result<(), JournalError> {
        let entry = self.entry(row)?;
        let room = self.queue.room(entry.body.len()).await?;
        self.queue.send(QueuedRow { entry, durability, done: None, room })
    }

    /// Appends a row without waiting; the writer keeps what it cannot write yet.
    ///
    /// # Errors
    /// If the row cannot be encoded, the journal is closed, or the disk has stalled for so long that there is no room
    /// for another row. Rows dropped that way are counted by a `gap` row.
    pub fn note(&self, row: &impl Serialize, durability: Durability) -> Result<(), JournalError> {
        let entry = self.entry(row)?;
        let room = self.queue.room_now(entry.body.len())?;
        self.queue.send(QueuedRow { entry, durability, done: None, room })
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

    fn entry(&self, row: &impl Serialize) -> Result<ChainEntry, JournalError> {
        let mut body = serde_json::to_vec(row).map_err(JournalError::Encode)?;
        // The chain adds the braces.
        body.pop();
        body.drain(..1);
        let now = self.clock.now();
        let mono = u64::try_from(now.mono.as_micros()).unwrap_or(u64::MAX);
        Ok(ChainEntry { ts: now.wall, mono, body })
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

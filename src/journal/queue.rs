//! The queue of rows to the writer. Callers that can wait for room do so without blocking anything else; rows that
//! cannot wait have spare room of their own, and are counted as lost once that is full too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Error;
use super::writer::Row;

/// Rows that may be queued; beyond this, callers wait.
const ROWS: usize = 4_096;
/// Additional rows that may be queued when their caller cannot wait.
const NOTES: usize = 4_096;
/// A long row counts as one row for each block of this many bytes.
const BYTES: usize = 4 << 10;
/// A writer that has been busy for this long is stalled.
const STALL: Duration = Duration::from_secs(2);

/// The sending end of the queue.
#[derive(Debug)]
pub(super) struct Queue {
    rows: Mutex<Option<SyncSender<Row>>>,
    room: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    state: Arc<State>,
}

/// State shared by the writer and its senders.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Rows dropped for lack of room.
    lost: AtomicU64,
    /// When the writer began its current work, in milliseconds of the journal's clock plus one; 0 while it is idle.
    busy: AtomicU64,
}

/// The room a row takes; released when dropped.
pub(super) type Room = OwnedSemaphorePermit;

impl Queue {
    pub(super) fn new() -> (Self, Receiver<Row>, Arc<State>) {
        // Each row holds a permit, so the channel is never full.
        let (rows, queue) = sync_channel(ROWS + NOTES);
        let state = Arc::<State>::default();
        let own = Self {
            rows: Mutex::new(Some(rows)),
            room: Arc::new(Semaphore::new(ROWS)),
            spare: Arc::new(Semaphore::new(NOTES)),
            state: state.clone(),
        };
        (own, queue, state)
    }

    /// Waits for room for a row of `bytes` bytes.
    pub(super) async fn room(&self, bytes: usize) -> Result<Room, Error> {
        Arc::clone(&self.room).acquire_many_owned(cost(bytes)).await.map_err(|_| Error::Closed)
    }

    /// Takes room if there is any now. There is none after the disk has been stalled for long; the row is then lost
    /// and counted by a `gap` row.
    pub(super) fn room_now(&self, bytes: usize) -> Result<Room, Error> {
        let take = |from: &Arc<Semaphore>| Arc::clone(from).try_acquire_many_owned(cost(bytes));
        take(&self.room).or_else(|_| take(&self.spare)).map_err(|_| {
            self.state.lost.fetch_add(1, Ordering::Relaxed);
            Error::Full
        })
    }

    /// Queues a row that holds room.
    pub(super) fn send(&self, row: Row) -> Result<(), Error> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.as_ref().ok_or(Error::Closed)?.try_send(row).map_err(|_| Error::Closed)
    }

    /// Closes the queue: the writer stops once it has written what is queued.
    pub(super) fn close(&self) {
        self.room.close();
        drop(self.rows.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns for how long the writer has been stalled, if it is.
    pub(super) fn stalled(&self, now: Duration) -> Option<Duration> {
        let since = self.state.busy.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.saturating_sub(Duration::from_millis(since))).filter(|stood| *stood >= STALL)
    }
}

impl State {
    /// Notes that the writer begins to write.
    pub(super) fn begin(&self, now: Duration) {
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX - 1);
        self.busy.store(now + 1, Ordering::Relaxed);
    }

    /// Notes that the writer is idle, waiting for rows.
    pub(super) fn rest(&self) {
        self.busy.store(0, Ordering::Relaxed);
    }

    /// Returns how many rows were lost since the last call.
    pub(super) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

fn cost(bytes: usize) -> u32 {
    u32::try_from((1 + bytes / BYTES).min(ROWS.min(NOTES))).unwrap_or(1)
}

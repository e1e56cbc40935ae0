//! Rows on their way to the writer. Whoever can wait for room waits without holding anything up; what cannot wait
//! has room of its own, and is counted when that is full too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Error;
use super::writer::Row;

/// Rows that may wait for the writer; at this whoever appends waits.
const ROWS: usize = 4_096;
/// Rows that may wait beyond those because nobody can wait for them.
const NOTES: usize = 4_096;
/// A long row counts as one for each so many bytes.
const BYTES: usize = 4 << 10;
/// A writer that is busy for so long stands still.
const STALL: Duration = Duration::from_secs(2);

/// The way in.
#[derive(Debug)]
pub(super) struct Queue {
    rows: Mutex<Option<SyncSender<Row>>>,
    room: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    state: Arc<State>,
}

/// What the writer and those who write know of each other.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Rows that found no room.
    lost: AtomicU64,
    /// When the writer began what it does, in milliseconds of the journal's clock and one more; 0 while it waits.
    busy: AtomicU64,
}

/// Room taken by a row; given back when it is dropped.
pub(super) type Room = OwnedSemaphorePermit;

impl Queue {
    pub(super) fn new() -> (Self, Receiver<Row>, Arc<State>) {
        // Each row holds room, so that this is never full.
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

    /// Waits for room for a row of so many bytes.
    pub(super) async fn room(&self, bytes: usize) -> Result<Room, Error> {
        Arc::clone(&self.room).acquire_many_owned(cost(bytes)).await.map_err(|_| Error::Closed)
    }

    /// Takes room that there is now. None is left when the disk has stood still for long: then the row is lost, and a
    /// `gap` row will say so.
    pub(super) fn room_now(&self, bytes: usize) -> Result<Room, Error> {
        let take = |from: &Arc<Semaphore>| Arc::clone(from).try_acquire_many_owned(cost(bytes));
        take(&self.room).or_else(|_| take(&self.spare)).map_err(|_| {
            self.state.lost.fetch_add(1, Ordering::Relaxed);
            Error::Full
        })
    }

    /// Puts a row that has room in the queue.
    pub(super) fn send(&self, row: Row) -> Result<(), Error> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.as_ref().ok_or(Error::Closed)?.try_send(row).map_err(|_| Error::Closed)
    }

    /// Lets nothing more in: the writer ends once it has written what is queued.
    pub(super) fn close(&self) {
        self.room.close();
        drop(self.rows.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns for how long the writer has stood still, if it has.
    pub(super) fn stalled(&self, now: Duration) -> Option<Duration> {
        let since = self.state.busy.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.saturating_sub(Duration::from_millis(since))).filter(|stood| *stood >= STALL)
    }
}

impl State {
    /// The writer begins to write.
    pub(super) fn begin(&self, now: Duration) {
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX - 1);
        self.busy.store(now + 1, Ordering::Relaxed);
    }

    /// The writer waits for rows.
    pub(super) fn rest(&self) {
        self.busy.store(0, Ordering::Relaxed);
    }

    /// Returns how many rows have found no room since this was last asked.
    pub(super) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

fn cost(bytes: usize) -> u32 {
    u32::try_from((1 + bytes / BYTES).min(ROWS.min(NOTES))).unwrap_or(1)
}

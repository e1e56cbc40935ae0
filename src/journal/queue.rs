//! The queue of rows to the writer. Callers that can wait for room do so without blocking anything else; rows that
//! cannot wait have spare room of their own, and are counted as lost once that is full too.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::JournalError;
use super::queued_row::{QueueRoom, QueuedRow};

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
pub(super) struct RowQueue {
    room: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    state: Arc<QueueState>,
}

/// The receiving end of the queue. Dropping it closes the queue, and rows that were not taken are lost.
#[derive(Debug)]
pub(super) struct RowReceiver(Arc<QueueState>);

/// State shared by the writer and its senders.
#[derive(Debug, Default)]
pub(super) struct QueueState {
    // Not a channel of the standard library: those wake the receiver while they hold a lock that it then waits for,
    // which takes four switches of threads for a row.
    pending: Mutex<PendingRows>,
    filled: Condvar,
    /// Rows dropped for lack of room.
    lost: AtomicU64,
    /// Bytes of all rows that were queued.
    queued: AtomicU64,
    /// When the writer began its current work, in milliseconds of the journal's clock plus one; 0 while it is idle.
    busy: AtomicU64,
}

#[derive(Debug, Default)]
struct PendingRows {
    rows: VecDeque<QueuedRow>,
    is_closed: bool,
    /// Whether the writer waits for a row.
    is_awaited: bool,
}

/// What the writer gets from the queue.
pub(super) enum QueueItem {
    /// The oldest rows, at least one.
    Rows(Vec<QueuedRow>),
    /// No row arrived in time.
    Late,
    /// The queue is closed and empty.
    Closed,
}

impl RowQueue {
    pub(super) fn new() -> (Self, RowReceiver, Arc<QueueState>) {
        let state = Arc::<QueueState>::default();
        let own = Self {
            room: Arc::new(Semaphore::new(ROWS)),
            spare: Arc::new(Semaphore::new(NOTES)),
            state: state.clone(),
        };
        (own, RowReceiver(state.clone()), state)
    }

    /// Waits for room for a row of `bytes` bytes.
    pub(super) async fn room(&self, bytes: usize) -> Result<QueueRoom, JournalError> {
        Arc::clone(&self.room).acquire_many_owned(cost(bytes)).await.map_err(|_| JournalError::Closed)
    }

    /// Takes room if there is any now. There is none after the disk has been stalled for long; the row is then lost
    /// and counted by a `gap` row.
    pub(super) fn room_now(&self, bytes: usize) -> Result<QueueRoom, JournalError> {
        let take = |from: &Arc<Semaphore>| Arc::clone(from).try_acquire_many_owned(cost(bytes));
        take(&self.room).or_else(|_| take(&self.spare)).map_err(|_| {
            self.state.lost.fetch_add(1, Ordering::Relaxed);
            JournalError::Full
        })
    }

    /// Queues a row that holds room.
    pub(super) fn send(&self, row: QueuedRow) -> Result<(), JournalError> {
        let mut pending = self.state.pending();
        if pending.is_closed {
            return Err(JournalError::Closed);
        }
        self.state.queued.fetch_add(row.entry.body.len() as u64, Ordering::Relaxed);
        pending.rows.push_back(row);
        let is_awaited = std::mem::take(&mut pending.is_awaited);
        drop(pending);
        if is_awaited {
            self.state.filled.notify_one();
        }
        Ok(())
    }

    /// Closes the queue: the writer stops once it has written what is queued.
    pub(super) fn close(&self) {
        self.room.close();
        self.state.pending().is_closed = true;
        self.state.filled.notify_one();
    }

    /// Returns the number of bytes of all rows so far.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.state.queued.load(Ordering::Relaxed)
    }

    /// Returns for how long the writer has been stalled, if it is.
    pub(super) fn stall_time(&self, now: Duration) -> Option<Duration> {
        let since = self.state.busy.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.saturating_sub(Duration::from_millis(since))).filter(|stood| *stood >= STALL)
    }
}

impl RowReceiver {
    /// Takes up to `most` rows; waits for the first one for at most `patience`.
    pub(super) fn take(&self, patience: Duration, most: usize) -> QueueItem {
        let waits = |pending: &mut PendingRows| {
            pending.is_awaited = pending.rows.is_empty() && !pending.is_closed;
            pending.is_awaited
        };
        let waited = self.0.filled.wait_timeout_while(self.0.pending(), patience, waits);
        let (mut pending, _) = waited.unwrap_or_else(PoisonError::into_inner);
        pending.is_awaited = false;
        if pending.rows.is_empty() {
            return if pending.is_closed { QueueItem::Closed } else { QueueItem::Late };
        }
        let count = pending.rows.len().min(most);
        QueueItem::Rows(pending.rows.drain(..count).collect())
    }
}

impl Drop for RowReceiver {
    fn drop(&mut self) {
        let mut pending = self.0.pending();
        pending.is_closed = true;
        let rows = std::mem::take(&mut pending.rows);
        drop(pending);
        drop(rows);
    }
}

impl QueueState {
    fn pending(&self) -> MutexGuard<'_, PendingRows> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::journal::Durability;
    use crate::journal::chain::ChainEntry;

    const SOON: Duration = Duration::from_secs(60);

    fn send(queue: &RowQueue, number: u64) {
        let entry = ChainEntry { ts: Timestamp::UNIX_EPOCH, mono: number, body: Vec::new() };
        let room = queue.room_now(0).expect("room");
        queue.send(QueuedRow { entry, durability: Durability::Written, done: None, room }).expect("open");
    }

    fn numbers(taken: QueueItem) -> Option<Vec<u64>> {
        match taken {
            QueueItem::Rows(rows) => Some(rows.iter().map(|row| row.entry.mono).collect()),
            QueueItem::Late | QueueItem::Closed => None,
        }
    }

    #[test]
    fn rows_arrive_in_order_at_most_so_many_at_once_and_the_rest_before_the_end() {
        let (queue, rows, _) = RowQueue::new();
        (0..5).for_each(|number| send(&queue, number));
        assert_eq!(numbers(rows.take(SOON, 3)), Some(vec![0, 1, 2]));
        queue.close();
        assert_eq!(numbers(rows.take(SOON, 3)), Some(vec![3, 4]));
        assert!(matches!(rows.take(SOON, 3), QueueItem::Closed));
        let room = queue.spare.clone().try_acquire_owned().expect("room for a note");
        let entry = ChainEntry { ts: Timestamp::UNIX_EPOCH, mono: 0, body: Vec::new() };
        let row = QueuedRow { entry, durability: Durability::Written, done: None, room };
        assert!(matches!(queue.send(row), Err(JournalError::Closed)));
    }

    #[test]
    fn a_waiting_reader_gets_the_next_row_and_gives_up_in_time() {
        let (queue, rows, _) = RowQueue::new();
        assert!(matches!(rows.take(Duration::from_millis(1), 1), QueueItem::Late));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| (0..100).map(|_| numbers(rows.take(SOON, 1))).collect::<Vec<_>>());
            (0..100).for_each(|number| send(&queue, number));
            let taken = waiting.join().expect("takes");
            assert_eq!(taken, (0..100).map(|number| Some(vec![number])).collect::<Vec<_>>());
        });
    }

    #[test]
    fn rows_that_nobody_takes_are_dropped_with_the_receiver_and_what_waits_for_them_is_told() {
        let (queue, rows, _) = RowQueue::new();
        let (done, written) = tokio::sync::oneshot::channel();
        let entry = ChainEntry { ts: Timestamp::UNIX_EPOCH, mono: 0, body: Vec::new() };
        let room = queue.room_now(0).expect("room");
        queue
            .send(QueuedRow { entry, durability: Durability::Synced, done: Some(done), room })
            .expect("open");
        drop(rows);
        assert!(written.blocking_recv().is_err());
        let room = queue.room_now(0).expect("its room was released");
        let entry = ChainEntry { ts: Timestamp::UNIX_EPOCH, mono: 1, body: Vec::new() };
        assert!(queue.send(QueuedRow { entry, durability: Durability::Late, done: None, room }).is_err());
    }
}

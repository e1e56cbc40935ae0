//! A row on its way to the disk: when it counts as written, and who waits for that.

use std::io;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::JournalError;
use super::chain::ChainEntry;

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

/// A row on its way to the disk.
#[derive(Debug)]
pub(super) struct QueuedRow {
    pub(super) entry: ChainEntry,
    pub(super) durability: Durability,
    pub(super) done: Option<WriteReply>,
    /// Its room in the queue, released once the row is taken.
    pub(super) room: QueueRoom,
}

/// A row in the queue whose caller goes on before it counts as written.
#[derive(Debug)]
pub struct PendingRow(pub(super) oneshot::Receiver<io::Result<()>>);

impl PendingRow {
    /// Waits until the row counts as written.
    ///
    /// # Errors
    /// If it could not be written: what it announces must then not happen.
    pub async fn wait(self) -> Result<(), JournalError> {
        self.0.await.map_err(|_| JournalError::Closed)?.map_err(JournalError::Append)
    }
}

/// How a caller learns that its row counts as written.
pub(super) type WriteReply = oneshot::Sender<io::Result<()>>;

/// The room a row takes in the queue; released when dropped.
pub(super) type QueueRoom = OwnedSemaphorePermit;

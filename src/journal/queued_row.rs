//! A row on its way to the disk: when it counts as written, and who waits for that.

use std::io;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

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

/// How a caller learns that its row counts as written.
pub(super) type WriteReply = oneshot::Sender<io::Result<()>>;

/// The room a row takes in the queue; released when dropped.
pub(super) type QueueRoom = OwnedSemaphorePermit;

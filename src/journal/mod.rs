//! The record: every call and task event, appended to JSONL in the recording's folder.
//!
//! First form: one file, one writer thread, rows in order of arrival, a sync where the row must be
//! on disk before it takes effect. It never interprets rows and never reads them back.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use serde::Serialize;
use tokio::sync::oneshot;

/// Rows that may wait for the writer; at this whoever appends waits.
const QUEUE_ROWS: usize = 4_096;

/// Why a row is not on record.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be created.
    #[error("create the journal {path}")]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The row cannot be written; nothing it announces may happen.
    #[error("append to the journal")]
    Append(#[source] std::io::Error),
    /// The row is no JSON value.
    #[error("write a row as JSON")]
    Encode(#[source] serde_json::Error),
    /// The writer is gone.
    #[error("the journal is closed")]
    Closed,
}

/// When a row counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// On disk: for what takes effect only afterwards (starts, input).
    Synced,
    /// Handed to the operating system: survives the death of this process.
    Written,
}

/// The writing side of a journal.
#[derive(Debug)]
pub struct Journal {
    rows: Mutex<Option<SyncSender<Row>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    path: PathBuf,
}

struct Row {
    line: Vec<u8>,
    durability: Durability,
    done: oneshot::Sender<std::io::Result<()>>,
}

impl Journal {
    /// Creates `journal.jsonl` in the recording's folder.
    ///
    /// # Errors
    /// When the file exists already or cannot be created.
    pub fn create(recording: &Path) -> Result<Self, Error> {
        let path = recording.join("journal.jsonl");
        let create_error = |source| Error::Create { path: path.clone(), source };
        let mut options = File::options();
        let file = options.create_new(true).append(true).mode(0o600).open(&path).map_err(create_error)?;
        let (rows, queue) = sync_channel(QUEUE_ROWS);
        let writer = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || write_rows(&queue, file))
            .map_err(create_error)?;
        Ok(Self { rows: Mutex::new(Some(rows)), writer: Mutex::new(Some(writer)), path })
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a row and waits until it counts as written.
    ///
    /// # Errors
    /// When it is not: what it announces must then not happen.
    pub async fn append(&self, row: &impl Serialize, durability: Durability) -> Result<(), Error> {
        let written = self.enqueue(row, durability)?;
        written.await.map_err(|_| Error::Closed)?.map_err(Error::Append)
    }

    /// Appends a row without waiting; a failure is logged by the writer.
    ///
    /// # Errors
    /// When the row cannot be encoded or the journal is closed.
    pub fn note(&self, row: &impl Serialize) -> Result<(), Error> {
        self.enqueue(row, Durability::Written).map(drop)
    }

    /// Writes what is queued and ends the writer.
    pub fn close(&self) {
        drop(self.rows.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer
            && writer.join().is_err()
        {
            tracing::error!("the journal's writer had panicked");
        }
    }

    fn enqueue(
        &self,
        row: &impl Serialize,
        durability: Durability,
    ) -> Result<oneshot::Receiver<std::io::Result<()>>, Error> {
        let mut line = serde_json::to_vec(row).map_err(Error::Encode)?;
        line.push(b'\n');
        let (done, written) = oneshot::channel();
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = rows.as_ref().ok_or(Error::Closed)?;
        match rows.try_send(Row { line, durability, done }) {
            Ok(()) => Ok(written),
            // The disk is slower than everything that happens: waiting here is the backpressure.
            Err(TrySendError::Full(row)) => rows.send(row).map(|()| written).map_err(|_| Error::Closed),
            Err(TrySendError::Disconnected(_)) => Err(Error::Closed),
        }
    }
}

/// Writes rows as they come; all that wait together share one sync.
fn write_rows(queue: &Receiver<Row>, mut file: File) {
    while let Ok(first) = queue.recv() {
        let mut rows = vec![first];
        rows.extend(queue.try_iter());
        let mut results: Vec<_> = rows.iter().map(|row| file.write_all(&row.line)).collect();
        if rows.iter().any(|row| row.durability == Durability::Synced)
            && let Err(error) = file.sync_data()
        {
            let failed = |result: &mut std::io::Result<()>| *result = Err(error.kind().into());
            results.iter_mut().for_each(failed);
        }
        for (row, result) in rows.into_iter().zip(results) {
            if let Err(error) = &result {
                tracing::error!(%error, "append to the journal");
            }
            // Whoever did not wait has dropped the receiver.
            let _ = row.done.send(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rows_stand_in_the_file_in_order_once_append_returns() {
        let dir = tempfile::tempdir().expect("temp dir");
        let journal = Journal::create(dir.path()).expect("journal");
        journal.note(&serde_json::json!({"n": 1})).expect("note");
        journal.append(&serde_json::json!({"n": 2}), Durability::Synced).await.expect("append");
        let text = std::fs::read_to_string(journal.path()).expect("journal text");
        assert_eq!(text, "{\"n\":1}\n{\"n\":2}\n");
        journal.close();
        let closed = journal.append(&serde_json::json!({}), Durability::Written).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    }
}

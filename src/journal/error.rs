//! Errors of the journal.

use std::io;
use std::path::PathBuf;

/// Why a row could not be recorded, or a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file cannot be used.
    #[error("{what} {path}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// The path it was attempted on.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The row cannot be written; nothing it announces may happen.
    #[error("append to the journal")]
    Append(#[source] io::Error),
    /// The row cannot be encoded as JSON.
    #[error("write a row as JSON")]
    Encode(#[source] serde_json::Error),
    /// A row cannot be decoded as the expected type.
    #[error("read row {seq} of the journal")]
    Decode {
        /// The row's number.
        seq: u64,
        /// Why it cannot be decoded.
        source: serde_json::Error,
    },
    /// A file named by a row does not have the contents the row states.
    #[error("row {seq} names {path}, which is not what was put there")]
    Part {
        /// Number of the row.
        seq: u64,
        /// The file.
        path: PathBuf,
    },
    /// The recording has a format this program does not know.
    #[error("the recording {recording} was written by a newer program (version {version})")]
    Version {
        /// The recording.
        recording: PathBuf,
        /// Its version.
        version: u64,
    },
    /// Another process is writing the recording.
    #[error("the recording {recording} is being written by another runtime")]
    Held {
        /// The recording.
        recording: PathBuf,
    },
    /// Too many rows wait for the disk.
    #[error("too many rows wait for the disk")]
    Full,
    /// The writer is gone.
    #[error("the journal is closed")]
    Closed,
}

impl JournalError {
    /// Returns a closure that wraps an I/O error with the attempted operation and its path.
    pub(super) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}

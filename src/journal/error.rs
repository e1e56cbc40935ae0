//! What the record could not do.

use std::io;
use std::path::PathBuf;

/// Why a row is not on record, or a recording not usable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be used.
    #[error("{what} {path}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The row cannot be written; nothing it announces may happen.
    #[error("append to the journal")]
    Append(#[source] io::Error),
    /// The row is no JSON value.
    #[error("write a row as JSON")]
    Encode(#[source] serde_json::Error),
    /// A row cannot be read as what it should be.
    #[error("read row {seq} of the journal")]
    Decode {
        /// Its number.
        seq: u64,
        /// Why not.
        source: serde_json::Error,
    },
    /// A file that a row names is not what the row says.
    #[error("row {seq} names {path}, which is not what was put there")]
    Part {
        /// Number of the row.
        seq: u64,
        /// The file.
        path: PathBuf,
    },
    /// The recording has a form this program does not know.
    #[error("the recording {recording} was written by a newer program (version {version})")]
    Version {
        /// The recording.
        recording: PathBuf,
        /// Its version.
        version: u64,
    },
    /// Somebody else writes the recording.
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

impl Error {
    /// Returns a closure that wraps an I/O error with what was tried on which path.
    pub(super) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}

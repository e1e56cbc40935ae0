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
mod queued_row;
mod reader;
mod recording;
mod repair;

mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use appender::Bounds;
pub use chain::{Hash, LineHeader};
pub use disk::{Disk, Os};
pub use error::JournalError;
pub use layout::{ChainHead, META_VERSION, RecordingMeta, is_held, is_of_journal};
pub use line_file::{LineFile, replace_file};
pub use parts::StoredPart;
pub use problem::{Problem, ProblemKind};
pub use queued_row::{Durability, PendingRow};
pub use reader::{JournalItem, JournalReader, JournalRecord, last};
pub use recording::Journal;
pub use repair::{RepairReport, repair};
pub use verify::{VerifyReport, verify};
pub use writer::{Degradation, Health};

#[cfg(test)]
pub(crate) use disk::blocking::DiskBlock;

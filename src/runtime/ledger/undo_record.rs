//! What an undo of a command needs, in a file beside the ledger's objects: a later runtime can go on with an undo that was
//! cut off, and undo what an earlier one has run. Blocks.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;
use crate::files::{self, OWN};
use crate::ledger::UndoFacts;

/// The most bytes of such a file.
const MOST_BYTES: u64 = 32 << 20;

/// What is known of a command that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UndoRecord {
    /// It can be undone, if its files are still what it left; together with these commands.
    Possible { facts: UndoFacts, together: Vec<TaskId> },
    /// It cannot, for this reason.
    Impossible(String),
}

impl UndoRecord {
    fn path(folder: &Path, task: &TaskId) -> PathBuf {
        folder.join(format!("{task}.json"))
    }

    /// Writes it into the folder of the ledger.
    pub(super) fn write(&self, folder: &Path, task: &TaskId) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::other)?;
        files::replace(&Self::path(folder, task), |file| file.write_all(&bytes))
    }

    pub(super) fn read(folder: &Path, task: &TaskId) -> io::Result<Self> {
        let bytes = files::read(&Self::path(folder, task), OWN, MOST_BYTES)?;
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }
}

//! Folders that are removed only after everything has been measured. An ext4 without a journal passes over each file
//! deleted in the last minutes whenever it creates one nearby (`recently_deleted` in fs/ext4/ialloc.c): the 40,000 files
//! of one part, removed, would multiply the figures of the next.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static LEFT: Mutex<Vec<tempfile::TempDir>> = Mutex::new(Vec::new());

/// A new folder, for one run of one part.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn make() -> Self {
        let dir = tempfile::tempdir().expect("make a folder");
        let path = dir.path().to_owned();
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(dir);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Removes all of them.
pub(crate) fn remove_all() {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

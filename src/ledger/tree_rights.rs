//! The rights of a tree's files where they are not the usual ones, and of the folders above its files. Pure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::difference::FileState;
use super::rights::FileRights;

/// The most bytes of extended attributes of all files that are kept.
const MOST_ATTRIBUTES: usize = 16 << 20;

/// The rights of the files and folders of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeRights {
    /// The usual ones, but for the permissions, which are 0644 or 0755.
    usual: FileRights,
    files: Arc<BTreeMap<PathBuf, FileRights>>,
    folders: Arc<BTreeMap<PathBuf, FileRights>>,
    /// How many bytes of attributes the files have.
    bytes: usize,
}

impl TreeRights {
    /// Begins with none but the usual ones.
    pub(super) fn with_usual(usual: FileRights) -> Self {
        Self { usual, ..Self::default() }
    }

    /// Returns those of a file, if they are not the usual ones.
    #[must_use]
    pub fn unusual(&self, path: &Path) -> Option<&FileRights> {
        self.files.get(path)
    }

    /// Returns those of a file that is in the tree.
    pub(super) fn of_file(&self, path: &Path, state: &FileState) -> FileRights {
        match (self.unusual(path), state) {
            (Some(rights), _) => rights.clone(),
            (None, FileState::Kept { mode, .. }) => self.usual.with_mode(mode),
            (None, FileState::Unread(_)) => self.usual.clone(),
        }
    }

    /// Returns those of a folder above a file.
    pub(super) fn of_folder(&self, path: &Path) -> Option<&FileRights> {
        self.folders.get(path)
    }

    /// Returns the folders that are known at a path and below it.
    pub(super) fn folders_below(&self, path: &Path) -> Vec<PathBuf> {
        let from = self.folders.range(path.to_owned()..).map(|(folder, _)| folder);
        from.take_while(|folder| folder.starts_with(path)).cloned().collect()
    }

    /// Notes those of a file with this mode.
    pub(super) fn note(&mut self, path: &Path, mut rights: FileRights, mode: &str) {
        let known = self.files.get(path);
        if known == Some(&rights) {
            return;
        }
        if self.bytes - known.map_or(0, FileRights::bytes) + rights.bytes() > MOST_ATTRIBUTES {
            rights.attributes = None;
        }
        self.forget(path);
        if !rights.are_usual(&self.usual, mode) {
            self.bytes += rights.bytes();
            Arc::make_mut(&mut self.files).insert(path.to_owned(), rights);
        }
    }

    /// Forgets those of a file.
    pub(super) fn forget(&mut self, path: &Path) {
        if self.files.contains_key(path) {
            let known = Arc::make_mut(&mut self.files).remove(path);
            self.bytes -= known.map_or(0, |known| known.bytes());
        }
    }

    /// Notes those of a folder; `None` if it is gone.
    pub(super) fn note_folder(&mut self, folder: &Path, rights: Option<FileRights>) {
        if self.folders.get(folder) == rights.as_ref() {
            return;
        }
        let folders = Arc::make_mut(&mut self.folders);
        match rights {
            Some(rights) => drop(folders.insert(folder.to_owned(), rights)),
            None => drop(folders.remove(folder)),
        }
    }
}

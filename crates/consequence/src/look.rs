//! The view of the files and of git's facts that a computation is given: it has no other.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    Folder,
    /// A symbolic link.
    Link,
    /// A block or character device.
    Device,
    /// A pipe, a socket, or anything else.
    Other,
}

/// A file's kind and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// What it is; a link is not followed.
    pub kind: FileKind,
    /// Its size.
    pub bytes: u64,
}

/// A path could not be looked at, so that nothing is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unseen;

/// What git knows about the files below the top of a repository. Paths are relative to the top.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitFiles {
    /// Files in the index.
    pub tracked: BTreeSet<PathBuf>,
    /// Files of the index that differ from the last commit, there or in the folder.
    pub changed: BTreeSet<PathBuf>,
    /// Ignored files, and folders of which everything is ignored.
    pub ignored: BTreeSet<PathBuf>,
}

/// The references of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitRefs {
    /// The branch that is checked out, without `refs/heads/`.
    pub branch: Option<String>,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// Every reference by its full name, with its commit.
    pub all: BTreeMap<String, String>,
    /// How many seconds ago something was last fetched.
    pub fetched: Option<u64>,
    /// How many stashes there are.
    pub stashes: Option<u64>,
}

/// A view of the files and of git's facts. It must not block for long: whoever gives it also bounds the time.
pub trait Look {
    /// Returns what is at a path, without following a link there; `None` if nothing is.
    ///
    /// # Errors
    /// If it cannot be looked at.
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Unseen>;

    /// Passes the names in a folder to `each` until that returns false.
    ///
    /// # Errors
    /// If it cannot be looked into.
    fn list(&self, path: &Path, each: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen>;

    /// Returns what a link points to.
    fn read_link(&self, path: &Path) -> Option<PathBuf>;

    /// Tells whether there is time left.
    fn has_time(&self) -> bool;

    /// Returns what git knows about the files below this top.
    fn git_files(&self, top: &Path) -> Option<GitFiles>;

    /// Returns the references of the repository with this top.
    fn git_refs(&self, top: &Path) -> Option<GitRefs>;

    /// Returns how many commits can be reached from the first ones, but not from the others.
    fn git_count(&self, top: &Path, from: &[String], without: &[String]) -> Option<u64>;
}

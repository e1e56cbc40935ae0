//! A first look: few files, and nothing of git. What can be said by it is known at once, however long the rest takes.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::consequence::{FileStat, GitFiles, GitRefs, Look, Unseen};

/// How many files and names it sees.
const FEW: u32 = 500;

/// A view that shows the first few files of another one.
pub(super) struct FirstLook<'a> {
    look: &'a dyn Look,
    left: Cell<u32>,
    is_whole: Cell<bool>,
}

impl<'a> FirstLook<'a> {
    pub(super) fn through(look: &'a dyn Look) -> Self {
        Self { look, left: Cell::new(FEW), is_whole: Cell::new(true) }
    }

    /// Tells whether it has shown all that it was asked for.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole.get()
    }

    /// Counts one more; returns whether that is still among the few.
    fn takes(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 {
            self.is_whole.set(false);
        }
        left > 0
    }

    fn leaves<T>(&self) -> Option<T> {
        self.is_whole.set(false);
        None
    }
}

impl Look for FirstLook<'_> {
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Unseen> {
        if self.takes() { self.look.stat(path) } else { Err(Unseen) }
    }

    fn list(&self, path: &Path, each: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen> {
        let mut is_cut = false;
        self.look.list(path, &mut |name| {
            is_cut = !self.takes();
            !is_cut && each(name)
        })?;
        if is_cut { Err(Unseen) } else { Ok(()) }
    }

    fn read_link(&self, path: &Path) -> Option<PathBuf> {
        if self.takes() { self.look.read_link(path) } else { None }
    }

    fn has_time(&self) -> bool {
        if self.left.get() == 0 {
            self.is_whole.set(false);
        }
        self.left.get() > 0 && self.look.has_time()
    }

    fn git_files(&self, _: &Path) -> Option<GitFiles> {
        self.leaves()
    }

    fn git_refs(&self, _: &Path) -> Option<GitRefs> {
        self.leaves()
    }

    fn git_count(&self, _: &Path, _: &[String], _: &[String]) -> Option<u64> {
        self.leaves()
    }
}

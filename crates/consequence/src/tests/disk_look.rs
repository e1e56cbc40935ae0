//! A look at the files of this machine, and at no repository: for the tests that let bash run in a folder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use pilothouse_consequence::{FileKind, FileStat, GitFiles, GitRefs, Look, Unseen};

/// The files of this machine.
pub(crate) struct DiskLook;

impl Look for DiskLook {
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Unseen> {
        let Ok(facts) = fs::symlink_metadata(path) else { return Ok(None) };
        let kind = match facts.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Folder,
            kind if kind.is_symlink() => FileKind::Link,
            _ => FileKind::Device,
        };
        Ok(Some(FileStat { kind, bytes: facts.len() }))
    }

    fn list(&self, path: &Path, each: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen> {
        for entry in fs::read_dir(path).map_err(|_| Unseen)?.flatten() {
            if !each(&entry.file_name()) {
                break;
            }
        }
        Ok(())
    }

    fn read_link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn has_time(&self) -> bool {
        true
    }

    fn git_files(&self, _: &Path) -> Option<GitFiles> {
        None
    }

    fn git_refs(&self, _: &Path) -> Option<GitRefs> {
        None
    }

    fn git_count(&self, _: &Path, _: &[String], _: &[String]) -> Option<u64> {
        None
    }
}

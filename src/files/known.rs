//! A folder that contains nothing but what its owner put there, and which may therefore be removed.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::HeldFolder;

/// The contents of a folder, all of them known.
#[derive(Debug)]
pub struct KnownTree {
    /// What is in it, relative to it, each folder before its contents, and whether it is a folder.
    entries: Vec<(PathBuf, bool)>,
}

impl KnownTree {
    /// Looks at everything in the folder `name` of another one. `is_known` is asked for each path in it, relative to it,
    /// and whether it is a folder. Nothing is entered that it does not know.
    ///
    /// # Errors
    /// If something else is in it, something of another user or on another file system, a link, or anything but files
    /// and folders; and if it cannot be read.
    pub fn read(above: &HeldFolder, name: &Path, is_known: impl Fn(&Path, bool) -> bool) -> io::Result<Self> {
        let mut entries = Vec::new();
        let mut open = vec![PathBuf::new()];
        while let Some(inside) = open.pop() {
            let folder = above.folder(&name.join(&inside))?;
            if !above.is_own(&folder.own_facts()?) {
                return Err(foreign(&inside));
            }
            for entry in folder.names()? {
                let facts = folder.facts(&entry)?;
                let path = inside.join(entry);
                let kind = FileType::from_raw_mode(facts.st_mode);
                let is_folder = kind == FileType::Directory;
                let is_ours = (is_folder || kind == FileType::RegularFile) && folder.is_own(&facts);
                if !is_ours || !is_known(&path, is_folder) {
                    return Err(foreign(&path));
                }
                if is_folder {
                    open.push(path.clone());
                }
                entries.push((path, is_folder));
            }
        }
        Ok(Self { entries })
    }

    /// Removes what was found and then the folder, which may have been renamed meanwhile; the file `last` goes after all
    /// others. Whatever was added since stays, with the folders that lead to it.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn remove(self, above: &HeldFolder, name: &Path, last: &Path) -> io::Result<()> {
        let (last, others): (Vec<_>, Vec<_>) = self.entries.into_iter().partition(|(path, _)| path == last);
        for (path, is_folder) in others.iter().rev().chain(&last) {
            let folder = above.folder(&name.join(path.parent().unwrap_or(Path::new(""))))?;
            let name = Path::new(path.file_name().unwrap_or_default());
            if *is_folder { folder.remove_folder(name)? } else { folder.remove_file(name)? }
        }
        above.remove_folder(name)
    }
}

fn foreign(path: &Path) -> io::Error {
    io::Error::other(format!("{} in it was not put there by pilothouse", path.display()))
}

//! A folder that is held open, so that what is made or found in it is in it, wherever its path leads meanwhile.

use std::fs::read_dir;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, ResolveFlags, Stat, flock, fstat, mkdirat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::named::{beneath, open_folder, reopen};

/// A folder held open.
#[derive(Debug)]
pub struct HeldFolder(OwnedFd);

impl HeldFolder {
    /// Opens a folder. Links that lead to it are followed.
    ///
    /// # Errors
    /// If it is not there or is no folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        open_folder(path).map(Self)
    }

    /// Opens a folder that must be one of this user's, and no link.
    ///
    /// # Errors
    /// If it is not there, is a link or no folder, or belongs to another user.
    pub fn open_own(path: &Path) -> io::Result<Self> {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let held = Self::open(above)?.folder(Path::new(name))?;
        match held.is_own(&fstat(&held.0)?) {
            true => Ok(held),
            false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user")),
        }
    }

    /// Waits until nobody else holds it locked, and locks it until it is dropped. Blocks.
    ///
    /// # Errors
    /// If it cannot be locked.
    pub fn lock(self) -> io::Result<Self> {
        let folder = reopen(&self.0)?;
        loop {
            match flock(&folder, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                locked => return locked.map(|()| Self(folder)).map_err(Into::into),
            }
        }
    }

    /// Locks it until it is dropped, if nobody else holds it locked.
    ///
    /// # Errors
    /// If it cannot be locked now.
    pub fn try_locked(self) -> io::Result<Self> {
        let folder = reopen(&self.0)?;
        flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self(folder))
    }

    /// Opens a folder inside this one, through no link.
    ///
    /// # Errors
    /// If it is not there, or a part of the path is a link or no folder.
    pub fn folder(&self, path: &Path) -> io::Result<Self> {
        let found = beneath(&self.0, path, ResolveFlags::NO_SYMLINKS)?;
        match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Directory => Ok(Self(found)),
            _ => Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder")),
        }
    }

    /// Opens a folder inside this one, through no link; what is missing of it is created with mode 0700.
    ///
    /// # Errors
    /// As [`folder`](Self::folder), and if one cannot be created.
    pub fn make_folder(&self, path: &Path) -> io::Result<Self> {
        let mut at = self.folder(Path::new("."))?;
        for part in path.components().filter(|part| *part != Component::CurDir) {
            let part = Path::new(part.as_os_str());
            match mkdirat(&at.0, part, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = at.folder(part)?;
        }
        Ok(at)
    }

    /// Returns a path to something in the folder, for as long as the folder is held.
    pub fn path(&self, name: &Path) -> PathBuf {
        Path::new("/proc/self/fd").join(self.0.as_raw_fd().to_string()).join(name)
    }

    /// Returns the names in the folder.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<PathBuf>> {
        let entries = read_dir(self.path(Path::new(".")))?;
        entries.map(|entry| entry.map(|entry| entry.file_name().into())).collect()
    }

    /// Returns what is in the folder by a name; a link is not followed.
    ///
    /// # Errors
    /// If nothing is.
    pub fn facts(&self, name: &Path) -> io::Result<Stat> {
        Ok(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Returns what is known about the folder itself.
    ///
    /// # Errors
    /// If the file system does not say.
    pub fn own_facts(&self) -> io::Result<Stat> {
        Ok(fstat(&self.0)?)
    }

    /// Tells whether something belongs to this user and is on the same file system as the folder.
    pub fn is_own(&self, facts: &Stat) -> bool {
        let here = fstat(&self.0).map(|own| own.st_dev);
        facts.st_uid == rustix::process::geteuid().as_raw() && here == Ok(facts.st_dev)
    }

    /// Removes a file from the folder.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove_file(&self, name: &Path) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty folder from the folder.
    ///
    /// # Errors
    /// If it cannot be removed or is not empty.
    pub fn remove_folder(&self, name: &Path) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Renames something in the folder, over nothing.
    ///
    /// # Errors
    /// If it cannot be renamed, or the new name is taken.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.facts(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(renameat(&self.0, from, &self.0, to)?)
            }
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) => Err(error),
        }
    }
}

//! The lock that ensures one runtime per workspace, and the address stored in it: a process that finds the lock held
//! connects to that address, whatever its own environment variables say.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Error;
use super::socket::trust;
use crate::files::{self, FileAccess, HeldFolder, OWN};
use crate::paths::{Locks, Places};

/// Size limit of an address, in bytes.
const ADDRESS_BYTES: u64 = 16 << 10;
/// The most locks that are looked at: more workspaces than are ever served at once.
pub(super) const MOST_LOCKS: usize = 4_096;
/// How often taking the lock is attempted, and the pause between attempts: another process may briefly be checking
/// whether it is held.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(3);

/// Where a runtime is reached: the contents of its lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeAddress {
    /// Its process id.
    pub pid: u32,
    /// The folder of its sockets.
    pub runtime: PathBuf,
    /// Where it keeps its recordings.
    pub state: PathBuf,
    /// The folder of its settings.
    pub config: PathBuf,
    pub workspace: PathBuf,
}

impl RuntimeAddress {
    fn own(places: &Places) -> Self {
        Self {
            pid: std::process::id(),
            runtime: places.runtime_dir.clone(),
            state: places.state_dir.clone(),
            config: places.config_dir.clone(),
            workspace: places.workspace.clone(),
        }
    }
}

/// Who holds the lock of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// None: no runtime serves it.
    Nobody,
    /// A runtime; without an address while it is starting.
    Runtime(Option<RuntimeAddress>),
}

impl Holder {
    /// Returns the holder of a workspace's lock.
    pub fn of(places: &Places) -> Self {
        Self::at(&places.lock)
    }

    /// Like [`Self::of`], for a lock's file.
    pub(super) fn at(lock: &Path) -> Self {
        let Ok(file) = files::open(lock, OWN, FileAccess::Read) else { return Self::Nobody };
        // A shared lock, so that two simultaneous checks do not mistake each other for a runtime.
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => Self::Runtime(read(&file)),
            _ => Self::Nobody,
        }
    }

    /// Returns the runtime's address.
    pub fn address(&self) -> Option<&RuntimeAddress> {
        match self {
            Self::Runtime(address) => address.as_ref(),
            Self::Nobody => None,
        }
    }

    /// Says that the workspace's runtime cannot be reached, where its absence would be said and this one holds the lock.
    pub fn explain(&self, absence: Error) -> Error {
        match (self.address(), absence) {
            (Some(address), Error::NoRuntime { path }) => Error::Unreachable { pid: address.pid, path },
            (_, absence) => absence,
        }
    }

    /// Returns the places of a workspace, with the sockets and recordings of its runtime if one serves it.
    pub fn places(&self, own: &Places) -> Places {
        match self.address() {
            Some(RuntimeAddress { runtime, state, .. }) => {
                Places { runtime_dir: runtime.clone(), state_dir: state.clone(), ..own.clone() }
            }
            None => own.clone(),
        }
    }
}

fn read(file: &File) -> Option<RuntimeAddress> {
    let mut text = Vec::new();
    file.take(ADDRESS_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The lock of a workspace, held until dropped.
#[derive(Debug)]
pub(super) struct WorkspaceLock {
    file: File,
    path: PathBuf,
}

impl WorkspaceLock {
    /// Takes the lock of a workspace and writes this runtime's address into it.
    ///
    /// # Errors
    /// [`Error::Taken`] if another runtime holds it.
    pub(super) fn take(places: &Places) -> Result<Self, Error> {
        let path = &places.lock;
        make_folder(path.parent().unwrap_or(path))?;
        for attempt in 1.. {
            let opened = files::open_or_create(path, FileAccess::Change);
            let file = opened.map_err(Error::io("open the lock of the workspace", path))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) if attempt < ATTEMPTS => {
                    let _ = poll(&mut [], Timespec::try_from(PAUSE).ok().as_ref());
                    continue;
                }
                Err(Errno::WOULDBLOCK) => return Err(Error::Taken { pid: read(&file).map(|at| at.pid) }),
                Err(errno) => return Err(Error::io("take the lock of the workspace", path)(errno.into())),
            }
            let lock = Self { file, path: path.clone() };
            // A lock file that was removed between opening and locking guards nothing.
            if lock.is_in_place() {
                lock.write(places).map_err(Error::io("write the lock of the workspace", path))?;
                return Ok(lock);
            }
        }
        Err(Error::Taken { pid: None })
    }

    /// Tells whether the locked file is still the one that others see at this path.
    pub(super) fn is_in_place(&self) -> bool {
        is_in_place(&self.file, &self.path)
    }

    fn write(&self, places: &Places) -> io::Result<()> {
        let mut text = serde_json::to_vec(&RuntimeAddress::own(places))?;
        text.push(b'\n');
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&text)
    }
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        // While nobody else can take it. Whoever has opened it already sees that it is no longer in place.
        if self.is_in_place() {
            let _ = std::fs::remove_file(&self.path);
        }
        // Closing the file is not enough: a process that another thread is just forking has a copy of it.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn is_in_place(file: &File, path: &Path) -> bool {
    let at = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
    let own = file.metadata().map(at).ok();
    own.is_some() && own == path.symlink_metadata().map(at).ok()
}

/// Removes the locks of runtimes that were killed, up to [`MOST_LOCKS`]. Blocks.
pub(super) fn remove_abandoned(locks: &Locks) {
    // One process at a time, so that what each sees in place stays there.
    let Ok(_folder) = HeldFolder::open_own(&locks.folder).and_then(HeldFolder::try_locked) else { return };
    for entry in std::fs::read_dir(&locks.folder).into_iter().flatten().flatten().take(MOST_LOCKS) {
        let path = entry.path();
        let is_lock = entry.file_name().to_str().is_some_and(|name| locks.id(name).is_some());
        let Some(file) = files::open(&path, OWN, FileAccess::Read).ok().filter(|_| is_lock) else { continue };
        // While this is held, no runtime can take it.
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() && is_in_place(&file, &path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Creates the folder of the lock, or checks that no other user can replace its contents.
fn make_folder(folder: &Path) -> Result<(), Error> {
    files::create_folder(folder).map_err(Error::io("create the folder of the lock", folder))?;
    trust(folder, 0o022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_says_where_its_runtime_is_and_a_free_one_says_nothing() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = Places::beneath(temp.path(), &temp.path().join("state"), None).expect("places");
        assert_eq!(Holder::of(&places), Holder::Nobody);
        let lock = WorkspaceLock::take(&places).expect("takes");
        let mine = RuntimeAddress::own(&places);
        assert_eq!(Holder::of(&places).address(), Some(&mine));
        let me = std::process::id();
        assert!(matches!(WorkspaceLock::take(&places), Err(Error::Taken { pid: Some(pid) }) if pid == me));
        // A caller with other environment variables gets the same sockets.
        let other = Places { runtime_dir: "/elsewhere".into(), ..places.clone() };
        assert_eq!(Holder::of(&other).places(&other).agent_socket(), places.agent_socket());
        let absent = || Error::NoRuntime { path: "/s".into() };
        assert!(matches!(Holder::of(&places).explain(absent()), Error::Unreachable { pid, .. } if pid == me));
        drop(lock);
        assert_eq!(Holder::of(&places), Holder::Nobody);
        assert!(matches!(Holder::of(&places).explain(absent()), Error::NoRuntime { .. }));
    }

    #[test]
    fn a_lock_goes_with_its_runtime_and_those_of_killed_ones_with_the_next() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = |name: &str| {
            let workspace = temp.path().join(name);
            std::fs::create_dir(&workspace).expect("a workspace");
            Places::beneath(&workspace, &temp.path().join("state"), None).expect("places")
        };
        let [ended, killed, live] = ["ended", "killed", "live"].map(places);
        drop(WorkspaceLock::take(&ended).expect("takes"));
        assert!(!ended.lock.exists());
        std::fs::write(&killed.lock, "{}").expect("written");
        let other = killed.lock.with_file_name("notes.lock");
        std::fs::write(&other, "mine").expect("written");
        let _live = WorkspaceLock::take(&live).expect("takes");
        remove_abandoned(&live.locks());
        assert!(!killed.lock.exists() && live.lock.exists() && other.exists());
    }

    #[test]
    fn a_lock_that_was_removed_is_no_longer_in_place() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = Places::beneath(temp.path(), &temp.path().join("state"), None).expect("places");
        let lock = WorkspaceLock::take(&places).expect("takes");
        assert!(lock.is_in_place());
        std::fs::remove_file(&places.lock).expect("removed");
        assert!(!lock.is_in_place());
        let second = WorkspaceLock::take(&places).expect("nobody holds the new one");
        assert!(second.is_in_place() && !lock.is_in_place());
    }
}

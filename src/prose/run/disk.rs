//! What a run writes, through one seam: a test cuts it off in the middle of any write.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a run asks of a file system.
pub trait Disk: Debug + Send + Sync {
    /// Appends to a file that is open for that.
    ///
    /// # Errors
    /// When not all of it was written.
    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file.
    ///
    /// # Errors
    /// When it stays as it was.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()>;

    /// Puts what was written on disk.
    ///
    /// # Errors
    /// When it may not be there.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Replaces a file whole: a reader sees the old or the new one.
    ///
    /// # Errors
    /// When the old one is still there.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// When it is still there, or was not.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file system that several parts of a run write to.
pub type SharedDisk = Arc<dyn Disk>;

/// The real one.
#[derive(Debug, Clone, Copy)]
pub struct Os;

impl Disk for Os {
    fn append(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let fresh = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&fresh)?.write_all(bytes)?;
        std::fs::rename(&fresh, path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

#[cfg(test)]
pub(in crate::prose) mod fused {
    //! A disk that takes so many writes; the one after them is torn, and then there is nothing more.

    use std::sync::Mutex;

    use tokio::sync::Notify;

    use super::*;

    /// What is left of it.
    #[derive(Debug, Default)]
    struct Left {
        /// Writes it still takes; without it any number.
        writes: Option<usize>,
        /// How much of the torn write arrives, of 256.
        torn: u8,
        taken: usize,
        is_gone: bool,
    }

    /// A disk with an end.
    #[derive(Debug, Default)]
    pub(in crate::prose) struct Fused {
        left: Mutex<Left>,
        gone: Notify,
    }

    impl Fused {
        /// A disk that is gone in the middle of the write after `writes` others.
        pub(in crate::prose) fn after(writes: Option<usize>, torn: u8) -> Arc<Self> {
            let left = Left { writes, torn, ..Left::default() };
            Arc::new(Self { left: Mutex::new(left), gone: Notify::new() })
        }

        /// Returns how many writes it took.
        pub(in crate::prose) fn taken(&self) -> usize {
            self.left.lock().expect("left").taken
        }

        pub(in crate::prose) fn is_gone(&self) -> bool {
            self.left.lock().expect("left").is_gone
        }

        /// Comes back once it is gone.
        pub(in crate::prose) async fn gone(&self) {
            while !self.is_gone() {
                self.gone.notified().await;
            }
        }

        /// Takes a write, or tells how much of it arrives.
        fn take(&self, length: usize) -> Result<(), usize> {
            let mut left = self.left.lock().expect("left");
            if left.is_gone {
                return Err(0);
            }
            if left.writes.is_some_and(|writes| left.taken == writes) {
                left.is_gone = true;
                self.gone.notify_one();
                return Err(length * usize::from(left.torn) / 256);
            }
            left.taken += 1;
            Ok(())
        }
    }

    fn gone<T>() -> io::Result<T> {
        Err(io::Error::from(io::ErrorKind::StorageFull))
    }

    impl Disk for Fused {
        fn append(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
            match self.take(bytes.len()) {
                Ok(()) => Os.append(file, bytes),
                Err(0) => gone(),
                Err(arrives) => Os.append(file, &bytes[..arrives]).and_then(|()| gone()),
            }
        }

        fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
            self.take(0).or_else(|_| gone())?;
            Os.truncate(file, length)
        }

        fn sync(&self, _file: &File) -> io::Result<()> {
            // No real sync: no machine goes down here, and there are thousands of these.
            self.take(0).or_else(|_| gone())
        }

        fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
            self.take(0).or_else(|_| gone())?;
            Os.replace(path, bytes)
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            self.take(0).or_else(|_| gone())?;
            Os.remove(path)
        }
    }
}

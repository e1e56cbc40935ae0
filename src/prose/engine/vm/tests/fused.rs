//! A disk that accepts a limited number of writes; the next one is torn, and after that the disk is gone.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::journal::{Disk, Os};

/// The remaining life of the disk.
#[derive(Debug, Default)]
struct Left {
    /// The number of writes that it accepts; unlimited if `None`.
    writes: Option<usize>,
    /// How much of the torn write arrives, in units of 1/256.
    torn: u8,
    taken: usize,
    is_gone: bool,
}

/// A disk with a limited life.
#[derive(Debug, Default)]
pub(super) struct Fused {
    left: Mutex<Left>,
    gone: Notify,
}

impl Fused {
    /// A disk that fails in the middle of the write after `writes` others.
    pub(super) fn after(writes: Option<usize>, torn: u8) -> Arc<Self> {
        let left = Left { writes, torn, ..Left::default() };
        Arc::new(Self { left: Mutex::new(left), gone: Notify::new() })
    }

    /// Returns how many writes it has accepted.
    pub(super) fn taken(&self) -> usize {
        self.left.lock().expect("left").taken
    }

    pub(super) fn is_gone(&self) -> bool {
        self.left.lock().expect("left").is_gone
    }

    /// Returns once the disk is gone.
    pub(super) async fn gone(&self) {
        while !self.is_gone() {
            self.gone.notified().await;
        }
    }

    /// Accepts a write, or returns how many of its bytes arrive.
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
    fn create(&self, path: &Path) -> io::Result<File> {
        Os.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        Os.open(path)
    }

    fn open_over(&self, path: &Path) -> io::Result<File> {
        Os.open_over(path)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        match self.take(bytes.len()) {
            Ok(()) => Os.write(file, bytes),
            Err(0) => gone(),
            Err(arrives) => Os.write(file, &bytes[..arrives]).and_then(|_| gone()),
        }
    }

    fn overwrite(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        self.take(0).or_else(|_| gone())?;
        Os.overwrite(file, bytes)
    }

    fn sync(&self, _file: &File) -> io::Result<()> {
        // No real sync: the machine does not crash here, and there are thousands of these.
        self.take(0).or_else(|_| gone())
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        self.take(0).or_else(|_| gone())?;
        Os.truncate(file, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.is_gone() {
            return gone();
        }
        Os.rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.take(0).or_else(|_| gone())?;
        Os.sync_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.take(0).or_else(|_| gone())?;
        Os.remove(path)
    }
}

//! The file-system calls of the journal, behind a trait so that a test can make the k-th call fail.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use crate::files::{self, FileAccess, OWN};

/// The file-system operations a journal needs.
#[expect(clippy::missing_errors_doc, reason = "each fails as the file system does")]
pub trait Disk: std::fmt::Debug + Send + Sync {
    /// Creates a file to append to; it must not exist.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Opens an existing file to append to.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Opens a file for overwriting, creating it if necessary.
    fn open_over(&self, path: &Path) -> io::Result<File>;
    /// Makes a single write, which may be partial.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize>;
    /// Overwrites the beginning of a file that was not opened in append mode.
    fn overwrite(&self, file: &File, bytes: &[u8]) -> io::Result<()>;
    /// Syncs a file's contents to disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    fn truncate(&self, file: &File, length: u64) -> io::Result<()>;
    /// Renames a file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Syncs a folder's entries to disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Tells whether an open file is still the one at `path`; false after its folder was removed or moved away.
    fn is_in_place(&self, file: &File, path: &Path) -> bool {
        let of = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
        let own = file.metadata().ok().filter(|facts| facts.nlink() > 0).map(of);
        own.is_some() && own == path.symlink_metadata().ok().map(of)
    }
}

/// The real file system.
#[derive(Debug, Clone, Copy)]
pub struct Os;

impl Disk for Os {
    fn create(&self, path: &Path) -> io::Result<File> {
        files::private().create_new(true).append(true).open(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        files::open(path, OWN, FileAccess::Append)
    }

    fn open_over(&self, path: &Path) -> io::Result<File> {
        files::open_or_create(path, FileAccess::Change)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn overwrite(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, 0)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        files::sync_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

/// Writes all of `bytes` in one call; a partial write is an error.
pub(super) fn write_once(disk: &dyn Disk, file: &File, bytes: &[u8]) -> io::Result<()> {
    loop {
        match disk.write(file, bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            // The rest would not have fitted either: a write to a regular file is only cut short for lack of space.
            Ok(_) => return Err(io::Error::from(io::ErrorKind::StorageFull)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
pub(super) mod blocking {
    //! A disk whose calls wait while it is blocked, and then continue normally.

    use std::fs::File;
    use std::io;
    use std::path::Path;
    use std::sync::{Arc, Condvar, Mutex};

    use crate::journal::disk::{Disk, Os};

    /// Whether writes and syncs wait. Clones share the same state.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct DiskBlock(Arc<(Mutex<(bool, usize)>, Condvar)>);

    impl DiskBlock {
        /// Makes calls wait from now on, or releases those that wait.
        pub(crate) fn set(&self, blocked: bool) {
            self.0.0.lock().expect("block").0 = blocked;
            self.0.1.notify_all();
        }

        /// Returns how many calls have had to wait.
        pub(crate) fn wait_count(&self) -> usize {
            self.0.0.lock().expect("block").1
        }

        fn pass(&self) {
            let mut state = self.0.0.lock().expect("block");
            state.1 += usize::from(state.0);
            while state.0 {
                state = self.0.1.wait(state).expect("block");
            }
        }
    }

    /// The real disk behind a [`DiskBlock`].
    #[derive(Debug)]
    pub(in crate::journal) struct BlockedDisk(pub(in crate::journal) DiskBlock);

    impl Disk for BlockedDisk {
        fn create(&self, path: &Path) -> io::Result<File> {
            self.0.pass();
            Os.create(path)
        }

        fn open(&self, path: &Path) -> io::Result<File> {
            self.0.pass();
            Os.open(path)
        }

        fn open_over(&self, path: &Path) -> io::Result<File> {
            self.0.pass();
            Os.open_over(path)
        }

        fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
            self.0.pass();
            Os.write(file, bytes)
        }

        fn overwrite(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
            self.0.pass();
            Os.overwrite(file, bytes)
        }

        fn sync(&self, _file: &File) -> io::Result<()> {
            self.0.pass();
            Ok(())
        }

        fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
            self.0.pass();
            Os.truncate(file, length)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.0.pass();
            Os.rename(from, to)
        }

        fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
            self.0.pass();
            Ok(())
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            self.0.pass();
            Os.remove(path)
        }
    }
}

#[cfg(test)]
pub(super) mod failing {
    //! A disk on which one call fails, or every call from a given one on.

    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use crate::journal::disk::{Disk, Os};

    /// The calls that can be made to fail.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(in crate::journal) enum DiskCall {
        Open,
        Write,
        Overwrite,
        Sync,
        Truncate,
        Rename,
    }

    /// How a call fails.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::journal) enum DiskFault {
        Full,
        Broken,
        /// Half is written, then the disk is full.
        Short,
    }

    /// Which calls fail, counting from 1.
    #[derive(Debug, Clone)]
    pub(in crate::journal) struct FailingDisk {
        pub(in crate::journal) call: DiskCall,
        pub(in crate::journal) from: usize,
        pub(in crate::journal) count: usize,
        pub(in crate::journal) way: DiskFault,
        pub(in crate::journal) seen: Arc<Mutex<BTreeMap<DiskCall, usize>>>,
    }

    impl FailingDisk {
        pub(in crate::journal) fn nth(call: DiskCall, from: usize, count: usize, way: DiskFault) -> Self {
            Self { call, from, count, way, seen: Arc::default() }
        }

        /// Returns how often the failing call was made.
        pub(in crate::journal) fn call_count(&self) -> usize {
            self.seen.lock().expect("seen").get(&self.call).copied().unwrap_or_default()
        }

        fn fails(&self, call: DiskCall) -> bool {
            let mut seen = self.seen.lock().expect("seen");
            let made = seen.entry(call).or_default();
            *made += 1;
            call == self.call && (self.from..self.from + self.count).contains(made)
        }

        fn check(&self, call: DiskCall) -> io::Result<()> {
            if self.fails(call) { Err(self.error()) } else { Ok(()) }
        }

        fn error(&self) -> io::Error {
            let code = if self.way == DiskFault::Broken { libc::EIO } else { libc::ENOSPC };
            io::Error::from_raw_os_error(code)
        }
    }

    impl Disk for FailingDisk {
        fn create(&self, path: &Path) -> io::Result<File> {
            self.check(DiskCall::Open)?;
            Os.create(path)
        }

        fn open(&self, path: &Path) -> io::Result<File> {
            self.check(DiskCall::Open)?;
            Os.open(path)
        }

        fn open_over(&self, path: &Path) -> io::Result<File> {
            self.check(DiskCall::Open)?;
            Os.open_over(path)
        }

        fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
            if self.fails(DiskCall::Write) {
                return match self.way {
                    DiskFault::Short => Os.write(file, &bytes[..bytes.len() / 2]),
                    _ => Err(self.error()),
                };
            }
            Os.write(file, bytes)
        }

        fn overwrite(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
            self.check(DiskCall::Overwrite)?;
            Os.overwrite(file, bytes)
        }

        fn sync(&self, file: &File) -> io::Result<()> {
            // No real sync: these tests kill no machine, and there are thousands of them.
            let _ = file;
            self.check(DiskCall::Sync)
        }

        fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
            self.check(DiskCall::Truncate)?;
            Os.truncate(file, length)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.check(DiskCall::Rename)?;
            Os.rename(from, to)
        }

        fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
            self.check(DiskCall::Sync)
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            Os.remove(path)
        }
    }
}

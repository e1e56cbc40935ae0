//! An append-only file of lines: each line is written completely or not at all, and an incomplete line at the end is
//! cut off. All of this program's records are written and repaired by this rule.

use std::fs::File;
use std::io;
use std::path::Path;

use super::disk::{Disk, write_once};
use crate::files::{self, OWN};

/// The longest file that is read back.
const MOST_BYTES: u64 = 128 << 20;

/// A file of lines, open for appending.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    /// Where the last complete line ends.
    length: u64,
    /// An incomplete line follows the last complete one and cannot be cut off.
    is_torn: bool,
}

impl LineFile {
    /// Wraps a file that ends with a complete line.
    pub fn new(file: File, length: u64) -> Self {
        Self { file, length, is_torn: false }
    }

    /// Wraps a file whose last write may have been interrupted and returns its complete lines; an incomplete line at
    /// the end is cut off.
    ///
    /// # Errors
    /// If it cannot be read or truncated.
    pub fn repair(disk: &dyn Disk, file: File, path: &Path) -> io::Result<(Self, Vec<u8>)> {
        let mut bytes = files::read(path, OWN, MOST_BYTES)?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        if whole < bytes.len() {
            disk.truncate(&file, whole as u64)?;
            bytes.truncate(whole);
        }
        Ok((Self::new(file, whole as u64), bytes))
    }

    /// Appends complete lines. After a failure the file ends where it did before.
    ///
    /// # Errors
    /// If the lines cannot be written, or the file [is torn](Self::is_torn): a line after an incomplete one could not
    /// be read.
    pub fn append(&mut self, disk: &dyn Disk, lines: &[u8]) -> io::Result<()> {
        if self.is_torn {
            return Err(io::Error::other("it ends in half a row that cannot be cut off"));
        }
        if let Err(error) = write_once(disk, &self.file, lines) {
            self.is_torn = disk.truncate(&self.file, self.length).is_err();
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    /// Tells whether a failed write left an incomplete line that could not be cut off.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Returns where the last complete line ends.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the file, for syncing.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Replaces a file atomically: a concurrent reader sees either the old bytes or the new ones.
///
/// # Errors
/// If it cannot be written; the old file is then unchanged.
pub fn replace_file(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = files::beside(path);
    let file = disk.create(&beside)?;
    let written = write_once(disk, &file, bytes).and_then(|()| disk.rename(&beside, path));
    if written.is_err() {
        // A partly written file is useless.
        let _ = disk.remove(&beside);
    }
    written
}

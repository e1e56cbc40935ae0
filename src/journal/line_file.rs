//! A file of lines that grows: a line arrives whole or not at all, and half a line at the end is cut off. The rule by
//! which every record of this program is written and repaired.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

use super::disk::{Disk, write_once};

/// A file of lines, open to append to.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    /// Where the last whole line ends.
    length: u64,
    /// Half a line lies behind the last whole one and cannot be cut off.
    is_torn: bool,
}

impl LineFile {
    /// Takes a file that ends with a whole line.
    #[must_use]
    pub fn new(file: File, length: u64) -> Self {
        Self { file, length, is_torn: false }
    }

    /// Takes a file that somebody may have been cut off writing, and returns its whole lines; half a line at its end is
    /// cut off.
    ///
    /// # Errors
    /// When it cannot be read or cut.
    pub fn repaired(disk: &dyn Disk, file: File, path: &Path) -> io::Result<(Self, Vec<u8>)> {
        let mut bytes = std::fs::read(path)?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        if whole < bytes.len() {
            disk.truncate(&file, whole as u64)?;
            bytes.truncate(whole);
        }
        Ok((Self::new(file, whole as u64), bytes))
    }

    /// Appends whole lines. After a failure the file ends where it did before.
    ///
    /// # Errors
    /// When they cannot be written, or the file [is torn](Self::is_torn): behind half a line, the next could not be read.
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

    /// Tells whether a failed write left half a line that could not be cut off.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Returns where the last whole line ends.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the file, to be synced.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Replaces a file whole: whoever reads it meanwhile sees the old bytes or the new ones.
///
/// # Errors
/// When it cannot be written; it is then as it was.
pub fn replace_file(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = OsString::from(path);
    beside.push(".new");
    let beside = Path::new(&beside);
    let file = disk.open_over(beside)?;
    if file.metadata()?.len() > 0 {
        // Left behind by somebody who was cut off here.
        disk.truncate(&file, 0)?;
    }
    write_once(disk, &file, bytes)?;
    disk.rename(beside, path)
}

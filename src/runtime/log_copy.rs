//! The log of a task in pieces, for a reader on another machine: both of its files only ever grow, so a copy is brought up to
//! date by what lies behind its end.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::log::{log_path, marks_path};
use crate::files;
use crate::terminal::LogBytes;

/// Bytes of a piece.
const PIECE: u64 = 256 << 10;
/// The largest file that is copied: the longest logs there are, and more.
const MOST: u64 = 256 << 20;

/// A file of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogPart {
    /// What the task wrote.
    Bytes,
    /// The marks beside it.
    Marks,
}

/// A piece of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct LogPiece {
    /// Its bytes, in base64; none at the end of the file.
    bytes: String,
    /// Bytes of the whole file.
    length: u64,
}

impl LogPart {
    /// Both, in the order in which they are copied: no mark is copied before what it stands for.
    pub const ALL: [Self; 2] = [Self::Bytes, Self::Marks];

    fn path(self, folder: &Path) -> PathBuf {
        match self {
            Self::Bytes => log_path(folder),
            Self::Marks => marks_path(folder),
        }
    }

    /// Reads a piece from an offset on. Blocking.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(self, folder: &Path, from: u64) -> io::Result<LogPiece> {
        let file = File::open(self.path(folder))?;
        let length = file.len();
        let begin = from.min(length);
        let bytes = file.read_range(begin..length.min(begin.saturating_add(PIECE)))?;
        Ok(LogPiece { bytes: STANDARD.encode(bytes), length })
    }

    /// Returns how much of the file a copy has.
    #[must_use]
    pub fn copied(self, folder: &Path) -> u64 {
        std::fs::metadata(self.path(folder)).map_or(0, |file| file.len())
    }

    /// Puts a piece behind a copy, and tells whether there is more to come. Blocking. What comes is input from outside: a
    /// piece that is too large, or makes the copy too large, is refused.
    ///
    /// # Errors
    /// When it cannot be written, or is none.
    pub fn append(self, folder: &Path, piece: &LogPiece) -> io::Result<bool> {
        let bytes = STANDARD.decode(&piece.bytes).map_err(io::Error::other)?;
        let (have, new) = (self.copied(folder), bytes.len() as u64);
        if new > PIECE || have + new > MOST {
            return Err(io::Error::other("more of a log came than there can be"));
        }
        files::create_folder(folder)?;
        files::private().append(true).create(true).open(self.path(folder))?.write_all(&bytes)?;
        Ok(new > 0 && have + new < piece.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_grows_with_the_log_and_is_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let (there, here) = (folder.path().join("there"), folder.path().join("here"));
        std::fs::create_dir(&there).expect("made");
        let part = LogPart::Bytes;
        let mut written = Vec::new();
        for round in 0..3_u8 {
            written.extend(std::iter::repeat_n(round, 300_000));
            std::fs::write(part.path(&there), &written).expect("written");
            let mut pieces = 0;
            while part.append(&here, &part.read(&there, part.copied(&here)).expect("reads")).expect("appends")
            {
                pieces += 1;
            }
            assert!(pieces <= 2, "{pieces}");
            assert_eq!(std::fs::read(part.path(&here)).expect("reads"), written);
        }
    }

    #[test]
    fn what_is_no_piece_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let append =
            |bytes: String| LogPart::Marks.append(folder.path(), &LogPiece { bytes, length: u64::MAX });
        append("%".to_owned()).expect_err("no base64");
        let large = vec![0; usize::try_from(PIECE).expect("fits") + 1];
        append(STANDARD.encode(large)).expect_err("too large");
        assert_eq!(LogPart::Marks.copied(folder.path()), 0);
    }
}

//! Reads and copies a task's log in pieces, for a reader on another machine. Both of its files only ever grow, so a
//! copy is updated by appending what follows its end.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::log::{IN_RECORDING, LOG, MARKS, MOST_BYTES, OpenLog};
use crate::files::{self, FileAccess};
use crate::terminal::LogBytes;

/// Bytes per piece.
const PIECE: u64 = 256 << 10;

/// One of the files of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogPart {
    /// What the task wrote.
    Bytes,
    Marks,
}

/// A piece of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct LogPiece {
    /// Its bytes, in base64; empty at the end of the file.
    bytes: String,
    /// Length of the whole file, in bytes.
    length: u64,
}

impl LogPart {
    /// Both files in copying order: no mark is copied before the bytes it refers to.
    pub const ALL: [Self; 2] = [Self::Bytes, Self::Marks];

    /// Returns the name of the file in a task's folder.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Bytes => LOG,
            Self::Marks => MARKS,
        }
    }

    fn path(self, folder: &Path) -> PathBuf {
        folder.join(self.file_name())
    }

    /// Reads a piece starting at an offset. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(self, folder: &Path, from: u64) -> io::Result<LogPiece> {
        let file = OpenLog::from(files::open(&self.path(folder), IN_RECORDING, FileAccess::Read)?);
        let length = file.len();
        let begin = from.min(length);
        let bytes = file.read_range(begin..length.min(begin.saturating_add(PIECE)))?;
        Ok(LogPiece { bytes: STANDARD.encode(bytes), length })
    }

    /// Returns how many bytes of the file a copy already has.
    pub fn copied_length(self, folder: &Path) -> u64 {
        std::fs::symlink_metadata(self.path(folder)).map_or(0, |file| file.len())
    }

    /// Appends a piece to a copy, and returns whether there is more to come. Blocks. Pieces are untrusted input: one
    /// that is too large, or makes the copy too large, is refused.
    ///
    /// # Errors
    /// If it cannot be written or is invalid.
    pub fn append(self, folder: &Path, piece: &LogPiece) -> io::Result<bool> {
        let bytes = STANDARD.decode(&piece.bytes).map_err(io::Error::other)?;
        let (have, new) = (self.copied_length(folder), bytes.len() as u64);
        if new > PIECE || have + new > MOST_BYTES {
            return Err(io::Error::other("more of a log came than there can be"));
        }
        files::create_folder(folder)?;
        files::open_or_create(&self.path(folder), FileAccess::Append)?.write_all(&bytes)?;
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
            while part
                .append(&here, &part.read(&there, part.copied_length(&here)).expect("reads"))
                .expect("appends")
            {
                pieces += 1;
            }
            assert!(pieces <= 2, "{pieces}");
            assert_eq!(std::fs::read(part.path(&here)).expect("reads"), written);
        }
    }

    #[test]
    fn a_piece_of_a_log_that_is_no_base64_or_too_large_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let append =
            |bytes: String| LogPart::Marks.append(folder.path(), &LogPiece { bytes, length: u64::MAX });
        append("%".to_owned()).expect_err("no base64");
        let large = vec![0; usize::try_from(PIECE).expect("fits") + 1];
        append(STANDARD.encode(large)).expect_err("too large");
        assert_eq!(LogPart::Marks.copied_length(folder.path()), 0);
    }
}

//! `exit.json`: how a command ended, written atomically to the task's folder by its host. It is read by a runtime
//! that was not running when the command ended.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use serde::{Deserialize, Serialize};

use crate::model::{Exit, UnendedProcess};

use crate::files::{self, Links};

const FILE: &str = "exit.json";
/// The longest record that is read.
const MOST_BYTES: u64 = 1 << 20;

/// The end of a command as its host saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// The shell's process id.
    pub pid: u32,
    /// The shell's start time in clock ticks since boot; together with the pid, its identity.
    pub start: u64,
    /// When the host started the shell.
    pub started_at: Timestamp,
    /// How the shell ended; absent if not even the shell could be killed.
    pub exit: Option<Exit>,
    /// When the shell ended.
    pub exited_at: Option<Timestamp>,
    /// When no process was left that could be ended.
    pub ended_at: Timestamp,
    /// Names of the processes that outlived a shell that ended by itself, and were ended.
    pub leftovers: Vec<String>,
    /// The processes that could not be ended.
    pub survivors: Vec<UnendedProcess>,
    /// Why it ended.
    pub reason: EndReason,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// It ended by itself.
    Exited,
    /// The runtime requested it.
    Ordered,
    /// The runtime was gone.
    RuntimeGone,
}

impl ExitRecord {
    /// Reads the record in a task's folder; `None` if there is none.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid record.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        match files::read(&folder.join(FILE), Links::NoneIn(3), MOST_BYTES) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the record atomically.
    fn write(&self, folder: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self)?;
        files::replace(&folder.join(FILE), |file| file.write_all(&bytes))
    }
}

/// Where a task's record will be written.
#[derive(Debug)]
pub(super) struct ExitRecordFile {
    folder: PathBuf,
    /// An unnamed file, created in advance so that this takes no time when someone is waiting; not supported by every
    /// file system.
    unnamed: Option<File>,
}

impl ExitRecordFile {
    /// Prepares a record in a task's folder as far as possible.
    pub(super) fn make(folder: PathBuf) -> Self {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let unnamed = openat(CWD, &folder, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from);
        Self { folder, unnamed }
    }

    /// Writes the record atomically.
    pub(super) fn fill(self, record: &ExitRecord) -> io::Result<()> {
        let named = self.unnamed.is_some_and(|mut file| {
            let own = format!("/proc/self/fd/{}", file.as_raw_fd());
            serde_json::to_vec(record).is_ok_and(|bytes| file.write_all(&bytes).is_ok())
                && linkat(CWD, own, CWD, self.folder.join(FILE), AtFlags::SYMLINK_FOLLOW).is_ok()
        });
        if named { Ok(()) } else { record.write(&self.folder) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::model::Signal;

    #[test]
    fn a_record_reads_back_is_private_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().expect("temp dir");
        assert_eq!(ExitRecord::read(folder.path()).expect("reads"), None);
        let record = ExitRecord {
            pid: 7,
            start: 99,
            started_at: Timestamp::UNIX_EPOCH,
            exit: Some(Exit::Signal(Signal::KILL)),
            exited_at: Some(Timestamp::UNIX_EPOCH),
            ended_at: Timestamp::UNIX_EPOCH,
            leftovers: vec!["sleep".to_owned()],
            survivors: vec!["sleep".into()],
            reason: EndReason::RuntimeGone,
        };
        let named_at_once = ExitRecordFile { folder: folder.path().to_owned(), unnamed: None };
        for place in [ExitRecordFile::make(folder.path().to_owned()), named_at_once] {
            place.fill(&record).expect("writes");
            assert_eq!(ExitRecord::read(folder.path()).expect("reads").as_ref(), Some(&record));
            let names: Vec<_> = fs::read_dir(folder.path()).expect("lists").flatten().collect();
            assert_eq!(names.len(), 1);
            assert_eq!(names[0].metadata().expect("metadata").permissions().mode() & 0o777, 0o600);
        }
    }
}

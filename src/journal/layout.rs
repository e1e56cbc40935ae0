//! The files of a recording, and the two small ones beside the journal: `meta.json` (what it is) and `head.json`
//! (where it ends).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::JournalError;
use super::chain::{Hash, VERSION};
use super::disk::{Disk, write_once};
use crate::files::{self, FileAccess, OWN};

/// The file that says where a recording ends: its seal.
pub(super) const HEAD: &str = "head.json";
/// The file with a recording's description, and that file before it is complete.
pub(super) const META: &str = "meta.json";
const META_BESIDE: &str = ".meta.json";
/// The folder with the torn ends of segments.
pub(super) const QUARANTINE: &str = "quarantine";
/// Bytes of `head.json`: always the same number, so that overwriting it leaves nothing of the old contents.
const HEAD_BYTES: usize = 128;
/// The size limit for reading small files.
const SMALL_BYTES: u64 = 64 << 10;
/// How often taking a lock is attempted, and the pause between attempts.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(3);

/// A recording's description: `meta.json`, written once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingMeta {
    /// Version of the recording's format.
    pub version: u64,
    /// The workspace the recording belongs to.
    pub workspace: PathBuf,
    /// The runtime's process id: for people; it identifies a process only together with the next two fields.
    pub pid: u32,
    /// When that process started, in clock ticks since boot.
    pub start: u64,
    /// The machine's boot id when it ran.
    pub boot_id: String,
    /// When the recording started.
    pub started_at: Timestamp,
    /// The program's version.
    pub program: String,
}

impl RecordingMeta {
    /// Reads the description of a recording; `None` if there is none or it cannot be read.
    pub fn read(recording: &Path) -> Option<Self> {
        serde_json::from_slice(&read_small(&recording.join(META)).ok()?).ok()
    }

    /// Returns the name of the recording's folder: when it started, and its runtime's process id.
    pub fn recording_name(&self) -> String {
        format!("{}-{}", self.started_at.strftime("%Y%m%dT%H%M%S%.3fZ"), self.pid)
    }

    /// Writes the description atomically.
    pub(super) fn write(&self, disk: &dyn Disk, recording: &Path) -> Result<(), JournalError> {
        let (path, beside) = (recording.join(META), recording.join(META_BESIDE));
        let mut bytes = serde_json::to_vec(self).map_err(JournalError::Encode)?;
        bytes.push(b'\n');
        let written = disk.create(&beside).and_then(|file| {
            write_once(disk, &file, &bytes)?;
            disk.sync(&file)?;
            disk.rename(&beside, &path)
        });
        written.map_err(JournalError::io("write", path))
    }
}

/// The format version of every recording this program creates.
pub const META_VERSION: u64 = VERSION;

/// Where a recording ended when it was last synced: `head.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// Number of the last line.
    pub seq: u64,
    pub hash: Hash,
}

impl ChainHead {
    /// Reads where a recording ended; `None` if its head is missing or unreadable.
    pub fn read(recording: &Path) -> Option<Self> {
        serde_json::from_slice(&read_small(&head_path(recording)).ok()?).ok()
    }

    /// Returns the file's content, always of the same length.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut text = format!("{{\"seq\":{},\"hash\":\"{}\"}}", self.seq, self.hash).into_bytes();
        text.resize(HEAD_BYTES - 1, b' ');
        text.push(b'\n');
        text
    }
}

/// A writer's exclusive lock on a recording. The lock ends with the process, however that ends.
#[derive(Debug)]
pub(super) struct Hold(pub(super) File);

impl Hold {
    /// Locks a recording for writing.
    pub(super) fn take(disk: &dyn Disk, recording: &Path) -> Result<Self, JournalError> {
        let path = head_path(recording);
        let file = disk.open_over(&path).map_err(JournalError::io("open", &path))?;
        for _ in 0..ATTEMPTS {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                // Another process writes it, or is briefly checking whether one does.
                Err(Errno::WOULDBLOCK) => pause(),
                Err(error) => return Err(JournalError::io("lock", path)(error.into())),
            }
        }
        Err(JournalError::Held { recording: recording.to_owned() })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that another thread is just forking has a copy of it.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

fn pause() {
    let _ = poll(&mut [], Timespec::try_from(PAUSE).ok().as_ref());
}

/// Tells whether a path in a recording is one of a journal's files or folders.
pub fn is_of_journal(path: &Path, is_folder: bool) -> bool {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match (parts.as_deref(), is_folder) {
        (Some([name]), true) => [super::parts::FOLDER, QUARANTINE].contains(name),
        (Some([name]), false) => [META, META_BESIDE, HEAD].contains(name) || segment_number(name).is_some(),
        (Some([folder, name]), false) if *folder == super::parts::FOLDER => {
            let numbers = name.strip_suffix(".json").unwrap_or_default();
            numbers.split('-').count() == 3 && numbers.split('-').all(digits)
        }
        (Some([folder, name]), false) if *folder == QUARANTINE => {
            name.rsplit_once('.').is_some_and(|(segment, end)| {
                segment_number(segment).is_some() && (end == "part" || digits(end))
            })
        }
        _ => false,
    }
}

/// Tells whether a recording is being written now.
pub fn is_held(recording: &Path) -> bool {
    let Ok(file) = files::open(&head_path(recording), OWN, FileAccess::Read) else { return false };
    // A shared lock, so that two simultaneous checks do not mistake each other for the writer.
    matches!(flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
}

pub(super) fn head_path(recording: &Path) -> PathBuf {
    recording.join(HEAD)
}

pub(super) fn segment_name(number: u32) -> String {
    format!("journal-{number:04}.jsonl")
}

fn segment_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix("journal-")?.strip_suffix(".jsonl")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

pub(super) fn segment_path(recording: &Path, number: u32) -> PathBuf {
    recording.join(segment_name(number))
}

/// Lists the segments of a recording in order.
pub(super) fn segments(recording: &Path) -> io::Result<Vec<u32>> {
    let names = fs::read_dir(recording)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut numbers: Vec<u32> = names.filter_map(|name| segment_number(&name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    files::read(path, OWN, SMALL_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::disk::Os;

    #[test]
    fn a_recording_is_held_until_its_writer_ends_whoever_has_a_copy_of_the_descriptor() {
        let recording = tempfile::tempdir().expect("a folder");
        std::fs::write(head_path(recording.path()), "").expect("written");
        let hold = Hold::take(&Os, recording.path()).expect("held");
        let copy = hold.0.try_clone().expect("what a process has that is just being forked");
        assert!(is_held(recording.path()));
        drop(hold);
        assert!(!is_held(recording.path()));
        drop(copy);
    }
}

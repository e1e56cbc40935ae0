//! Repairs a recording whose writer died, so that it ends in a complete line, and continues its journal.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

use super::appender::{Appender, ChainEnd, own_row};
use super::disk::{Disk, Os, write_once};
use super::layout::{self, ChainHead, Hold};
use super::problem::{Problem, ProblemKind};
use super::reader::{JournalItem, JournalReader};
use super::verify::end_of;
use super::{Journal, JournalError};
use crate::clock::Clock;
use crate::files::{self, FileAccess, OWN};

/// The size limit for keeping a torn end: a line is shorter, and a segment is no longer than this.
const TORN_BYTES: u64 = 64 << 20;

/// What a repair found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairReport {
    /// The problems found.
    pub problems: Vec<Problem>,
    /// The size of the torn end in bytes, and the file it was moved to.
    pub torn: Option<(u64, PathBuf)>,
    /// The segment that was made read-only because a line in it has changed.
    pub sealed: Option<String>,
}

/// Repairs a recording that is not being written and returns its journal, ready to continue.
///
/// # Errors
/// If the recording is being written or was written by a newer program, or the repair fails.
pub fn repair(recording: &Path, clock: Clock) -> Result<(Journal, RepairReport), JournalError> {
    repair_with(Box::new(Os), recording, clock)
}

pub(super) fn repair_with(
    disk: Box<dyn Disk>,
    recording: &Path,
    clock: Clock,
) -> Result<(Journal, RepairReport), JournalError> {
    let head = ChainHead::read(recording);
    let hold = Hold::take(&*disk, recording)?;
    let mut reader = JournalReader::open(recording)?;
    let problems: Vec<Problem> = reader
        .by_ref()
        .filter_map(|item| match item {
            JournalItem::Problem(problem) => Some(problem),
            JournalItem::Record(_) => None,
        })
        .collect();
    if let Some(version) = reader.newer_version() {
        return Err(JournalError::Version { recording: recording.to_owned(), version });
    }
    let reached = reader.valid_end();
    let number = layout::segments(recording).map_err(JournalError::io("list", recording))?.last().copied();
    let mut repaired = RepairReport { problems, ..RepairReport::default() };
    // Whatever follows the last valid line, torn or changed, is not part of the chain.
    let is_end = |problem: &Problem| {
        matches!(problem.kind, ProblemKind::Torn | ProblemKind::Changed) && problem.first > reached.seq
    };
    if let Some(problem) = repaired.problems.iter().find(|problem| is_end(problem)).cloned() {
        repaired.torn = Some(cut(&*disk, recording, &problem)?);
    }
    let mut end = ChainEnd {
        seq: reached.seq,
        hash: reached.hash,
        segment: None,
        next_segment: number.unwrap_or(0) + 1,
    };
    if let Some(number) = number {
        let path = layout::segment_path(recording, number);
        if repaired.problems.iter().all(is_end) {
            let length = fs::metadata(&path).map_err(JournalError::io("measure", &path))?.len();
            end.segment = Some((number, length));
        } else {
            files::open(&path, OWN, FileAccess::Read)
                .and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o400)))
                .map_err(JournalError::io("seal", &path))?;
            repaired.sealed = Some(layout::segment_name(number));
        }
    }
    // Recorded permanently: the next seal will not show it.
    repaired.problems.extend(end_of(&reader, head, reached.seq));
    let mut appender = Appender::resume(disk, recording, (hold, end))?;
    if !repaired.problems.is_empty() {
        let row = own_row("repair", &json!(repaired), clock.now().wall);
        appender.append(&row).and_then(|()| appender.sync()).map_err(JournalError::Append)?;
    }
    let journal = Journal::start(appender, recording, (clock, Arc::new(Notify::new())))?;
    Ok((journal, repaired))
}

/// Moves a torn end to `quarantine/` and truncates the segment.
fn cut(disk: &dyn Disk, recording: &Path, problem: &Problem) -> Result<(u64, PathBuf), JournalError> {
    let path = recording.join(&problem.segment);
    let bytes = files::read(&path, OWN, TORN_BYTES).map_err(JournalError::io("read", &path))?;
    let offset = usize::try_from(problem.offset).unwrap_or(usize::MAX);
    let torn = bytes.get(offset..).unwrap_or_default();
    let folder = recording.join(layout::QUARANTINE);
    let kept = folder.join(format!("{}.{offset}", problem.segment));
    files::create_folder(&folder)
        .and_then(|()| keep(disk, &kept, torn))
        .map_err(JournalError::io("keep the torn end in", &kept))?;
    let file = disk.open(&path).map_err(JournalError::io("open", &path))?;
    disk.truncate(&file, problem.offset)
        .and_then(|()| disk.sync(&file))
        .map_err(JournalError::io("cut", &path))?;
    Ok((torn.len() as u64, kept))
}

/// Writes the torn bytes completely or not at all: an earlier repair may have died here.
fn keep(disk: &dyn Disk, kept: &Path, torn: &[u8]) -> io::Result<()> {
    let beside = kept.with_extension("part");
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file: File = disk.create(&beside)?;
    write_once(disk, &file, torn)?;
    disk.sync(&file)?;
    disk.rename(&beside, kept)
}

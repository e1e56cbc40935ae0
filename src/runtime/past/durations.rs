//! Durations of successful commands in the latest recordings of a workspace.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use serde::Deserialize;

use super::find::list;
use crate::journal::{JournalItem, JournalReader};
use crate::model::{TaskEnd, TaskStatus};
use crate::runtime::record_row::FactKind;

/// The number of recordings read: the newest ones.
const MOST_RECORDINGS: usize = 20;
/// The number of rows read in total.
const MOST_ROWS: usize = 400_000;
/// The number of commands remembered.
const MOST_COMMANDS: usize = 1_000;
/// Length limit of a remembered command, in characters.
const MOST_CHARS: usize = 1_000;
/// The number of latest runs remembered per command.
pub const MOST_RUNS: usize = 9;

/// Durations of the latest runs of commands in milliseconds, oldest first, by command.
pub type Durations = BTreeMap<String, VecDeque<u64>>;

/// Reads the durations of commands that exited with 0 in the latest recordings of a workspace, except the recording
/// `but`. Whatever cannot be read is skipped. Blocks while reading.
pub fn durations(recordings: &Path, workspace: &Path, but: &Path) -> Durations {
    let mut listed = list(recordings, Some(workspace));
    listed.retain(|recording| recording.folder != but);
    let first = listed.len().saturating_sub(MOST_RECORDINGS);
    let mut all = Durations::new();
    let mut rows = 0;
    for recording in &listed[first..] {
        let Ok(reader) = JournalReader::open(&recording.folder) else { continue };
        for item in reader {
            rows += 1;
            if rows > MOST_ROWS {
                return all;
            }
            let JournalItem::Record(record) = item else { continue };
            if !FactKind::Ended.is(&record.header.kind) {
                continue;
            }
            if let Ok(DurationRow { task }) = record.data::<DurationRow>(&recording.folder) {
                task.add_to(&mut all);
            }
        }
    }
    all
}

/// Adds a run of a command.
pub fn add_run(all: &mut Durations, cmd: &str, ms: u64) {
    if all.len() >= MOST_COMMANDS && !all.contains_key(cmd) || cmd.chars().count() > MOST_CHARS {
        return;
    }
    let runs = all.entry(cmd.to_owned()).or_default();
    if runs.len() >= MOST_RUNS {
        runs.pop_front();
    }
    runs.push_back(ms);
}

#[derive(Deserialize)]
struct DurationRow {
    task: RunFields,
}

/// The fields read from a task's row.
#[derive(Deserialize)]
struct RunFields {
    cmd: String,
    status: TaskStatus,
    started_at: Option<jiff::Timestamp>,
    ended: Option<TaskEnd>,
}

impl RunFields {
    fn add_to(&self, all: &mut Durations) {
        let Some(ended) = self.ended.as_ref().filter(|_| self.status == TaskStatus::Completed) else {
            return;
        };
        let counted = || {
            let begun = self.started_at?;
            u64::try_from(ended.at.duration_since(begun).as_millis()).ok()
        };
        if let Some(ms) = ended.ran_ms.or_else(counted) {
            add_run(all, &self.cmd, ms);
        }
    }
}

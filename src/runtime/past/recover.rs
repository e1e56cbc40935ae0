//! Recovers recordings whose runtime had died (docs/decisions/08-record.md): repairs them, decides how
//! their tasks ended, and ends processes that still run if they provably belong to them. Blocks.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use super::find::{ListedRecording, list};
use super::outcome;
use super::reader::{self, Recording};
use crate::clock::Clock;
use crate::envelope::TaskId;
use crate::journal::{Durability, Journal, JournalError, RecordingMeta, RepairReport, repair};
use crate::model::{TaskState, TaskStatus, UnendedProcess, UnendedProcesses};
use crate::process::{ExitRecord, OrphanedTasks, Orphans, boot_id, is_still_alive};
use crate::runtime::log;
use crate::runtime::record_row::{Fact, RecoveredTask};

/// How long the hosts of a dead runtime may take to end their trees by themselves.
const PATIENCE: Duration = Duration::from_secs(3);

/// The result of recovering one recording.
#[derive(Debug)]
pub(in crate::runtime) struct Recovery {
    pub(in crate::runtime) recording: String,
    pub(in crate::runtime) repaired: RepairReport,
    pub(in crate::runtime) tasks: Vec<RecoveredTask>,
}

/// Recovers every recording of the workspace whose runtime had died; `own` is never touched.
pub(in crate::runtime) fn recover(own: &Path, workspace: &Path, clock: &Clock) -> Vec<Recovery> {
    let Some(recordings) = own.parent() else { return Vec::new() };
    let all = list(recordings, Some(workspace)).into_iter();
    let dead = all.filter(|listed| !listed.live && listed.folder != own && listed.is_own());
    let recovered = dead.filter_map(|listed| {
        let name = listed.name.clone();
        match one(&listed, clock) {
            Ok(recovery) => recovery,
            Err(error) => {
                tracing::warn!(%error, recording = name, "a past recording stays as it is");
                None
            }
        }
    });
    recovered.collect()
}

/// Recovers one recording, unless it is closed.
fn one(listed: &ListedRecording, clock: &Clock) -> Result<Option<Recovery>, JournalError> {
    let recording = reader::read(&listed.folder)?;
    if recording.closed.is_some() {
        return Ok(None);
    }
    let (journal, repaired) = repair(&listed.folder, clock.clone())?;
    let tasks = settle(&recording, &journal, clock);
    put(&journal, &Fact::Closed { recovered: true });
    journal.close();
    Ok(Some(Recovery { recording: listed.name.clone(), repaired, tasks }))
}

/// Decides how each unfinished task ended, and records that.
fn settle(recording: &Recording, journal: &Journal, clock: &Clock) -> Vec<RecoveredTask> {
    let open: Vec<&TaskState> = recording.tasks.iter().filter(|task| !task.status.is_terminal()).collect();
    let ids: Vec<TaskId> = open.iter().map(|task| task.id.clone()).collect();
    let orphans = end_orphaned(recording.meta.as_ref(), ids);
    let decide = |(task, orphans): (&TaskState, Orphans)| {
        let left = ExitRecord::read(&task.folder).unwrap_or_else(|error| {
            tracing::warn!(%error, task = %task.id, "read how a task ended");
            None
        });
        let now = clock.now().wall;
        let mut task = task.clone();
        let survivors = all_unended(left.as_ref(), orphans.survivors);
        for event in outcome::complete(&mut task, left.as_ref(), &survivors, now) {
            put(journal, &Fact::Task { task: Cow::Borrowed(&task.id), event: Cow::Borrowed(&event) });
        }
        task.update_output(log::measure(&task.folder, task.output));
        put(journal, &Fact::Ended { task: Cow::Borrowed(&task), first_byte_ms: None });
        RecoveredTask { task: task.id.clone(), status: task.status, found: orphans.names, survivors }
    };
    open.into_iter().zip(orphans).map(decide).collect()
}

/// Lists the processes of a task that could not be ended: those that its host has named, of which nothing else is known
/// to be the task's, and those found now.
fn all_unended(left: Option<&ExitRecord>, mut found: Vec<UnendedProcess>) -> Vec<UnendedProcess> {
    for process in left.iter().flat_map(|left| &left.survivors).filter(|process| is_still_alive(process)) {
        if !found.contains(process) {
            found.push(process.clone());
        }
    }
    found
}

/// Ends what still runs of the tasks: nothing, if the machine was rebooted since.
fn end_orphaned(meta: Option<&RecordingMeta>, tasks: Vec<TaskId>) -> Vec<Orphans> {
    match meta {
        Some(meta) if meta.boot_id == boot_id() && !meta.boot_id.is_empty() => {
            OrphanedTasks { tasks, since: meta.start }.end(PATIENCE)
        }
        _ => tasks.iter().map(|_| Orphans::default()).collect(),
    }
}

fn put(journal: &Journal, row: &Fact<'_>) {
    if let Err(error) = journal.note(row, Durability::Written) {
        tracing::error!(%error, "a recovered row is not on record");
    }
}

/// Returns a one-line notice of what was recovered, for the person.
pub(in crate::runtime) fn notice(recoveries: &[Recovery]) -> Option<String> {
    let tasks: Vec<&RecoveredTask> = recoveries.iter().flat_map(|recovery| &recovery.tasks).collect();
    let interrupted = tasks.iter().filter(|task| task.status == TaskStatus::Interrupted).count();
    let survivors: Vec<UnendedProcess> = tasks.iter().flat_map(|task| task.survivors.clone()).collect();
    let found: usize = tasks.iter().map(|task| task.found.len()).sum();
    let ended = found.saturating_sub(survivors.len());
    let latest = recoveries.last()?;
    let noun =
        |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut text = match (interrupted, tasks.len()) {
        (_, 0) => format!("the runtime of {} had died; it was running no task", latest.recording),
        (count, _) => {
            format!("the last runtime had died: {} interrupted", noun(count, "task was", "tasks were"))
        }
    };
    if ended > 0 {
        text = format!("{text}, {} ended", noun(ended, "process was", "processes were"));
    }
    if let Some(phrase) = UnendedProcesses::phrase_for_operator(&survivors) {
        text = format!("{text}, {phrase}");
    }
    if tasks.is_empty() { Some(text) } else { Some(format!("{text} (recording {})", latest.recording)) }
}

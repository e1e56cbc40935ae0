//! Lists recordings and finds the one a name refers to.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::reader;
use crate::envelope::TaskId;
use crate::journal::{self, RecordingMeta, is_held};
use crate::model::TaskView;
use crate::runtime::record_row::{Fact, FactKind};
use crate::runtime::task_folder::TASKS;

/// One recording in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedRecording {
    /// Its name: when it started, and its runtime's process id.
    pub name: String,
    pub folder: PathBuf,
    /// Its description; `None` if it cannot be read.
    pub meta: Option<RecordingMeta>,
    /// Whether a runtime is writing it now.
    pub live: bool,
}

/// The state of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingState {
    /// A runtime is writing it now.
    Live,
    /// Its runtime closed it.
    Closed,
    /// Its runtime had died; a later one finished it.
    Recovered,
    /// Its runtime had died, and it has not been recovered yet.
    Unfinished,
}

impl ListedRecording {
    /// Tells whether this is a recording of this user's, in the folder that its description names: only such a folder
    /// is ever changed or removed.
    pub(super) fn is_own(&self) -> bool {
        let is_named = self.meta.as_ref().is_some_and(|meta| meta.recording_name() == self.name);
        let me = rustix::process::geteuid().as_raw();
        let is_mine = |facts: std::fs::Metadata| facts.is_dir() && facts.uid() == me;
        is_named && self.folder.symlink_metadata().is_ok_and(is_mine)
    }

    /// Returns the recording's state, judging by its last row.
    pub fn state(&self) -> RecordingState {
        if self.live {
            return RecordingState::Live;
        }
        let last = journal::last(&self.folder).filter(|last| FactKind::Closed.is(&last.header.kind));
        match last.map(|last| last.row(&self.folder)) {
            Some(Ok(Fact::Closed { recovered: true })) => RecordingState::Recovered,
            Some(_) => RecordingState::Closed,
            None => RecordingState::Unfinished,
        }
    }
}

/// The result of looking up a recording by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingMatch {
    /// One recording matches.
    One(Box<ListedRecording>),
    /// No recording's name starts like this.
    None,
    /// More than one name does.
    Many(Vec<String>),
}

/// Lists the recordings in a folder, oldest first: those of one workspace, or all.
pub fn list(recordings: &Path, workspace: Option<&Path>) -> Vec<ListedRecording> {
    let entries = std::fs::read_dir(recordings).into_iter().flatten().flatten();
    let listed = entries.filter(is_folder).filter_map(|entry| {
        let (name, folder) = (entry.file_name().into_string().ok()?, entry.path());
        let meta = RecordingMeta::read(&folder);
        let is_meant = match (&meta, workspace) {
            (Some(meta), Some(wanted)) => meta.workspace == wanted,
            (Some(_), None) => true,
            (None, wanted) => wanted.is_none() && is_name(&name),
        };
        is_meant.then(|| ListedRecording { live: is_held(&folder), name, folder, meta })
    });
    let mut listed: Vec<ListedRecording> = listed.collect();
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    listed
}

/// Tells whether an entry is a folder, and no link to one.
fn is_folder(entry: &std::fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// Tells whether a name has the form of a recording's, as [`RecordingMeta::recording_name`] makes them.
fn is_name(name: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((time, pid)) = name.split_once("Z-") else { return false };
    let Some((date, clock)) = time.split_once('T') else { return false };
    let Some((seconds, part)) = clock.split_once('.') else { return false };
    let lengths = (date.len(), seconds.len(), part.len());
    lengths == (8, 6, 3) && !pid.is_empty() && [date, seconds, part, pid].into_iter().all(digits)
}

/// The word for the newest recording.
pub const LATEST: &str = "latest";

/// Finds the recording that `asked` refers to: `latest` is the newest one that is not being written (or else the
/// newest of all), anything else is a name or an unambiguous prefix of one.
pub fn resolve(recordings: &Path, workspace: &Path, asked: &str) -> RecordingMatch {
    let own = list(recordings, Some(workspace));
    if asked == LATEST {
        let latest = own.iter().rfind(|listed| !listed.live).or(own.last());
        return latest.map_or(RecordingMatch::None, |listed| RecordingMatch::One(Box::new(listed.clone())));
    }
    let mut meant: Vec<ListedRecording> = list(recordings, None);
    meant.retain(|listed| !asked.is_empty() && listed.name.starts_with(asked));
    if let Some(exact) = meant.iter().find(|listed| listed.name == asked) {
        return RecordingMatch::One(Box::new(exact.clone()));
    }
    match <[ListedRecording; 1]>::try_from(meant) {
        Ok([one]) => RecordingMatch::One(Box::new(one)),
        Err(many) if many.is_empty() => RecordingMatch::None,
        Err(many) => RecordingMatch::Many(many.into_iter().map(|listed| listed.name).collect()),
    }
}

/// Finds an ended task in the recordings of a workspace; `own` is the recording being written now.
pub(in crate::runtime) fn task(own: &Path, workspace: &Path, id: &TaskId) -> Option<TaskView> {
    let recordings = own.parent()?;
    let names = std::fs::read_dir(recordings).ok()?.flatten().filter(is_folder).map(|entry| entry.path());
    // One check per recording: only the one that has the task's folder is read.
    let has_task = |folder: &PathBuf| {
        folder.join(TASKS).join(id.as_str()).symlink_metadata().is_ok_and(|at| at.is_dir())
    };
    let mut holders = names.filter(has_task);
    holders.find_map(|folder| {
        let is_ours = RecordingMeta::read(&folder).is_some_and(|meta| meta.workspace == workspace);
        let task = reader::read_task(&folder, id).ok()?.filter(|_| is_ours)?;
        (folder != own || task.status.is_terminal()).then(|| task.view().as_ref().clone())
    })
}

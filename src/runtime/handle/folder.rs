//! Creates the folder and the description of a new recording.

use std::path::{Path, PathBuf};

use crate::files::{self, HeldFolder};
use crate::journal::{self, META_VERSION, RecordingMeta};
use crate::model::Error;
use crate::process::Identity;
use crate::runtime::task_folder::TASKS;

pub(super) fn meta(workspace: &Path, started_at: jiff::Timestamp) -> RecordingMeta {
    let Identity { pid, start, boot_id } = Identity::own();
    let program = env!("CARGO_PKG_VERSION").to_owned();
    RecordingMeta {
        version: META_VERSION,
        workspace: workspace.to_owned(),
        pid,
        start,
        boot_id,
        started_at,
        program,
    }
}

/// Creates the folder of a new recording. The folder of all recordings must be a real one of this user: what is recorded
/// through a link would be removed through it later.
pub(super) fn create_recording(recordings: &Path, meta: &RecordingMeta) -> Result<PathBuf, Error> {
    let held = files::create_folder(recordings).and_then(|()| HeldFolder::open_own(recordings));
    let held = held.map_err(Error::io("record in", recordings))?;
    let folder = recordings.join(meta.recording_name());
    let tasks = Path::new(&meta.recording_name()).join(TASKS);
    held.make_folder(&tasks).map_err(Error::io("create the recording", &folder))?;
    Ok(folder)
}

/// Converts a journal error to an I/O error, keeping its kind so that a full disk is still recognised.
pub(super) fn as_io(error: journal::JournalError) -> std::io::Error {
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let kind = source.map_or(std::io::ErrorKind::Other, std::io::Error::kind);
    std::io::Error::new(kind, error)
}

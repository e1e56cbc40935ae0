//! Creates the folder and the description of a new recording.

use std::path::{Path, PathBuf};

use crate::files;
use crate::journal::{self, META_VERSION, Meta};
use crate::process::Identity;
use crate::runtime::Error;

pub(super) fn meta(workspace: &Path, started_at: jiff::Timestamp) -> Meta {
    let Identity { pid, start, boot_id } = Identity::own();
    let program = env!("CARGO_PKG_VERSION").to_owned();
    Meta { version: META_VERSION, workspace: workspace.to_owned(), pid, start, boot_id, started_at, program }
}

/// Creates the folder of a new recording, named by the time and this process's id.
pub(super) fn create_recording(recordings: &Path, at: jiff::Timestamp) -> Result<PathBuf, Error> {
    let folder = recordings.join(format!("{}-{}", at.strftime("%Y%m%dT%H%M%S%.3fZ"), std::process::id()));
    files::create_folder(&folder.join("tasks")).map_err(Error::io("create the recording", &folder))?;
    Ok(folder)
}

/// Converts a journal error to an I/O error, keeping its kind so that a full disk is still recognised.
pub(super) fn as_io(error: journal::Error) -> std::io::Error {
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let kind = source.map_or(std::io::ErrorKind::Other, std::io::Error::kind);
    std::io::Error::new(kind, error)
}

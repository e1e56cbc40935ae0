//! The folder of a new recording and its description.

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

/// Makes the folder of a new recording, named by the time and this process.
pub(super) fn create_recording(recordings: &Path, at: jiff::Timestamp) -> Result<PathBuf, Error> {
    let folder = recordings.join(format!("{}-{}", at.strftime("%Y%m%dT%H%M%S%.3fZ"), std::process::id()));
    files::create_folder(&folder.join("tasks")).map_err(Error::io("create the recording", &folder))?;
    Ok(folder)
}

/// Returns an error of the journal as one of the file system, so that a full disk stays known as one.
pub(super) fn as_io(error: journal::Error) -> std::io::Error {
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let kind = source.map_or(std::io::ErrorKind::Other, std::io::Error::kind);
    std::io::Error::new(kind, error)
}

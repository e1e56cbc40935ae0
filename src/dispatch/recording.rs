//! Functions shared by commands that read recordings: finding one, and reading it off the event loop.

use std::path::PathBuf;

use super::code::Code;
use super::context::CommandContext;
use super::response::Failure;
use crate::journal;
use crate::paths::Places;
use crate::runtime::past::{self, LATEST, ListedRecording, Recording, RecordingMatch};

pub(super) fn find(cx: &CommandContext, asked: &str) -> Result<ListedRecording, Failure> {
    find_recording(&cx.host.places()?, asked)
}

/// Finds a recording by `latest`, a name, or the prefix of a name.
///
/// # Errors
/// When none, or more than one, is meant.
pub fn find_recording(places: &Places, asked: &str) -> Result<ListedRecording, Failure> {
    match past::resolve(&places.recordings(), &places.workspace, asked) {
        RecordingMatch::One(listed) => Ok(*listed),
        RecordingMatch::None if asked == LATEST => Err(no_recording()),
        RecordingMatch::None => {
            Err(Failure::new(Code::NotFound, "No recording has that name.").with("recording", asked).fix(
                "`pilothouse audit list` lists the recordings of this workspace, with `--all` those of \
                all workspaces",
            ))
        }
        RecordingMatch::Many(names) => {
            Err(Failure::new(Code::ArgError, "More than one recording begins like that.")
                .with("recordings", names)
                .fix("give more of the name"))
        }
    }
}

/// Finds the requested recording, or else the newest of the workspace, even if it is still being written.
pub(super) fn find_or_newest(cx: &CommandContext, asked: Option<&str>) -> Result<ListedRecording, Failure> {
    if let Some(asked) = asked {
        return find(cx, asked);
    }
    let places = cx.host.places()?;
    let newest = past::list(&places.recordings(), Some(&places.workspace)).pop();
    newest.ok_or_else(no_recording)
}

fn no_recording() -> Failure {
    Failure::new(Code::NotFound, "This workspace has no recording yet.")
        .fix("a recording begins with `pilothouse`, `pilothouse serve` or an agent")
}

pub(super) async fn read(listed: &ListedRecording) -> Result<Recording, Failure> {
    let folder = listed.folder.clone();
    off_loop(move || past::read(&folder)).await
}

/// Checks a recording.
pub(super) async fn verify(folder: PathBuf) -> Result<journal::VerifyReport, Failure> {
    off_loop(move || journal::verify(&folder)).await
}

/// Runs blocking work off the event loop.
pub(super) async fn off_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, journal::JournalError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| Failure::internal(&error)),
        Err(error) => Err(Failure::internal(&error)),
    }
}

//! What a start needs from the file system: the directory of the command and the folder of the task.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::envelope::TaskId;
use crate::model::{Error, ExecRequest, Resource};
use crate::process::{WorkdirError, workdir};
use crate::runtime::shared::RuntimeShared;
use crate::runtime::task_folder::TaskFolder;
use crate::terminal::Size;

/// No task is started with less free disk space than this (docs/contract.md#output-kept).
const FREE_BYTES: u64 = 256 << 20;
/// How long the disk space that was found free is relied on.
const RELIED_ON: Duration = Duration::from_secs(1);

/// The directory of a command and the folder of its task. If this is dropped, nothing has happened.
#[derive(Debug)]
pub(super) struct StartFiles {
    pub(super) workdir: PathBuf,
    pub(super) folder: TaskFolder,
}

impl StartFiles {
    /// Finds them without waiting for a file system, if the folder was prepared and the directory is one of those used
    /// lately; otherwise on a blocking thread.
    pub(super) async fn find(
        shared: &Arc<RuntimeShared>,
        request: ExecRequest,
        id: &TaskId,
    ) -> Result<(Self, ExecRequest), Error> {
        if let Some(found) = Self::find_at_once(shared, &request, id) {
            return Ok((found, request));
        }
        let (shared, id) = (shared.clone(), id.clone());
        let find = move || Self::find_now(&shared, &request, &id).map(|found| (found, request));
        tokio::task::spawn_blocking(find).await.map_err(|_| Error::ShuttingDown)?
    }

    fn find_at_once(shared: &RuntimeShared, request: &ExecRequest, id: &TaskId) -> Option<Self> {
        let now = shared.clock.now().mono;
        let checked = Duration::from_micros(shared.disk_checked.load(Ordering::Relaxed));
        let is_usual = request.size.is_none_or(|size| size == Size::default());
        if !is_usual || now.saturating_sub(checked) > RELIED_ON {
            return None;
        }
        let root = root(shared, request.runs_anywhere());
        let place = workdir::resolve_cached(root, &request.base, request.workdir.as_deref())?;
        Some(Self { workdir: place.path, folder: shared.spare_folders.take_at_once(id)? })
    }

    fn find_now(shared: &RuntimeShared, request: &ExecRequest, id: &TaskId) -> Result<Self, Error> {
        enough_disk(shared)?;
        let root = root(shared, request.runs_anywhere());
        let place = workdir::resolve(root, &request.base, request.workdir.as_deref())
            .map_err(|error| refused_workdir(request, root, &error))?;
        let size = request.size.unwrap_or_default();
        let folder = shared.spare_folders.take_or_create(&shared.recording, id, size)?;
        Ok(Self { workdir: place.path, folder })
    }
}

/// Returns what prepares the folder of a future task on a thread for blocking work, and returns its path, if there is room
/// for one.
pub(in crate::runtime::driver) fn spare_folder(
    shared: &Arc<RuntimeShared>,
) -> impl Fn(TaskId) -> JoinHandle<Option<PathBuf>> {
    let shared = shared.clone();
    move |id| {
        let shared = shared.clone();
        tokio::task::spawn_blocking(move || prepare_folder(&shared, &id))
    }
}

fn prepare_folder(shared: &RuntimeShared, id: &TaskId) -> Option<PathBuf> {
    enough_disk(shared).ok()?;
    shared.spare_folders.prepare(&shared.recording, id)
}

fn enough_disk(shared: &RuntimeShared) -> Result<(), Error> {
    let now = shared.clock.now().mono;
    // A file system that does not report its free space is written to until it refuses.
    if let Ok(disk) = rustix::fs::statvfs(&shared.recording) {
        let free = disk.f_bavail * disk.f_frsize;
        let needed = FREE_BYTES.max(disk.f_blocks * disk.f_frsize / 100);
        if free < needed {
            return Err(Error::LowDisk { free_bytes: free });
        }
    }
    shared.disk_checked.store(u64::try_from(now.as_micros()).unwrap_or_default(), Ordering::Relaxed);
    Ok(())
}

fn refused_workdir(request: &ExecRequest, root: &Path, error: &WorkdirError) -> Error {
    let workdir = request.workdir.clone().unwrap_or_else(|| request.base.display().to_string());
    match error {
        WorkdirError::OutsideRoot { .. } => Error::OutsideRoot { workdir, root: root.to_owned() },
        other => not_entered(workdir, other),
    }
}

/// Returns the error for a directory that cannot be entered: it is missing, or the system is out of the resources to
/// open it.
pub(super) fn not_entered(workdir: String, error: &WorkdirError) -> Error {
    let used_up = match error {
        WorkdirError::Unreadable { source, .. } => Resource::used_up(source),
        _ => None,
    };
    match used_up {
        Some(resource) => Error::Exhausted { resource, message: error.to_string() },
        None => Error::WorkdirNotFound { workdir, reason: error.to_string() },
    }
}

/// Returns the directory that the working directory must lie in: for a program's commands, anywhere.
pub(super) fn root(shared: &RuntimeShared, is_step: bool) -> &Path {
    if is_step { Path::new("/") } else { &shared.workspace }
}

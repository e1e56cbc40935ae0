//! Copies the logs of tasks on other machines: before a console reads a log, whatever is new in it is copied here.
//! The folder that another machine reports for a task is meaningless here and is never opened.

use std::io;
use std::path::{Path, PathBuf};

use super::Fleet;
use crate::envelope::TaskId;
use crate::files::{HeldFolder, KnownTree};
use crate::link::Error;
use crate::link::operator::unexpected;
use crate::link::protocol::{Reply, Request};
use crate::model::TaskView;
use crate::runtime::LogPart;

/// The folder of the copies, which is removed with the console.
// Its name is the console's process id. Below it are a folder for each place by its number, one in that for each task,
// and the two files of the task's log.
#[derive(Debug)]
pub(super) struct Copies(PathBuf);

impl Copies {
    pub(super) fn root(&self) -> PathBuf {
        self.0.clone()
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        // There may be no copies.
        let _ = remove(&self.0);
    }
}

impl Fleet {
    /// Sets the folder that logs from other machines are copied to; it is removed in the end. Without one, they
    /// cannot be read.
    pub fn copy_logs_to(&self, folder: PathBuf) {
        let _ = self.inner.copies.set(Copies(folder));
    }

    /// Tells whether a task is on another machine.
    pub(in crate::link::operator) fn is_elsewhere(&self, task: &TaskView) -> bool {
        let state = self.inner.state();
        let place = state.owners.tasks.get(&task.id).and_then(|slot| state.place(*slot));
        place.is_some_and(|place| place.host.is_some())
    }

    /// Copies what is new in the log of a task on another machine to the task's folder here.
    ///
    /// # Errors
    /// If its place is lost or the copy cannot be written.
    pub(in crate::link::operator) async fn copy_log(&self, task: &TaskView) -> Result<(), Error> {
        // One copy at a time: two concurrent ones would write the same piece twice.
        let _turn = self.inner.copying.lock().await;
        for part in LogPart::ALL {
            while self.copy_piece(task, part).await? {}
        }
        Ok(())
    }

    async fn copy_piece(&self, task: &TaskView, part: LogPart) -> Result<bool, Error> {
        let folder = task.folder.clone();
        let from = part.copied(&folder);
        let Reply::Log(piece) = self.ask(None, Request::Log { task: task.id.clone(), part, from }).await?
        else {
            return Err(unexpected());
        };
        let path = folder.clone();
        let failed = |source| Error::Io { verb: "copy the log to", path, source };
        let written = tokio::task::spawn_blocking(move || part.append(&folder, &piece)).await;
        written.map_err(io::Error::other).flatten().map_err(failed)
    }
}

/// Removes copies left by consoles that were killed: folders named after processes that no longer exist.
pub fn remove_left_copies(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let is_pid = name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        if is_pid
            && !Path::new("/proc").join(&name).exists()
            && let Err(error) = remove(&entry.path())
        {
            tracing::warn!(%error, folder = %entry.path().display(), "copies of logs stay");
        }
    }
}

/// Removes the copies of a console, unless something else is in their folder.
fn remove(copies: &Path) -> io::Result<()> {
    let (above, name) = (copies.parent().unwrap_or(copies), copies.file_name().unwrap_or_default());
    let (above, name) = (HeldFolder::open_own(above)?, Path::new(name));
    let is_known = |path: &Path, is_folder: bool| {
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        let is_place = |slot: &str| slot.parse::<u32>().is_ok();
        match (parts.as_deref(), is_folder) {
            (Some([slot]), true) => is_place(slot),
            (Some([slot, task]), true) => is_place(slot) && task.parse::<TaskId>().is_ok(),
            (Some([_, _, file]), false) => LogPart::ALL.iter().any(|part| part.file_name() == *file),
            _ => false,
        }
    };
    KnownTree::read(&above, name, is_known)?.remove(&above, name, Path::new(""))
}

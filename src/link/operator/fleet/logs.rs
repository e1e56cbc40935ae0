//! Copies the logs of tasks on other machines: before a console reads a log, whatever is new in it is copied here.
//! The folder that another machine reports for a task is meaningless here and is never opened.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::Fleet;
use super::log_copies::LogCopies;
use crate::link::Error;
use crate::link::protocol::{Act, Reply};
use crate::model::TaskView;
use crate::runtime::LogPart;

impl Fleet {
    /// Sets the folder that logs from other machines are copied to; it is removed in the end. Without one, they
    /// cannot be read.
    pub fn copy_logs_to(&self, folder: PathBuf) {
        let _ = self.inner.copies.set(LogCopies(folder));
    }

    /// Tells whether a task is on another machine.
    pub(in crate::link::operator) fn is_elsewhere(&self, task: &TaskView) -> bool {
        let state = self.inner.state();
        let place = state.owners.tasks.get(&task.id).and_then(|slot| state.place(*slot));
        place.is_some_and(|place| place.reach.host().is_some())
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
        let from = part.copied_length(&folder);
        let Reply::Log(piece) = self.send(None, Act::Log { part, from }.on(task.id.clone())).await? else {
            return Err(Error::unexpected_reply());
        };
        // The copies are removed when nothing holds them: not before this piece is written, or it would stay.
        let holds = Arc::clone(&self.inner);
        let append = move || {
            let written = part.append(&folder, &piece);
            drop(holds);
            written
        };
        let written = tokio::task::spawn_blocking(append).await;
        written.map_err(io::Error::other).flatten().map_err(Error::io("copy the log to", &task.folder))
    }
}

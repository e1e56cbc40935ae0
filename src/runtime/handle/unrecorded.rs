//! `Handle` methods for commands that ran without a runtime.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::Handle;
use crate::journal::Durability;
use crate::model::{Error, UnrecordedCommand, UnrecordedRow};
use crate::runtime::record_row::Fact;
use crate::runtime::unrecorded::{TakenMarks, UnrecordedCommands, tell};

/// A console open for a shorter time has shown nobody anything, e.g. that of `serve --stop`.
const READING: Duration = Duration::from_secs(1);

impl Handle {
    /// Records the commands that left a mark in the file at `path`, now and whenever the runtime was `reached`, and
    /// tells the person about them in a single notice as soon as a console is open.
    pub async fn tell_of_unrecorded(self, path: PathBuf, reached: &Notify) {
        loop {
            if let Err(error) = self.record_unrecorded(&path).await {
                tracing::warn!(%error, "commands that ran without a runtime are not on record");
            }
            tokio::select! {
                biased;
                () = reached.notified() => continue,
                () = self.somebody_reads() => {}
            }
            let of = path.clone();
            match blocking(move || tell(&of)).await {
                // Nobody should believe that the record is complete.
                Ok(marks) => marks.notice().into_iter().for_each(|text| self.notice(text, true)),
                Err(error) => tracing::warn!(%error, "tell of commands that ran without a runtime"),
            }
            reached.notified().await;
        }
    }

    /// Records a command that an agent's hook reports and that no task of ours ran, counts it, and says so for the first one
    /// of the agent. A command that left a mark by itself is on record by that.
    pub fn ran_unrouted(&self, label: &str, mark: UnrecordedCommand) {
        let mark = mark.mask_and_cut();
        let mut session = self.shared.session();
        if session.take_mark(&mark.cmd) {
            return;
        }
        let is_first = session.agent_unrouted(label);
        drop(session);
        let row = UnrecordedRow::Command(mark);
        self.shared.note(&Fact::Unrecorded(Cow::Borrowed(&row)));
        let mut marks = UnrecordedCommands::default();
        marks.add(row);
        if let Some(text) = marks.notice().filter(|_| is_first) {
            self.notice(format!("{text}; no approval rule holds what runs there"), true);
        }
        self.shared.nudge.notify_one();
    }

    /// Waits until a console has been open for [`READING`].
    async fn somebody_reads(&self) {
        loop {
            self.shared.viewers.anyone().await;
            tokio::time::sleep(READING).await;
            if self.shared.viewers.is_anyone() {
                return;
            }
        }
    }

    async fn record_unrecorded(&self, path: &Path) -> Result<(), Error> {
        let failed = || Error::io("take", path);
        loop {
            let of = path.to_owned();
            let taken = blocking(move || TakenMarks::take(&of)).await.map_err(failed())?;
            let Some(mut taken) = taken else { return Ok(()) };
            let mut all = UnrecordedCommands::default();
            loop {
                let read = blocking(move || taken.read().map(|marks| (taken, marks))).await;
                let (again, marks) = read.map_err(failed())?;
                taken = again;
                if marks.count() == 0 {
                    break;
                }
                for row in marks.rows() {
                    if let UnrecordedRow::Command(mark) = &row {
                        self.shared.session().keep_mark(&mark.cmd);
                    }
                    self.shared.write(&Fact::Unrecorded(Cow::Borrowed(&row)), Durability::Written).await?;
                    all.add(row);
                }
            }
            blocking(move || taken.keep(&all)).await.map_err(failed())?;
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

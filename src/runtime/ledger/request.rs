//! What people ask of the ledger: an undo, and a list of what differs.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::LedgerNews;
use super::keeper::{LedgerKeeper, LedgerState};
use super::undo_record::UndoRecord;
use crate::envelope::{Actor, TaskId};
use crate::files::{HeldFolder, sync_file_system};
use crate::ledger::{UndoFacts, UndoFailure, plan, report};
use crate::model::{ChangesReport, Subject, TreeChanges, UndoReport, UndoRequest};

/// How long another undo in the same tree is waited for.
const UNDONE_BY: Duration = Duration::from_secs(10);
/// How long git may take for the texts of a report.
const REPORT: Duration = Duration::from_secs(10);

impl LedgerKeeper {
    /// Undoes what differs since a command began, or tells what that would do.
    pub(super) async fn undo(
        &mut self,
        request: UndoRequest,
        folder: PathBuf,
        by: &Actor,
    ) -> Result<UndoReport, String> {
        let UndoRequest { task, is_redo, is_dry } = request;
        if self.running.contains(&task) {
            return Err("it has not ended".to_owned());
        }
        self.open().await;
        let open = match &mut self.state {
            LedgerState::On(open) => open,
            LedgerState::Off(why) => return Err(format!("the ledger is off: {why}")),
            LedgerState::Unopened => return Err("the ledger is not open".to_owned()),
        };
        let (facts, together) = read_undo(task.clone(), folder.clone()).await?;
        let facts = if is_redo { facts.reverse() } else { facts };
        let tasks = if together.is_empty() { vec![task] } else { together.clone() };
        let report = UndoReport { together, ..UndoReport::default() };
        let past = open.git().of_recording(folder);
        let top = open.git().top().to_owned();
        // A runtime that ends may still be at an undo when the next one begins.
        let lock = tokio::task::spawn_blocking(move || HeldFolder::open(&top)?.lock());
        let lock = timeout(UNDONE_BY, lock).await.map_err(|_| "another undo is going on")?;
        let lock = lock.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let planned = match plan(&past, &facts, Instant::now() + REPORT).await {
            Ok(plan) => plan,
            Err(refused) => return Ok(UndoReport { refused, ..report }),
        };
        let steps = planned.lines();
        if steps.is_empty() && !is_redo && planned.is_clean() {
            let back = plan(&past, &facts.reverse(), Instant::now() + REPORT).await;
            let redo = back.map(|plan| plan.lines()).unwrap_or_default();
            return Ok(UndoReport { redo, ..report });
        }
        if is_dry {
            return Ok(UndoReport { steps, ..report });
        }
        let carry_out = move || {
            // An undo that the power cuts off can only go on if these outlive it.
            let synced = sync_file_system(past.folder());
            synced.map_err(|error| UndoFailure::Refused(error.to_string()))?;
            let done = planned.carry_out(&mut |path, moment| tracing::debug!(?path, ?moment, "undo"));
            drop(lock);
            done
        };
        let done = tokio::task::spawn_blocking(carry_out).await.map_err(|error| error.to_string())?;
        let files = match done {
            Ok(files) => files as u64,
            Err(UndoFailure::Refused(why)) => return Ok(UndoReport { refused: vec![why], ..report }),
            Err(UndoFailure::CutOff(why)) => {
                return Err(format!("{why}\nIt was cut off there; the same command goes on with it."));
            }
        };
        let (is_on_record, recorded) = oneshot::channel();
        let _ =
            self.news.send(LedgerNews::Undone { tasks, by: by.clone(), files, is_redo, is_on_record }).await;
        // Nobody is told of it before its row is on the disk. It stays done if that fails, or the runtime ends.
        let _ = recorded.await;
        Ok(UndoReport { steps, is_done: true, ..report })
    }

    pub(super) async fn report(&mut self, since: Subject) -> Result<ChangesReport, String> {
        match &self.state {
            LedgerState::On(_) => {}
            LedgerState::Off(why) => return Err(format!("the ledger is off: {why}")),
            LedgerState::Unopened => return Err("no command has run yet".to_owned()),
        }
        let (base, end, others, together) = match &since {
            Subject::Task(task) => {
                let known =
                    self.tasks.get(task).ok_or("what it changed is not known any more, or never was")?;
                let (base, others) = self.entry_of(known);
                (base.clone(), known.end.clone(), others, known.together.clone())
            }
            Subject::Agent(label) => {
                let base = self.first.get(label).ok_or("this agent has run no command")?;
                (base.clone(), None, Vec::new(), Vec::new())
            }
            _ => return Err("what differs is known since a task or an agent began".to_owned()),
        };
        let LedgerState::On(open) = &mut self.state else { return Err("the ledger is off".to_owned()) };
        let end = match end {
            Some(end) => end,
            None => open.current().await.map_err(|(why, _)| why)?,
        };
        let (found, changes) = open.changes(&base, &end, others).await?;
        let (by, changes) = (Instant::now() + REPORT, TreeChanges { together, ..changes });
        report(open.git(), &found, changes, by).await.map_err(|error| error.to_string())
    }
}

/// Reads what an undo of a command needs, and which others go with it. The error says why there can be none.
async fn read_undo(task: TaskId, folder: PathBuf) -> Result<(UndoFacts, Vec<TaskId>), String> {
    let read = tokio::task::spawn_blocking(move || UndoRecord::read(&folder, &task)).await;
    match read.map_err(|error| error.to_string())? {
        Ok(UndoRecord::Possible { facts, together }) => Ok((facts, together)),
        Ok(UndoRecord::Impossible(why)) => Err(why),
        Err(_) => Err("nothing that it changed is on record".to_owned()),
    }
}

//! The end of a task and of the driver: who gets an answer, what is recorded, what is freed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Driver;
use super::caller::stage_at_end;
use crate::envelope::{Actor, TaskId};
use crate::model::{Error, ExecOutcome, Stop, TaskEvent, TaskFact, TaskStatus, TaskUpdate, TaskView};
use crate::process::{self, is_still_alive};
use crate::runtime::ended_outputs::EndedOutput;
use crate::runtime::ledger::{LedgerEntry, LedgerNews};
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor::SupervisorInput;
use crate::runtime::task_folder::{self, TASKS};

/// How long programs may take to end after their commands.
const PROGRAMS_END: Duration = Duration::from_secs(1);
/// How long the caller of a stopped command may take to read the rest.
const REST: Duration = Duration::from_secs(1);

/// How many tasks end before the memory between what is kept of them is returned to the system: what each frees lies
/// between what outlives it.
const RETURN_EVERY: u32 = 256;

impl Driver {
    /// Tells whether everything a task can write is in its log.
    pub(super) fn is_complete(&self, id: &TaskId) -> bool {
        self.live.get(id).is_some_and(|live| live.io.is_complete())
    }

    /// Closes the output of an ended task once its caller has read it; if the task was stopped, the caller has only
    /// limited time.
    pub(super) fn close_output(&mut self, id: &TaskId) {
        if self.is_complete(id) && !self.has_caller(id) {
            if self.live.get(id).is_some_and(|live| !live.io.is_released()) {
                self.shared.pump.forget(id);
            }
            return self.settle(id);
        }
        let was_stopped = self.supervisor.get(id).is_none_or(|task| task.stop.is_some());
        self.shared.pump.close(id, was_stopped.then_some(REST));
    }

    /// Answers the call that waits for a task, if there is one.
    pub(super) fn answer(&mut self, id: &TaskId, outcome: fn(Arc<TaskView>) -> ExecOutcome) {
        let view = self.view(id);
        let waiter = self.live.get_mut(id).and_then(|live| live.waiter.take());
        if let (Some(waiter), Some(view)) = (waiter, view) {
            // Publish before the answer: the caller may look for the task immediately.
            self.publish();
            // The caller may be gone; the task remains.
            let _ = waiter.send(Ok(outcome(view)));
        }
    }

    /// Settles a task that is terminal and whose log is complete: answers its caller and frees its resources.
    pub(super) fn settle(&mut self, id: &TaskId) {
        let Some(view) = self.view(id) else { return };
        if self.is_to_explain(&view) {
            return self.explain(id);
        }
        let Some(mut live) = self.live.remove(id) else { return };
        let is_one_of_many = self.supervisor.get(id).is_some_and(|task| task.request.is_one_of_many());
        let is_watched = live.waiter.is_none() || live.io.progress.receiver_count() > 0;
        // A held command waited for a person, or for its turn, which must not count as latency.
        let is_hold = |event: &TaskEvent| matches!(event.fact, TaskFact::Held(_) | TaskFact::Queued(_));
        let was_held = view.events.iter().any(is_hold);
        let first_byte_ms = live.io.first_byte_ms().filter(|_| !was_held);
        self.shared.note(&Fact::Ended { task: Cow::Borrowed(&view), first_byte_ms });
        if let Some(ended) = view.ended.as_ref().filter(|ended| !ended.survivors.is_empty()) {
            self.unended.retain(is_still_alive);
            self.unended.extend(ended.survivors.iter().cloned());
        }
        if view.promoted && view.output.bytes > 0 {
            // The output of a foreground command is in its answer.
            let folder = view.folder.clone();
            self.jobs.spawn_blocking(move || crate::runtime::log::sync(&folder));
        }
        if view.number.is_multiple_of(RETURN_EVERY) {
            self.blocking_job(process::return_memory);
        }
        self.shared.ledger.note_end(id);
        self.shared.commands().end(id);
        let stored = view.output.bytes.saturating_sub(view.output.dropped_bytes);
        let is_recorded = self.shared.journal.health().degraded.is_none();
        self.timers.end(id);
        if let Some(task) = self.supervisor.forget(id, view.output) {
            self.tasks.end(&task, is_recorded);
        }
        // The caller of one of many commands gets its view with the answer, and publishes after the last one.
        if !is_one_of_many || is_watched {
            self.publish();
        }
        // After publishing: a caller that waits for the end looks at the snapshot.
        live.io.progress.send_modify(|progress| progress.settled = true);
        self.shared.ios().remove(id);
        if let Some(caller) = &live.caller {
            caller.tell(stage_at_end(&view, &live.io));
        }
        if let Some(waiter) = live.waiter.take() {
            let answer = match live.start_error.take() {
                Some(error) => Err(error),
                None if view.start_is_unknown() => Err(Error::StartUnknown(view)),
                None if view.never_ran() && view.status == TaskStatus::Cancelled => Err(Error::NotRun(view)),
                None => Ok(ExecOutcome::Completed(view)),
            };
            let _ = waiter.send(answer);
        }
        self.parsers.finish(&live.io);
        self.make_room(id, stored);
    }

    /// Removes the oldest outputs if, with that of a task that has just ended, more is stored than is kept.
    fn make_room(&mut self, id: &TaskId, stored: u64) {
        let now = self.now().mono;
        self.outputs.add(id.clone(), stored, now);
        let excess = self.outputs.take_excess(self.shared.limits.record.keep_live_bytes, now);
        let Some(EndedOutput { id: last, .. }) = excess.last() else { return };
        let bytes = excess.iter().map(|output| output.bytes).sum();
        self.shared.note(&Fact::OutputsRemoved { tasks: excess.len(), last: Cow::Borrowed(last), bytes });
        let tasks = self.shared.recording.join(TASKS);
        self.jobs.spawn_blocking(move || {
            for EndedOutput { id, .. } in excess {
                let folder = tasks.join(id.as_str());
                if let Err(error) = task_folder::remove(&folder) {
                    tracing::warn!(%error, folder = %folder.display(), "remove the output of an ended task");
                }
            }
        });
    }

    pub(super) fn cancel_foreground(&mut self, call: u64, by: &Actor, why: &str) {
        let foreground =
            |task: &&crate::runtime::supervisor::SupervisedTask| task.request.call == call && !task.promoted;
        let id = self.supervisor.live().find(foreground).map(|task| task.id.clone());
        self.step(SupervisorInput::Withdraw { call });
        if let Some(id) = id {
            let (by, why) = (by.clone(), Some(why.to_owned()));
            self.step(SupervisorInput::Stop { id, by, stop: Stop::default(), why });
        }
    }

    /// Ends what an agent left running, as the settings demand.
    pub(super) fn end_left_by(&mut self, label: &str) {
        let left = self.supervisor.live().filter(|task| task.request.actor.is_agent(label));
        let left: Vec<_> = left.map(|task| task.id.clone()).collect();
        for id in left {
            let why = Some("its agent has ended".to_owned());
            self.step(SupervisorInput::Stop { id, by: Actor::Operator, stop: Stop::default(), why });
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.closing.is_empty()
    }

    pub(super) fn is_done(&self) -> bool {
        self.has_ended_tasks() && self.programs_are_over
    }

    /// Returns the deadline for programs to end, once every task has ended. By then they have ended, and their last
    /// rows precede the end of the recording.
    pub(super) fn programs_by(&mut self) -> Option<Instant> {
        let begin = || Instant::now() + PROGRAMS_END;
        self.has_ended_tasks().then(|| *self.programs_by.get_or_insert_with(begin))
    }

    fn has_ended_tasks(&self) -> bool {
        !self.is_open() && self.live.is_empty()
    }

    /// Notes what differs in the tree since a task began, which has ended, or that there is no ledger any more.
    pub(super) fn ledger_news(&mut self, news: LedgerNews) {
        let LedgerEntry { task, changes, trees, paths } = match news {
            LedgerNews::Entry(entry) => entry,
            LedgerNews::Undone { tasks, by, files, is_redo, is_on_record } => {
                tasks.iter().for_each(|task| self.undone(task, &by, files, is_redo));
                let shared = self.shared.clone();
                return self.job(async move {
                    for task in &tasks {
                        let (task, actor) = (Cow::Borrowed(task), Cow::Borrowed(&by));
                        let row = Fact::Undone { task, actor, files, is_redo };
                        // The journal reports it, and it is done in any case.
                        let _ = shared.write(&row, crate::journal::Durability::Synced).await;
                    }
                    // Whoever asked may be gone.
                    let _ = is_on_record.send(());
                });
            }
            LedgerNews::Off(why) => {
                let (at, text) = (self.now().wall, format!("the ledger is off from now on: {why}"));
                return self.shared.session().notice(at, text, false);
            }
        };
        let (id, shown, trees) = (Cow::Borrowed(&task), Cow::Borrowed(&changes), Cow::Owned(trees));
        self.shared.note_late(&Fact::Changed { task: id, changes: shown, trees, paths });
        self.tasks.apply(&task, TaskUpdate::Changed(changes));
    }

    /// Shows that what differed since a task began was undone, or brought back.
    fn undone(&mut self, id: &TaskId, by: &Actor, files: u64, is_redo: bool) {
        if let Some(task) = self.view(id) {
            self.shared.session().agent_notices.undone(&task, by, files, is_redo);
        }
        self.tasks.apply(id, TaskUpdate::Undone { is_redo });
    }

    pub(super) async fn close(mut self) {
        self.shared.ledger.close();
        self.publish();
        self.jobs.shutdown().await;
        self.spawner.drain().await;
        let closed = Fact::Closed { recovered: false };
        // If this fails, closing the journal tries once more.
        let _ = self.shared.write(&closed, crate::journal::Durability::Synced).await;
        let shared = self.shared.clone();
        let parsers = self.parsers.clone();
        let ended = tokio::task::spawn_blocking(move || {
            shared.spare_folders.clear();
            shared.pump.stop();
            parsers.stop();
            shared.journal.close();
        });
        if ended.await.is_err() {
            tracing::error!("the threads of the byte path could not be ended");
        }
        self.unended.retain(is_still_alive);
        for reply in self.closing {
            let _ = reply.send(self.unended.clone());
        }
    }
}

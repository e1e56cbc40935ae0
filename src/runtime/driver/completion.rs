//! The end of a task and of the driver: who is answered, what goes on record, what is freed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Driver;
use super::caller::stage_at_end;
use crate::envelope::{Actor, TaskId};
use crate::facts::TaskFact;
use crate::runtime::events::Row;
use crate::runtime::request::ExecOutcome;
use crate::runtime::supervisor::Input;
use crate::runtime::view::TaskView;

/// How long a program may take to end after its commands.
const PROGRAMS_END: Duration = Duration::from_secs(1);
/// How long the caller of a command that was stopped may take to read the rest.
const REST: Duration = Duration::from_secs(1);

impl Driver {
    /// Tells whether all a task can write is in its log.
    pub(super) fn is_complete(&self, id: &TaskId) -> bool {
        self.live.get(id).is_some_and(|live| live.io.is_complete())
    }

    /// Closes the output of a task that has ended, once its caller has read it: one that was stopped has not much time.
    pub(super) fn close_output(&mut self, id: &TaskId) {
        if self.is_complete(id) && !self.has_caller(id) {
            self.shared.pump.forget(id);
            return self.settle(id);
        }
        let was_stopped = self.supervisor.get(id).is_none_or(|task| task.stop.is_some());
        self.shared.pump.close(id, was_stopped.then_some(REST));
    }

    /// Answers the call that waits for a task, if one does.
    pub(super) fn answer(&mut self, id: &TaskId, outcome: fn(Arc<TaskView>) -> ExecOutcome) {
        let view = self.view(id);
        let waiter = self.live.get_mut(id).and_then(|live| live.waiter.take());
        if let (Some(waiter), Some(view)) = (waiter, view) {
            // Before the answer: its caller may look for the task at once.
            self.publish();
            // The caller may have gone away; the task stays.
            let _ = waiter.send(Ok(outcome(view)));
        }
    }

    /// A task is terminal and its log complete: answers its caller and frees what it held.
    pub(super) fn settle(&mut self, id: &TaskId) {
        let Some(view) = self.view(id) else { return };
        let Some(mut live) = self.live.remove(id) else { return };
        // A command that was held has waited for a person: that is no latency.
        let was_held = view.events.iter().any(|event| matches!(event.fact, TaskFact::Held(_)));
        let first_byte_ms = live.io.first_byte_ms().filter(|_| !was_held);
        self.shared.note(&Row::Ended { task: &view, first_byte_ms });
        if view.promoted && view.output.bytes > 0 {
            // What a foreground command printed stands in its answer.
            let folder = view.folder.clone();
            self.jobs.spawn_blocking(move || crate::runtime::log::sync(&folder));
        }
        self.shared.commands().end(id);
        let is_recorded = self.shared.journal.health().degraded.is_none();
        if let Some(task) = self.supervisor.forget(id, view.output) {
            self.tasks.end(&task, is_recorded);
        }
        self.publish();
        // After that: whoever waited for the end looks at what is published.
        live.io.progress.send_modify(|progress| progress.settled = true);
        self.shared.ios().remove(id);
        if let Some(caller) = &live.caller {
            caller.tell(stage_at_end(&view));
        }
        if let Some(waiter) = live.waiter.take() {
            let answer = live.start_error.take().map_or(Ok(ExecOutcome::Completed(view)), Err);
            let _ = waiter.send(answer);
        }
    }

    pub(super) fn cancel_foreground(&mut self, call: u64, by: &Actor, why: &str) {
        let foreground =
            |task: &&crate::runtime::supervisor::Task| task.request.call == call && !task.promoted;
        let id = self.supervisor.live().find(foreground).map(|task| task.id.clone());
        self.step(Input::Withdraw { call });
        if let Some(id) = id {
            let now = self.now();
            let actions = self.supervisor.stop_because(now, &id, by, why);
            self.carry_out(actions);
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.closing.is_empty()
    }

    pub(super) fn is_done(&self) -> bool {
        self.has_ended_tasks() && self.programs_are_over
    }

    /// Returns until when programs are waited for, once every task has ended. They end by that, and what they say
    /// last stands before the end of the recording.
    pub(super) fn programs_by(&mut self) -> Option<Instant> {
        let begin = || Instant::now() + PROGRAMS_END;
        self.has_ended_tasks().then(|| *self.programs_by.get_or_insert_with(begin))
    }

    fn has_ended_tasks(&self) -> bool {
        !self.is_open() && self.live.is_empty()
    }

    pub(super) async fn close(mut self) {
        self.publish();
        self.jobs.shutdown().await;
        self.spawner.drained().await;
        let closed = Row::Closed { recovered: false };
        // What could not be written is tried once more when the journal is closed.
        let _ = self.shared.write(&closed, crate::journal::Durability::Synced).await;
        let shared = self.shared.clone();
        let parsers = self.parsers.clone();
        let ended = tokio::task::spawn_blocking(move || {
            shared.pump.stop();
            parsers.stop();
            shared.journal.close();
        });
        if ended.await.is_err() {
            tracing::error!("the threads of the byte path could not be ended");
        }
        for reply in self.closing {
            let _ = reply.send(());
        }
    }
}

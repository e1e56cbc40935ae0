//! `Handle` methods for looking up tasks, both in memory and in the record.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Handle;
use crate::envelope::{Actor, TaskId};
use crate::ledger::FOLDER;
use crate::model::phrases::no_task;
use crate::model::{
    ChangesReport, Error, Subject, TaskEvent, TaskFact, TaskView, UndoReport, UndoRequest, UnreadInput, Until,
};
use crate::runtime::driver::{DriverOrder, TaskUsage, UnmeasuredTask};
use crate::runtime::output::{OutputStream, StoredOutput, StoredStreams};

impl Handle {
    /// Waits for at most `timeout` until a task has reached `until`; returns whether it has.
    ///
    /// # Errors
    /// If there is no such task.
    pub async fn wait(&self, id: &TaskId, until: Until, timeout: Duration) -> Result<bool, Error> {
        self.wait_or_ask(id, until, timeout, false).await
    }

    /// Like [`wait`](Self::wait); with `or_asks` also until the task certainly waits for input. Each such wait ends only one
    /// call early: the next call blocks as usual.
    ///
    /// # Errors
    /// If there is no such task.
    pub async fn wait_or_ask(
        &self,
        id: &TaskId,
        until: Until,
        timeout: Duration,
        or_asks: bool,
    ) -> Result<bool, Error> {
        let Some(io) = self.shared.io(id) else { return self.known_task(id).map(|_| true) };
        let mut progress = io.progress.subscribe();
        let reached = progress.wait_for(|progress| match until {
            _ if progress.settled || or_asks && progress.asks && !progress.is_told => true,
            Until::Terminal => false,
            Until::Output { beyond } => progress.stored > beyond,
            Until::Listening => progress.listening,
        });
        let is_reached = matches!(tokio::time::timeout(timeout, reached).await, Ok(Ok(_)));
        if or_asks {
            io.progress.send_if_modified(|progress| {
                progress.is_told = progress.asks;
                false
            });
        }
        Ok(is_reached)
    }

    /// Measures the current resource usage of live tasks, and of each process of the one that is `listed`; other tasks
    /// are left out.
    pub async fn usage(&self, tasks: Vec<TaskId>, listed: Option<TaskId>) -> Vec<TaskUsage> {
        let Ok(live) = self.order(|reply| DriverOrder::Known { tasks, reply }).await else {
            return Vec::new();
        };
        let look = move || live.into_iter().map(|task: UnmeasuredTask| task.look(listed.as_ref())).collect();
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// Looks at what a live task has not read of its input; `None` if that is not known, or the task has ended.
    pub fn unread_input(&self, id: &TaskId) -> Option<UnreadInput> {
        self.shared.io(id)?.look_at_input()
    }

    /// Returns what differs in the workspace's tree since a task began, or since the first command of an agent.
    ///
    /// # Errors
    /// If that is not known: why, in a clause.
    pub async fn changes(&self, since: Subject) -> Result<ChangesReport, String> {
        self.shared.ledger.report(since).await
    }

    /// Undoes what differs in the workspace's tree since a task began, if all of it is still as the task left it; or only
    /// tells what that would do.
    ///
    /// # Errors
    /// If there is no such task, or nothing is known that could be undone.
    pub async fn undo(&self, request: &UndoRequest, by: &Actor) -> Result<UndoReport, String> {
        let id = &request.task;
        let task = self.find(id).await.ok_or_else(|| no_task(id))?;
        let recording = task.folder.parent().and_then(Path::parent).unwrap_or(&task.folder);
        self.shared.ledger.undo(request, recording.join(FOLDER), by).await
    }

    /// Waits until the published state contains all that has happened. Whoever starts commands one after another must
    /// do this before reporting their end: the state in between is published only every now and then.
    pub async fn catch_up(&self) {
        // It fails when the runtime has ended, and then nothing is published any more.
        let _ = self.order(|reply| DriverOrder::Publish { reply }).await;
    }

    /// Returns how many of the live and the most recently ended tasks are meant, and up to `most` of them, newest first;
    /// long commands are truncated.
    pub fn newest(&self, most: usize, is_meant: impl Fn(&TaskView) -> bool) -> (usize, Vec<Arc<TaskView>>) {
        let snapshot = self.shared.snapshot.borrow().clone();
        let (total, listed) = snapshot.newest(most, is_meant);
        let now =
            |view: &Arc<TaskView>| if view.status.is_terminal() { view.clone() } else { self.fresh(view) };
        (total, listed.into_iter().map(now).collect())
    }

    /// Returns one of these tasks, with its full command while that is in memory.
    pub fn task(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        let snapshot = self.shared.snapshot.borrow().clone();
        let task = snapshot.tasks.iter().find(|view| view.id == *id).map(|view| self.fresh(view))?;
        let whole = task.cmd_chars.and_then(|_| self.shared.commands().get(id));
        Some(match whole {
            Some(cmd) => Arc::new(TaskView { cmd: (*cmd).into(), cmd_chars: None, ..(*task).clone() }),
            None => task,
        })
    }

    /// Tells whether a command of a call that was answered has begun, or may have.
    pub fn has_begun(&self, call: u64) -> bool {
        let snapshot = self.shared.snapshot.borrow();
        let begun = |task: &Arc<TaskView>| task.started_at.is_some() || task.start_is_unknown();
        snapshot.tasks.iter().any(|task| task.call == call && begun(task))
    }

    /// Finds a task: in memory, in this runtime's record, or in a past recording of the workspace. A task read from a
    /// record has ended, and its secrets are masked.
    pub async fn find(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        match self.task(id) {
            Some(task) if task.cmd_chars.is_none() => Some(task),
            Some(task) => self.shared.find_past(id).await.or(Some(task)),
            None => self.shared.find_past(id).await,
        }
    }

    /// Returns the stored output of a task.
    ///
    /// # Errors
    /// If there is no such task.
    pub fn output(&self, id: &TaskId) -> Result<StoredOutput, Error> {
        self.output_of(&*self.known_task(id)?)
    }

    /// Returns the stored output of a task that may no longer be in memory.
    ///
    /// # Errors
    /// If its log cannot be measured.
    pub fn output_of(&self, task: &TaskView) -> Result<StoredOutput, Error> {
        let output = StoredOutput::new(task.folder.clone(), task.tty, self.shared.io(&task.id))?;
        Ok(output.of_so_many_lines(task.output.lines))
    }

    /// Writes the output of a task to files, byte for byte as the task wrote it, and returns their paths. A task with
    /// a terminal has a single stream.
    ///
    /// # Errors
    /// If there is no such task, its output is gone, or the files cannot be written.
    pub async fn streams(&self, id: &TaskId) -> Result<StoredStreams, Error> {
        let task = self.find(id).await.ok_or_else(|| Error::UnknownTask(id.clone()))?;
        let output = self.output_of(&task)?;
        let of = |stream| output.artifact(stream);
        let dropped_bytes = output.dropped_bytes(OutputStream::Merged)?;
        Ok(match task.tty {
            true => StoredStreams { stdout: of(OutputStream::Merged).await?, stderr: None, dropped_bytes },
            false => StoredStreams {
                stdout: of(OutputStream::Stdout).await?,
                stderr: Some(of(OutputStream::Stderr).await?),
                dropped_bytes,
            },
        })
    }

    /// Returns a task that is already known: in memory, or found in a recording earlier.
    pub(super) fn known_task(&self, id: &TaskId) -> Result<Arc<TaskView>, Error> {
        let task = self.task(id).or_else(|| self.shared.past_task(id));
        task.ok_or_else(|| Error::UnknownTask(id.clone()))
    }

    pub(super) fn past(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        if self.task(id).is_some() { None } else { self.shared.past_task(id) }
    }

    /// Adds the current counts to a published view, and what has just been lost of its input.
    fn fresh(&self, view: &Arc<TaskView>) -> Arc<TaskView> {
        let Some(io) = self.shared.io(&view.id) else { return view.clone() };
        let (output, lost) = (io.output(), io.lost_input());
        if output == view.output && lost.is_empty() {
            return view.clone();
        }
        let (at, mut fresh) = (self.shared.clock.now().wall, TaskView { output, ..(**view).clone() });
        let event = |lost| TaskEvent { at, actor: Actor::System, fact: TaskFact::InputLost(lost) };
        fresh.events.extend(lost.into_iter().map(event));
        Arc::new(fresh)
    }
}

//! Builds the snapshot others see, and ticks its histories.

use std::sync::Arc;
use std::time::Duration;

use super::driver::Driver;
use super::finished;
use super::supervisor::Task;
use super::view::{Ended, OutputView, RecordView, Snapshot, TaskView};
use crate::envelope::TaskId;
use crate::facts::Exit;
use crate::journal::Health;

/// The exit status of a command whose time ran out (docs/contract.md#execcommand).
const TIMED_OUT: i32 = 124;

impl Driver {
    /// Publishes the present state.
    pub(super) fn publish(&mut self) {
        self.published += 1;
        let mut tasks: Vec<Arc<TaskView>> = self.finished.all().cloned().collect();
        tasks.extend(self.live.keys().filter_map(|id| self.short_view(id)));
        tasks.sort_by_key(|task| task.number);
        let bytes = tasks.iter().filter(|task| self.live.contains_key(&task.id));
        let (read, dropped) = bytes.fold(self.past_bytes, |(read, dropped), task| {
            (read + task.output.bytes, dropped + task.output.dropped_bytes)
        });
        let before = self.shared.snapshot.borrow().clone();
        let record = record_view(self.shared.journal.health(), self.shared.journal.stalled());
        let at = self.now().wall;
        let mut book = self.shared.book();
        if let Some((text, is_error)) = turn(&before.record, &record) {
            book.notice(at, text, is_error);
        }
        book.counters.bytes(read, dropped);
        let live = tasks.iter().filter(|task| !task.status.is_terminal());
        book.counters.live(live.map(|task| task.status.as_str()));
        let mut metrics = book.counters.metrics.clone();
        book.calls.percentiles(&mut metrics);
        metrics.gauges = self.shared.gauges(&tasks, read);
        let snapshot = Snapshot {
            seq: self.published,
            workspace: before.workspace.clone(),
            recording: before.recording.clone(),
            socket: before.socket.clone(),
            started_at: before.started_at,
            headless: self.shared.is_headless(),
            tasks,
            tasks_left: self.finished.left(),
            calls: book.calls.summaries(),
            agents: book.agents.clone(),
            programs: book.programs.all(),
            questions: self.clerk.desk.questions(),
            notices: book.notices.iter().cloned().collect(),
            metrics,
            record,
            gate: self.supervisor.gate(),
        };
        drop(book);
        self.shared.snapshot.send_replace(Arc::new(snapshot));
    }

    /// Returns a task as others see it: a live one with the whole of its command.
    pub(super) fn view(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        self.shown(id, |cmd| (cmd.to_owned(), None))
    }

    /// Returns a task as a snapshot shows it.
    fn short_view(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        let whole = |cmd: &str| (cmd.to_owned(), None);
        self.shown(id, |cmd| finished::cut(cmd).map_or_else(|| whole(cmd), |(cmd, chars)| (cmd, Some(chars))))
    }

    fn shown(&self, id: &TaskId, cmd: impl Fn(&str) -> (String, Option<u64>)) -> Option<Arc<TaskView>> {
        let Some(task) = self.supervisor.get(id) else { return self.finished.get(id).cloned() };
        let output = self.live.get(id).map(|live| live.io.output()).unwrap_or_default();
        Some(Arc::new(view_of(task, cmd(&task.request.cmd), output)))
    }

    /// Whether a second's end can change anything: not once all is quiet and the history empty.
    pub(super) fn second_matters(&self) -> bool {
        !self.live.is_empty() || self.history_shows() || self.record_matters()
    }

    /// Whether the record is not written, or that could turn out any moment.
    fn record_matters(&self) -> bool {
        self.shared.journal.stalled().is_some() || self.shared.snapshot.borrow().record.degraded.is_some()
    }

    /// Closes a second of history; returns whether it is worth publishing.
    pub(super) fn tick(&mut self) -> bool {
        let shown = self.history_shows() || self.record_matters();
        let mut book = self.shared.book();
        let calls = std::mem::take(&mut book.calls.begun);
        book.counters.tick(calls) || shown
    }

    fn history_shows(&self) -> bool {
        let book = self.shared.book();
        let metrics = &book.counters.metrics;
        book.calls.begun > 0
            || metrics.calls_per_second.iter().chain(&metrics.bytes_per_second).any(|value| *value > 0)
    }
}

fn record_view(health: Health, stalled: Option<Duration>) -> RecordView {
    let refused = health.degraded.map(|why| match (why.held, why.lost) {
        (held, 0) => format!("{}; {held} rows wait in memory", why.reason),
        (held, lost) => format!("{}; {held} rows wait in memory, {lost} are lost", why.reason),
    });
    let silent = |stood: Duration| {
        format!("the disk has not answered for {} s; what must be on record first waits", stood.as_secs())
    };
    let degraded = refused.or_else(|| stalled.map(silent));
    RecordView { seq: health.seq, head: health.hash.short(), degraded }
}

/// Says that the record became degraded or whole again.
fn turn(before: &RecordView, now: &RecordView) -> Option<(String, bool)> {
    match (&before.degraded, &now.degraded) {
        (None, Some(why)) => Some((format!("the record cannot be written: {why}"), true)),
        (Some(_), None) => Some(("the record is written again".to_owned(), false)),
        _ => None,
    }
}

pub(super) fn view_of(task: &Task, (cmd, cmd_chars): (String, Option<u64>), output: OutputView) -> TaskView {
    TaskView {
        id: task.id.clone(),
        number: task.number,
        status: task.status,
        cmd,
        cmd_chars,
        description: task.request.description.clone(),
        name: task.name.clone(),
        workdir: task.workdir.clone(),
        shell: task.shell.clone(),
        login: task.request.login,
        tty: task.request.tty,
        size: task.size,
        size_asked: task.request.size.is_some(),
        accepts_input: task.request.accepts_input,
        started_by: task.request.actor.clone(),
        call: task.request.call,
        from_task: task.behind.as_ref().map(|behind| behind.task.clone()),
        promoted: task.promoted,
        item: task.request.item,
        held: task.held.as_ref().map(|held| held.reason.clone()),
        timeout_ms: task.request.timeout.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        lease: task.lease.as_ref().map(|(lease, _)| lease.clone()),
        waiting: task.waiting.clone(),
        created_at: task.created_at,
        started_at: task.started_at,
        updated_at: task.updated_at,
        stop: task.stop.clone(),
        ended: task.ended_at.map(|at| ended(task, at)),
        output,
        pid: task.pid,
        folder: task.folder.clone(),
        events: task.events.clone(),
    }
}

fn ended(task: &Task, at: jiff::Timestamp) -> Ended {
    let (exit_status, signal) = match (&task.exit, task.timed_out) {
        (_, true) => (Some(TIMED_OUT), None),
        (Some(Exit::Code(code)), _) => (Some(*code), None),
        (Some(Exit::Signal(name)), _) => (None, Some(name.clone())),
        (None, _) => (None, None),
    };
    Ended {
        at,
        ran_ms: task.ran.map(|ran| u64::try_from(ran.as_millis()).unwrap_or(u64::MAX)),
        exit_status,
        signal,
        signalled_by: task.signalled_by().cloned(),
        timed_out: task.timed_out,
        error: task.error.clone(),
        leftovers: task.leftovers.clone(),
        survivors: task.survivors.clone(),
    }
}

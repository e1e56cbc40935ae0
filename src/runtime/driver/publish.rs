//! Builds the published snapshot and advances its histories.

use std::sync::Arc;
use std::time::Duration;

use super::Driver;
use crate::clock;
use crate::envelope::TaskId;
use crate::envelope::units::millis;
use crate::journal::Health;
use crate::model::{GateView, ItemKey, RecordView, Snapshot, Subject, TaskView};

/// For so many seconds after something was published, each is looked at: by then it is known whether the disk answers.
const SECONDS: u8 = 5;

impl Driver {
    /// Publishes the current state.
    pub(super) fn publish(&mut self) {
        self.seconds_left = SECONDS;
        let gate = self.gate();
        let mut alive = Vec::new();
        let output = |id: &TaskId| self.live.get(id).map(|live| live.io.output()).unwrap_or_default();
        for view in self.supervisor.update_output(output) {
            self.tasks.show(view);
            alive.push(view.clone());
        }
        let before = self.shared.snapshot.borrow().clone();
        let record = record_view(self.shared.journal.health(), self.shared.journal.stall_time());
        let at = self.now().wall;
        let mut session = self.shared.session();
        if let Some((text, is_error)) = turn(&before.record, &record) {
            session.notice(at, text, is_error);
        }
        for number in self.tasks.take_changed() {
            session.changes.note(ItemKey::Task(number));
        }
        session.counters.live(alive.iter().map(|task| &**task));
        let mut metrics = session.counters.metrics();
        metrics.gauges = self.shared.gauges(&alive, metrics.output_bytes_in);
        let snapshot = Snapshot {
            seq: session.changes.publish(),
            workspace: before.workspace.clone(),
            recording: before.recording.clone(),
            socket: before.socket.clone(),
            started_at: before.started_at,
            headless: self.shared.is_headless(),
            stop_grace_ms: before.stop_grace_ms,
            tasks: self.tasks.list(),
            tasks_left: self.tasks.left_count(),
            calls: session.calls.summaries(),
            agents: session.agents.clone(),
            programs: session.programs.list(),
            questions: self.questions.machine.questions(),
            in_agents: self.questions.machine.answered_in_agents(),
            permissions: self.questions.machine.permissions(),
            notices: session.notices.iter().cloned().collect(),
            metrics,
            record,
            gate,
            places: Vec::new(),
        };
        drop(session);
        self.shared.snapshot.send_replace(Arc::new(snapshot));
    }

    /// Returns everything that waits for the operator, with what it would cost. What nothing that waits would cost any more
    /// is forgotten.
    fn gate(&mut self) -> GateView {
        let mut gate = self.supervisor.gate();
        self.keep_costs(&gate.held);
        for held in &mut gate.held {
            held.cost = self.costs.cost(&Subject::Held(held.ticket)).cloned().unwrap_or_default();
        }
        gate
    }

    /// Returns a task's public view; for a live task, with the full command.
    pub(super) fn view(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        let Some(task) = self.supervisor.get(id) else { return self.tasks.get(id).cloned() };
        let output = self.live.get(id).map(|live| live.io.output()).unwrap_or_default();
        Some(Arc::new(task.whole(output)))
    }

    /// Tells whether the next second can change anything: not once everything is quiet.
    pub(super) fn second_matters(&self) -> bool {
        !self.live.is_empty() || self.seconds_left > 0 || self.record_matters()
    }

    /// Tells whether the record is not being written, or its state could change at any moment.
    fn record_matters(&self) -> bool {
        self.shared.journal.stall_time().is_some() || self.shared.snapshot.borrow().record.degraded.is_some()
    }

    /// Closes one second of history; returns whether there is something to publish.
    pub(super) fn tick(&mut self) -> bool {
        self.seconds_left = self.seconds_left.saturating_sub(1);
        let now = self.now().wall;
        let has_news = self.shared.session().counters.tick(now);
        has_news || self.record_matters()
    }
}

fn record_view(health: Health, stalled: Option<Duration>) -> RecordView {
    let refused = health.degraded.map(|why| match (why.held, why.lost) {
        (held, 0) => format!("{}; {held} rows wait in memory", why.reason),
        (held, lost) => format!("{}; {held} rows wait in memory, {lost} are lost", why.reason),
    });
    let silent = |stood: Duration| {
        format!(
            "the disk has not answered for {}; what must be on record first waits",
            millis(clock::millis(stood))
        )
    };
    let degraded = refused.or_else(|| stalled.map(silent));
    RecordView { seq: health.seq, head: health.hash.short(), degraded }
}

/// Returns a notice if the record has just become degraded or recovered.
fn turn(before: &RecordView, now: &RecordView) -> Option<(String, bool)> {
    match (&before.degraded, &now.degraded) {
        (None, Some(why)) => Some((format!("the record cannot be written: {why}"), true)),
        (Some(_), None) => Some(("the record is written again".to_owned(), false)),
        _ => None,
    }
}

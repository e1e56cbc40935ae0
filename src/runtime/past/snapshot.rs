//! A recording as a console shows it: the snapshot its runtime would publish now. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::outcome;
use super::reader::{PastCall, Story};
use crate::envelope::Actor;
use crate::process::ExitRecord;
use crate::runtime::approval::GateView;
use crate::runtime::metrics::{Counters, Metrics, quantiles};
use crate::runtime::program::{ProgramView, RunState};
use crate::runtime::state::TaskState;
use crate::runtime::view::{AgentView, CallSummary, Notice, RecordView, Snapshot, TaskView};

impl Story {
    /// Returns what a console shows of it. A task whose end nobody put on record is shown as one that
    /// was interrupted.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let last = self.last_at.unwrap_or(Timestamp::UNIX_EPOCH);
        let started_at = self.meta.as_ref().map_or(last, |meta| meta.started_at);
        let tasks: Vec<Arc<TaskView>> = self.tasks.iter().map(|task| shown(task, last)).collect();
        Snapshot {
            seq: 1,
            workspace: self.meta.as_ref().map(|meta| meta.workspace.clone()).unwrap_or_default(),
            recording: self.recording.clone(),
            socket: std::path::PathBuf::new(),
            started_at,
            headless: true,
            metrics: self.metrics(&tasks),
            tasks,
            tasks_left: 0,
            calls: self.calls.values().map(summary).collect(),
            agents: self.agents(),
            programs: self.programs.iter().map(|program| Arc::new(ended(program, last))).collect(),
            questions: Vec::new(),
            notices: self.notices(last),
            record: RecordView::default(),
            gate: GateView::default(),
        }
    }

    fn agents(&self) -> Vec<AgentView> {
        let mut agents: Vec<AgentView> = Vec::new();
        for past in &self.agents {
            if agents.iter().all(|agent| agent.label != past.label) {
                let of = |call: &&PastCall| matches!(&call.record.actor, Actor::Agent(label) if *label == past.label);
                agents.push(AgentView {
                    label: past.label.clone(),
                    client: past.client.clone(),
                    pid: past.pid,
                    connected: false,
                    last_call: self.calls.values().filter(of).map(|call| call.record.at).next_back(),
                    calls: self.calls.values().filter(of).count() as u64,
                });
            }
        }
        agents
    }

    /// Says what is not as it was written.
    fn notices(&self, at: Timestamp) -> Vec<Notice> {
        let texts = self.problems.iter().map(ToString::to_string);
        (1..).zip(texts).map(|(seq, text)| Notice { seq, at, is_error: true, text, from: None }).collect()
    }

    fn metrics(&self, tasks: &[Arc<TaskView>]) -> Metrics {
        let mut counters = Counters::default();
        let mut durations: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for call in self.calls.values() {
            let record = &call.record;
            let spent = record.duration_ms.unwrap_or_default();
            if record.actor != Actor::Operator {
                let receipt = record.receipt.as_deref().unwrap_or_default();
                counters.call(&record.tool, status(call), receipt, spent);
            }
            durations.entry(record.tool.clone()).or_default().extend(record.duration_ms);
        }
        for row in &self.events {
            counters.happened(&row.event);
        }
        for task in tasks {
            counters.ended(task.status.as_str(), task.lived_ms());
            if task.started_at.is_some() {
                counters.executed(task.item.is_some());
            }
            counters.metrics.output_bytes_in += task.output.bytes;
            counters.metrics.output_bytes_dropped += task.output.dropped_bytes;
        }
        counters.metrics.tasks_started = tasks.len() as u64;
        counters.metrics.tasks_peak = peak(tasks);
        counters.metrics.call_ms =
            durations.into_iter().map(|(tool, spent)| (tool, quantiles(spent))).collect();
        counters.metrics
    }
}

/// What was still open when the runtime ended is nobody's to answer any more.
fn status(call: &PastCall) -> &str {
    let envelope = call.record.envelope.as_ref().filter(|_| !call.abandoned);
    envelope.and_then(|envelope| envelope["status"].as_str()).unwrap_or("abandoned")
}

fn shown(task: &TaskState, last: Timestamp) -> Arc<TaskView> {
    let mut task = task.clone();
    if !task.status.is_terminal() {
        let left = ExitRecord::read(&task.folder).ok().flatten();
        outcome::complete(&mut task, left.as_ref(), &[], last);
    }
    task.view().clone()
}

/// A program whose end nobody put on record was cut off with its runtime.
fn ended(program: &ProgramView, last: Timestamp) -> ProgramView {
    if program.state.is_terminal() {
        return program.clone();
    }
    ProgramView { state: RunState::Interrupted, ended_at: Some(last), ..program.clone() }
}

fn summary(call: &PastCall) -> Arc<CallSummary> {
    Arc::new(call.record.summary(Some(status(call).to_owned()), call.task.clone()))
}

/// Returns the most tasks that were live at once.
fn peak(tasks: &[Arc<TaskView>]) -> u64 {
    let mut turns: Vec<(Timestamp, i64)> = Vec::new();
    for task in tasks {
        turns.push((task.created_at, 1));
        turns.extend(task.ended.as_ref().map(|ended| (ended.at, -1)));
    }
    turns.sort_unstable();
    let (mut live, mut most) = (0_i64, 0_i64);
    for (_, turn) in turns {
        live += turn;
        most = most.max(live);
    }
    u64::try_from(most).unwrap_or_default()
}

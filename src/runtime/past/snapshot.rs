//! Builds a console's view of a recording: the snapshot its runtime would publish now. Pure.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use super::outcome;
use super::reader::{PastCall, Recording};
use crate::envelope::Actor;
use crate::model::{
    AgentView, CallSummary, GateView, Metrics, Notice, ProgramView, RecordView, RunState, Snapshot,
    TaskState, TaskView,
};
use crate::process::ExitRecord;
use crate::runtime::record_row::{AbandonedCall, Fact};

impl Recording {
    /// Returns the console's view of the recording. A task whose end was not recorded is completed from what it left
    /// behind, or else shown as interrupted.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let last = self.last_at.unwrap_or(Timestamp::UNIX_EPOCH);
        let started_at = self.meta.as_ref().map_or(last, |meta| meta.started_at);
        let tasks: Vec<Arc<TaskView>> = self.tasks.iter().map(|task| complete_task(task, last)).collect();
        Snapshot {
            seq: 1,
            workspace: self.meta.as_ref().map(|meta| meta.workspace.clone()).unwrap_or_default(),
            recording: self.folder.clone(),
            socket: std::path::PathBuf::new(),
            started_at,
            headless: true,
            stop_grace_ms: 0,
            metrics: self.metrics(&tasks),
            tasks,
            tasks_left: 0,
            calls: self.calls.values().map(summary).collect(),
            agents: self.agents(),
            programs: self.programs.iter().map(|program| Arc::new(complete_program(program, last))).collect(),
            questions: Vec::new(),
            in_agents: Vec::new(),
            permissions: Vec::new(),
            notices: self.notices(last),
            record: RecordView::default(),
            gate: GateView::default(),
            places: Vec::new(),
        }
    }

    fn agents(&self) -> Vec<AgentView> {
        let mut agents: Vec<AgentView> = Vec::new();
        for past in &self.agents {
            if agents.iter().all(|agent| agent.label != past.label) {
                let of = |call: &&PastCall| matches!(&call.record.actor, Actor::Agent(label) if *label == past.label);
                agents.push(AgentView {
                    label: past.label.clone().into_owned(),
                    client: past.client.clone().into_owned(),
                    pid: past.pid,
                    first_call: self.calls.values().filter(of).map(|call| call.record.at).next(),
                    last_call: self.calls.values().filter(of).map(|call| call.record.at).next_back(),
                    calls: self.calls.values().filter(of).count() as u64,
                    ..AgentView::default()
                });
            }
        }
        agents
    }

    /// Returns a notice about what ran outside the record before this recording, and one for each problem.
    fn notices(&self, at: Timestamp) -> Vec<Notice> {
        let texts = self.unrecorded.notice().into_iter().chain(self.problems.iter().map(ToString::to_string));
        (1..).zip(texts).map(|(seq, text)| Notice { seq, at, is_error: true, text, from: None }).collect()
    }

    fn metrics(&self, tasks: &[Arc<TaskView>]) -> Metrics {
        let mut counters = self.counters.clone();
        let open = |call: &&PastCall| call.record.envelope.is_none() && !call.abandoned;
        self.calls
            .values()
            .filter(open)
            .for_each(|call| counters.count(&Fact::Abandoned(AbandonedCall::of(&call.record))));
        for task in tasks.iter().filter(|task| self.counters.is_open(&task.id)) {
            counters.count(&Fact::Ended { task: Cow::Borrowed(task), first_byte_ms: None });
        }
        counters.live(std::iter::empty());
        counters.metrics()
    }
}

fn complete_task(task: &TaskState, last: Timestamp) -> Arc<TaskView> {
    let mut task = task.clone();
    if !task.status.is_terminal() {
        let left = ExitRecord::read(&task.folder).ok().flatten();
        outcome::complete(&mut task, left.as_ref(), &[], last);
    }
    task.view().clone()
}

/// Completes a program whose end was not recorded: it was interrupted with its runtime.
fn complete_program(program: &ProgramView, last: Timestamp) -> ProgramView {
    if program.state.is_terminal() {
        return program.clone();
    }
    ProgramView { state: RunState::Interrupted, ended_at: Some(last), ..program.clone() }
}

fn summary(call: &PastCall) -> Arc<CallSummary> {
    Arc::new(call.record.summary(Some(call.status().to_owned()), call.task.clone()))
}

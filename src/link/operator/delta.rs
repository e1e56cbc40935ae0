//! Snapshots over a socket: only what changed travels, and the other side puts it together again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;
use crate::runtime::{CallSummary, Snapshot, TaskView};

/// What changed from one snapshot to the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::link) struct Update {
    /// The new snapshot without its tasks and calls.
    rest: Snapshot,
    /// The tasks, in order.
    order: Vec<TaskId>,
    /// Those that are new or changed.
    tasks: Vec<Arc<TaskView>>,
    /// The oldest and the newest call listed.
    listed: Option<(u64, u64)>,
    /// The calls that are new or changed.
    calls: Vec<Arc<CallSummary>>,
}

impl Update {
    /// Returns what somebody who has `old` needs to know `new`.
    pub(super) fn between(old: Option<&Snapshot>, new: &Snapshot) -> Self {
        let (old_tasks, old_calls) = old.map_or((&[][..], &[][..]), |old| (&old.tasks, &old.calls));
        let old_tasks: BTreeMap<&TaskId, _> = old_tasks.iter().map(|task| (&task.id, task)).collect();
        let old_calls: BTreeMap<u64, _> = old_calls.iter().map(|call| (call.seq, call)).collect();
        let unknown_task = |task: &&Arc<TaskView>| old_tasks.get(&task.id).is_none_or(|old| !same(old, task));
        let unknown_call =
            |call: &&Arc<CallSummary>| old_calls.get(&call.seq).is_none_or(|old| !same(old, call));
        Self {
            order: new.tasks.iter().map(|task| task.id.clone()).collect(),
            tasks: new.tasks.iter().filter(unknown_task).cloned().collect(),
            listed: new.calls.first().zip(new.calls.last()).map(|(first, last)| (first.seq, last.seq)),
            calls: new.calls.iter().filter(unknown_call).cloned().collect(),
            rest: Snapshot {
                tasks: Vec::new(),
                calls: Vec::new(),
                workspace: new.workspace.clone(),
                recording: new.recording.clone(),
                socket: new.socket.clone(),
                agents: new.agents.clone(),
                notices: new.notices.clone(),
                programs: new.programs.clone(),
                questions: new.questions.clone(),
                metrics: new.metrics.clone(),
                record: new.record.clone(),
                gate: new.gate.clone(),
                ..*new
            },
        }
    }

    /// Returns the new snapshot, made from the old one. A task that neither side has is left out.
    pub(super) fn apply(self, old: Option<&Snapshot>) -> Snapshot {
        let (old_tasks, old_calls) = old.map_or((&[][..], &[][..]), |old| (&old.tasks, &old.calls));
        let mut tasks: BTreeMap<TaskId, Arc<TaskView>> =
            old_tasks.iter().chain(&self.tasks).map(|task| (task.id.clone(), Arc::clone(task))).collect();
        let calls: BTreeMap<u64, Arc<CallSummary>> =
            old_calls.iter().chain(&self.calls).map(|call| (call.seq, Arc::clone(call))).collect();
        let listed = |seq: &u64| self.listed.is_some_and(|(first, last)| (first..=last).contains(seq));
        Snapshot {
            tasks: self.order.iter().filter_map(|id| tasks.remove(id)).collect(),
            calls: calls.into_iter().filter(|(seq, _)| listed(seq)).map(|(_, call)| call).collect(),
            ..self.rest
        }
    }
}

fn same<T: PartialEq>(old: &Arc<T>, new: &Arc<T>) -> bool {
    Arc::ptr_eq(old, new) || old == new
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::envelope::Actor;
    use crate::runtime::{Metrics, OutputView, TaskStatus};
    use crate::terminal::Size;

    fn task(id: u8, number: u32) -> Arc<TaskView> {
        Arc::new(TaskView {
            id: TaskId::from_random([id; 8]),
            number,
            status: TaskStatus::Running,
            cmd: "sleep 1".into(),
            description: None,
            name: None,
            workdir: "/".into(),
            shell: "/bin/sh".into(),
            login: true,
            tty: false,
            size: Size::default(),
            size_asked: false,
            accepts_input: false,
            started_by: Actor::Cli,
            call: 1,
            promoted: true,
            item: None,
            held: None,
            lease: None,
            waiting: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            started_at: None,
            updated_at: jiff::Timestamp::UNIX_EPOCH,
            stop: None,
            ended: None,
            output: OutputView::default(),
            pid: None,
            folder: "/".into(),
            events: Vec::new(),
        })
    }

    fn call(seq: u64, duration: u64) -> Arc<CallSummary> {
        Arc::new(CallSummary {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            actor: Actor::Operator,
            tool: "TaskList".into(),
            status: None,
            summary: String::new(),
            task: None,
            stream: None,
            duration_ms: Some(duration),
        })
    }

    fn snapshot(seq: u64, tasks: Vec<(u8, u32)>, calls: (u64, Vec<u64>)) -> Snapshot {
        let mut seen = std::collections::BTreeSet::new();
        let (first, durations) = calls;
        Snapshot {
            seq,
            workspace: "/w".into(),
            recording: "/r".into(),
            socket: "/s".into(),
            started_at: jiff::Timestamp::UNIX_EPOCH,
            headless: true,
            tasks: tasks
                .into_iter()
                .filter(|(id, _)| seen.insert(*id % 32))
                .map(|(id, n)| task(id % 32, n))
                .collect(),
            calls: (first..).zip(durations).map(|(seq, duration)| call(seq, duration)).collect(),
            agents: Vec::new(),
            notices: Vec::new(),
            metrics: Metrics::default(),
            record: crate::runtime::RecordView::default(),
            programs: Vec::new(),
            questions: Vec::new(),
            gate: crate::runtime::GateView::default(),
        }
    }

    #[test]
    fn what_did_not_change_does_not_travel() {
        let old = snapshot(1, vec![(1, 1), (2, 2)], (1, vec![5, 5]));
        let new = snapshot(2, vec![(1, 1), (2, 3), (3, 3)], (2, vec![5, 9]));
        let update = Update::between(Some(&old), &new);
        assert_eq!((update.tasks.len(), update.calls.len()), (2, 1));
        assert_eq!(update.apply(Some(&old)), new);
    }

    prop_compose! {
        fn snapshots()(
            seq in any::<u64>(),
            tasks in prop::collection::vec((any::<u8>(), 0..3_u32), 0..12),
            first in 1..20_u64,
            durations in prop::collection::vec(0..3_u64, 0..12),
        ) -> Snapshot {
            snapshot(seq, tasks, (first, durations))
        }
    }

    proptest! {
        #[test]
        fn an_update_makes_the_new_snapshot_from_the_old_one(old in snapshots(), new in snapshots()) {
            for old in [None, Some(&old)] {
                let wire = serde_json::to_vec(&Update::between(old, &new)).expect("serialises");
                let update: Update = serde_json::from_slice(&wire).expect("parses");
                prop_assert_eq!(&update.apply(old), &new);
            }
        }
    }
}

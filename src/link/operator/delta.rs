//! Snapshots over a socket: only what changed travels, and the other side puts it together again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;
use crate::runtime::{CallSummary, ProgramView, Question, QuestionId, Snapshot, TaskView};

/// What changed from one snapshot to the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::link) struct Update {
    /// The new snapshot without what stands below.
    rest: Snapshot,
    tasks: Part<TaskId, TaskView>,
    calls: Part<u64, CallSummary>,
    questions: Part<QuestionId, Question>,
    /// A program whose text the other side has already comes without it.
    programs: Part<String, ProgramView>,
}

/// What changed of a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Serialize, T: Serialize",
    deserialize = "K: Deserialize<'de>, T: Deserialize<'de>"
))]
struct Part<K, T> {
    /// All of it, in order.
    order: Vec<K>,
    /// What is new or changed.
    changed: Vec<Arc<T>>,
}

impl<K: Ord + Clone, T: PartialEq> Part<K, T> {
    fn between(old: &[Arc<T>], new: &[Arc<T>], key: impl Fn(&T) -> K) -> Self {
        let known: BTreeMap<K, &Arc<T>> = old.iter().map(|item| (key(item), item)).collect();
        let is_new = |item: &&Arc<T>| known.get(&key(item)).is_none_or(|old| !same(old, item));
        Self {
            order: new.iter().map(|item| key(item)).collect(),
            changed: new.iter().filter(is_new).cloned().collect(),
        }
    }

    /// Returns the new list. What neither side has is left out.
    fn apply(self, old: &[Arc<T>], key: impl Fn(&T) -> K) -> Vec<Arc<T>> {
        let items = old.iter().chain(&self.changed);
        let mut items: BTreeMap<K, Arc<T>> = items.map(|item| (key(item), Arc::clone(item))).collect();
        self.order.iter().filter_map(|id| items.remove(id)).collect()
    }
}

impl Update {
    /// Returns what somebody who has `old` needs to know `new`.
    pub(super) fn between(old: Option<&Snapshot>, new: &Snapshot) -> Self {
        let nothing = bare(new);
        let old = old.unwrap_or(&nothing);
        let mut programs = Part::between(&old.programs, &new.programs, |program| program.run.clone());
        for program in &mut programs.changed {
            let known = old.programs.iter().find(|known| known.run == program.run);
            if known.is_some_and(|known| known.source == program.source) {
                *program = Arc::new(ProgramView { source: "".into(), ..(**program).clone() });
            }
        }
        Self {
            tasks: Part::between(&old.tasks, &new.tasks, |task| task.id.clone()),
            calls: Part::between(&old.calls, &new.calls, |call| call.seq),
            questions: Part::between(&old.questions, &new.questions, |question| question.id.clone()),
            programs,
            rest: bare(new),
        }
    }

    /// Returns the new snapshot, made from the old one.
    pub(super) fn apply(mut self, old: Option<&Snapshot>) -> Snapshot {
        let nothing = bare(&self.rest);
        let old = old.unwrap_or(&nothing);
        for program in &mut self.programs.changed {
            let known = old.programs.iter().find(|known| known.run == program.run);
            if let Some(known) = known
                && program.source.is_empty()
            {
                *program = Arc::new(ProgramView { source: known.source.clone(), ..(**program).clone() });
            }
        }
        Snapshot {
            tasks: self.tasks.apply(&old.tasks, |task| task.id.clone()),
            calls: self.calls.apply(&old.calls, |call| call.seq),
            questions: self.questions.apply(&old.questions, |question| question.id.clone()),
            programs: self.programs.apply(&old.programs, |program| program.run.clone()),
            ..self.rest
        }
    }
}

/// Returns a snapshot without its lists of larger things.
fn bare(snapshot: &Snapshot) -> Snapshot {
    Snapshot {
        tasks: Vec::new(),
        calls: Vec::new(),
        questions: Vec::new(),
        programs: Vec::new(),
        workspace: snapshot.workspace.clone(),
        recording: snapshot.recording.clone(),
        socket: snapshot.socket.clone(),
        agents: snapshot.agents.clone(),
        notices: snapshot.notices.clone(),
        metrics: snapshot.metrics.clone(),
        record: snapshot.record.clone(),
        gate: snapshot.gate.clone(),
        ..*snapshot
    }
}

fn same<T: PartialEq>(old: &Arc<T>, new: &Arc<T>) -> bool {
    Arc::ptr_eq(old, new) || old == new
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::envelope::Actor;
    use crate::runtime::{OutputView, TaskStatus};
    use crate::terminal::Size;

    pub(in crate::link) fn task(id: u8, number: u32) -> Arc<TaskView> {
        Arc::new(TaskView {
            id: TaskId::from_random([id; 8]),
            number,
            status: TaskStatus::Running,
            cmd: "sleep 1".into(),
            cmd_chars: None,
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
            from_task: None,
            promoted: true,
            item: None,
            held: None,
            timeout_ms: None,
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
            headless: true,
            tasks: tasks
                .into_iter()
                .filter(|(id, _)| seen.insert(*id % 32))
                .map(|(id, n)| task(id % 32, n))
                .collect(),
            calls: (first..).zip(durations).map(|(seq, duration)| call(seq, duration)).collect(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn what_did_not_change_does_not_travel() {
        let old = snapshot(1, vec![(1, 1), (2, 2)], (1, vec![5, 5]));
        let new = snapshot(2, vec![(1, 1), (2, 3), (3, 3)], (2, vec![5, 9]));
        let update = Update::between(Some(&old), &new);
        assert_eq!((update.tasks.changed.len(), update.calls.changed.len()), (2, 1));
        assert_eq!(update.apply(Some(&old)), new);
    }

    fn program(run: &str, source: &str, pass: u32) -> Arc<ProgramView> {
        Arc::new(ProgramView {
            run: run.into(),
            call: None,
            started_by: Actor::Cli,
            path: "/w/p.prose".into(),
            source: source.into(),
            folder: "/w".into(),
            state: crate::runtime::RunState::Running,
            steps: Vec::new(),
            branches: Vec::new(),
            loops: vec![crate::runtime::LoopView { lines: crate::runtime::Lines::one(1), pass, max: None }],
            bindings: Vec::new(),
            error: None,
            started_at: jiff::Timestamp::UNIX_EPOCH,
            ended_at: None,
        })
    }

    #[test]
    fn the_text_of_a_program_travels_once() {
        let with = |programs| Snapshot { programs, ..snapshot(1, Vec::new(), (1, Vec::new())) };
        let (text, other) = ("exec \"true\"\n", "exec \"false\"\n");
        let old = with(vec![program("a", text, 1), program("b", "", 1)]);
        let first = Update::between(None, &old);
        assert_eq!(&*first.programs.changed[0].source, text);
        let new = with(vec![program("a", text, 2), program("b", other, 1), program("c", text, 1)]);
        let update = Update::between(Some(&old), &new);
        let sent: Vec<&str> = update.programs.changed.iter().map(|program| &*program.source).collect();
        assert_eq!(sent, ["", other, text]);
        assert_eq!(update.apply(Some(&old)), new);
        let gone = with(vec![program("c", text, 1)]);
        assert_eq!(Update::between(Some(&new), &gone).apply(Some(&new)), gone);
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

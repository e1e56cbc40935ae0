//! One place of a fleet, from the console's point of view: how it is reached, the state of its link, and its last
//! snapshot, translated. No I/O.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::reach::PlaceReach;
use super::translate::{Translation, TranslationCache};
use crate::envelope::TaskId;
use crate::link::operator::connection::RuntimeConnection;
use crate::model::{
    AgentView, CallSummary, HeldCall, PlaceId, PlaceLink, PlaceName, PlaceState, ProgramView, Question,
    QuestionId, Slot, Snapshot, TaskView,
};

/// A place known to the console.
pub(super) struct FleetPlace {
    pub(super) translation: Translation,
    pub(super) workspace: PathBuf,
    pub(super) reach: PlaceReach,
    pub(super) link: PlaceLink,
    /// The connection to it, while it is attached.
    pub(super) operator: Option<RuntimeConnection>,
    /// How many times it was attached.
    pub(super) attached: u64,
    /// Its last snapshot, as received.
    pub(super) snapshot: Arc<Snapshot>,
    /// The same, translated for the merged snapshot.
    pub(super) part: PlaceItems,
    memories: TranslationCaches,
    /// The number of the last notice received, once it was attached.
    pub(super) noticed: Option<u64>,
    /// Wakes its supervisor early.
    pub(super) kick: Arc<Notify>,
    /// Stops its supervisor.
    pub(super) end: CancellationToken,
}

/// A place's contribution to the merged snapshot.
#[derive(Debug, Default)]
pub(super) struct PlaceItems {
    pub(super) tasks: Vec<Arc<TaskView>>,
    pub(super) calls: Vec<Arc<CallSummary>>,
    pub(super) agents: Vec<AgentView>,
    pub(super) programs: Vec<Arc<ProgramView>>,
    pub(super) questions: Vec<Arc<Question>>,
    pub(super) held: Vec<HeldCall>,
}

#[derive(Debug, Default)]
struct TranslationCaches {
    tasks: TranslationCache<TaskId, TaskView>,
    calls: TranslationCache<u64, CallSummary>,
    programs: TranslationCache<String, ProgramView>,
    questions: TranslationCache<QuestionId, Question>,
}

/// Maps tasks, questions and programs to their places. An id belongs to the first place that had it, for as long as
/// it has it: an item that another place publishes under the same id is not shown, so that requests always reach the
/// item shown.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) tasks: HashMap<TaskId, Slot>,
    pub(super) questions: HashMap<QuestionId, Slot>,
    pub(super) programs: HashMap<String, Slot>,
}

impl Owners {
    /// Updates the ids that one place has now.
    fn settle(&mut self, slot: Slot, snapshot: &Snapshot) {
        settle(&mut self.tasks, slot, snapshot.tasks.iter().map(|task| &task.id));
        settle(&mut self.questions, slot, snapshot.questions.iter().map(|question| &question.id));
        settle(&mut self.programs, slot, snapshot.programs.iter().map(|program| &program.run));
    }

    /// Removes all ids of a place.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.settle(slot, &Snapshot::default());
    }
}

fn settle<'a, K: Eq + std::hash::Hash + Clone + 'a>(
    owners: &mut HashMap<K, Slot>,
    slot: Slot,
    ids: impl Iterator<Item = &'a K>,
) {
    let ids: std::collections::HashSet<&K> = ids.collect();
    owners.retain(|id, owner| *owner != slot || ids.contains(id));
    for id in ids {
        if !owners.contains_key(id) {
            owners.insert(id.clone(), slot);
        }
    }
}

impl FleetPlace {
    pub(super) fn new(slot: Slot, id: PlaceId, name: String, reach: PlaceReach, workspace: PathBuf) -> Self {
        let name = Arc::new(PlaceName { id, name });
        Self {
            translation: Translation { slot, name, copies: None },
            workspace,
            reach,
            link: PlaceLink::Connecting,
            operator: None,
            attached: 0,
            snapshot: Arc::default(),
            part: PlaceItems::default(),
            memories: TranslationCaches::default(),
            noticed: None,
            kick: Arc::default(),
            end: CancellationToken::new(),
        }
    }

    pub(super) fn slot(&self) -> Slot {
        self.translation.slot
    }

    pub(super) fn id(&self) -> &PlaceId {
        &self.translation.name.id
    }

    /// Restarts as another runtime of the same place: earlier numbers are no longer valid.
    pub(super) fn restart(&mut self, slot: Slot, owners: &mut Owners) {
        owners.forget(self.slot());
        self.translation.slot = slot;
        (self.part, self.memories, self.noticed) =
            (PlaceItems::default(), TranslationCaches::default(), None);
        self.snapshot = Arc::default();
    }

    /// Applies a snapshot that the place published.
    pub(super) fn take(&mut self, snapshot: Arc<Snapshot>, owners: &mut Owners) {
        let Self { translation, memories, .. } = self;
        let slot = translation.slot;
        owners.settle(slot, &snapshot);
        let is_own = |owner: Option<&Slot>| owner == Some(&slot);
        let tasks = memories.tasks.translate(
            &snapshot.tasks,
            |task| task.id.clone(),
            |task| translation.task(task).filter(|task| is_own(owners.tasks.get(&task.id))),
        );
        let calls = memories.calls.translate(&snapshot.calls, |call| call.seq, |call| translation.call(call));
        let programs = memories.programs.translate(
            &snapshot.programs,
            |program| program.run.clone(),
            |program| translation.program(program).filter(|it| is_own(owners.programs.get(&it.run))),
        );
        let questions = memories.questions.translate(
            &snapshot.questions,
            |question| question.id.clone(),
            |question| translation.question(question).filter(|it| is_own(owners.questions.get(&it.id))),
        );
        let held = snapshot.gate.held.iter().filter_map(|held| translation.held_call(held));
        // A held call must not name a task that belongs to another place.
        let held = held.map(|held| HeldCall {
            task: held.task.clone().filter(|task| is_own(owners.tasks.get(task))),
            ..held
        });
        self.part = PlaceItems {
            tasks,
            calls,
            agents: snapshot.agents.iter().map(|agent| translation.agent(agent)).collect(),
            programs,
            questions,
            held: held.collect(),
        };
        if !snapshot.workspace.as_os_str().is_empty() {
            self.workspace.clone_from(&snapshot.workspace);
        }
        self.snapshot = snapshot;
    }

    /// Records that the link broke or could not be established.
    pub(super) fn lose(&mut self, now: Timestamp, why: String) {
        self.operator = None;
        match &mut self.link {
            // It has been lost since then; only the reason is updated.
            PlaceLink::Lost { why: known, .. } => *known = why,
            PlaceLink::Gone { .. } => {}
            link => *link = PlaceLink::Lost { since: now, why },
        }
    }

    /// Returns the place as a console shows it.
    pub(super) fn state(&self) -> PlaceState {
        PlaceState {
            name: Arc::clone(&self.translation.name),
            slot: self.slot(),
            host: self.reach.host().map(str::to_owned),
            workspace: self.workspace.clone(),
            link: self.link.clone(),
            snapshot: Arc::clone(&self.snapshot),
        }
    }
}

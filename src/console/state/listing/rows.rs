//! The rows of the task list: the matching tasks, in the chosen order, in groups, with a batch in one row, and what was over
//! within a second in another.
//! Computed once per state of the runtime and the list, not per frame.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::console::state::agents::split_label;
use crate::console::state::listing::agents::at_work;
use crate::console::state::listing::columns::ListColumn;
use crate::console::state::listing::filter::{Filter, Filters};
use crate::console::state::listing::heads::{
    FoldReason, FoldedTasks, GroupHead, GroupKey, StateCounts, waits,
};
use crate::console::state::listing::short::{LEAST_SHORT, is_short};
use crate::console::state::names::born;
use crate::console::state::words::{self, last_sign};
use crate::envelope::{Actor, TaskId};
use crate::model::{AgentView, AgentWork, HeldCall, PlaceId, Snapshot, TaskStatus, TaskView};

/// A sort order.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Sort {
    /// Running tasks, then ended ones; newest first.
    #[default]
    Newest,
    /// The same, oldest first.
    Oldest,
    /// Tasks that wait for the user, running ones, failed ones, the rest.
    State,
    /// Running tasks first, the longest idle first.
    Idle,
    /// By initiator.
    Agent,
    /// By how long they have been running, or ran; longest first.
    Duration,
}

/// What tasks are grouped by.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Grouping {
    /// No grouping.
    #[default]
    None,
    /// By initiator, with all connections of an agent together.
    Agent,
    /// By initiator, with each connection separate.
    Session,
}

/// How the list is arranged; saved per workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListOrder {
    /// The sort order.
    pub sort: Sort,
    pub groups: Grouping,
    /// The columns of wide rows, besides task, state and command.
    pub columns: BTreeSet<ListColumn>,
}

impl Default for ListOrder {
    fn default() -> Self {
        Self { sort: Sort::default(), groups: Grouping::default(), columns: ListColumn::USUAL.into() }
    }
}

/// A row of the list; tasks are identified by their index in the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListRow {
    /// A batch that waits for approval, and has no tasks yet: its index among the held calls.
    Held(usize),
    /// An agent at work: its index among the agents.
    Agent(usize),
    Head(GroupHead),
    /// The headings of the tasks that have ended, below those that live.
    Ended,
    /// A task, or the task that represents others.
    Task {
        at: usize,
        /// The tasks the row represents, if there are several.
        folded: Option<FoldedTasks>,
    },
}

/// A row of the task list that can be selected.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SelectableRow<'a> {
    /// A batch to approve.
    Batch(&'a HeldCall),
    /// An agent at work.
    Agent(&'a AgentView),
    Task(&'a Arc<TaskView>),
}

/// The contents of the list.
#[derive(Debug, Default)]
pub(crate) struct ListRows {
    /// All matching tasks in order, including those folded into another task's row.
    pub(crate) tasks: Vec<usize>,
    pub(crate) rows: Vec<ListRow>,
    /// The number of matching tasks.
    pub(crate) matching: usize,
    /// What each agent does, and since when.
    pub(crate) works: Vec<Option<AgentWork>>,
}

impl Basis {
    /// Tells whether all tasks that live come before all that have ended.
    fn is_parted(&self) -> bool {
        let is_sorted = matches!(self.order.0, Sort::Newest | Sort::Oldest | Sort::State | Sort::Idle);
        self.is_list && is_sorted && self.order.1 == Grouping::None && self.snapshot.0.places.is_empty()
    }

    /// Tells whether short tasks share a row: where nobody looks for some of them.
    fn folds_short(&self) -> bool {
        self.is_list
            && !self.shows_short
            && matches!(self.order.0, Sort::Newest | Sort::Oldest)
            && self.filters.state == Filter::All
            && self.filters.text.is_empty()
    }
}

/// The inputs the rows were computed from.
#[derive(Clone, PartialEq)]
pub(super) struct Basis {
    pub(super) snapshot: SnapshotIdentity,
    pub(super) is_list: bool,
    pub(super) selected: Option<TaskId>,
    pub(super) filters: Filters,
    pub(super) order: (Sort, Grouping),
    pub(super) unfolded: BTreeSet<u64>,
    pub(super) shows_short: bool,
    pub(super) cleared: BTreeSet<TaskId>,
}

/// A snapshot compared by identity.
#[derive(Clone)]
pub(super) struct SnapshotIdentity(pub(super) Arc<Snapshot>);

impl PartialEq for SnapshotIdentity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The rows computed last.
#[derive(Default)]
pub struct Memo(pub(super) RefCell<Option<(Basis, Arc<ListRows>)>>);

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

pub(super) fn work_out(basis: &Basis, now: Timestamp) -> ListRows {
    let tasks = &basis.snapshot.0.tasks;
    let holds = basis.filters.holding();
    let mut matching = 0;
    let mut places: Vec<usize> = Vec::new();
    for (at, task) in tasks.iter().enumerate().filter(|(_, task)| !basis.cleared.contains(&task.id)) {
        let is_held = holds(task);
        matching += usize::from(is_held);
        // What the user is looking at never vanishes by itself.
        if is_held || basis.selected.as_ref() == Some(&task.id) {
            places.push(at);
        }
    }
    let (sort, groups) = basis.order;
    let agents: Vec<&str> = basis.snapshot.0.agents.iter().map(|agent| agent.label.as_str()).collect();
    let group_of = |at: usize| group_of(&tasks[at], groups, &agents);
    let order: HashMap<&PlaceId, usize> =
        basis.snapshot.0.places.iter().zip(0..).map(|(place, at)| (&place.name.id, at)).collect();
    // Other screens than the tasks screen have no groups.
    let place_of = |task: &TaskView| {
        let place = task.place.as_ref().filter(|_| basis.is_list)?;
        order.get(&place.id).copied()
    };
    places.sort_by_cached_key(|at| {
        let task = &*tasks[*at];
        (place_of(task), group_of(*at), rank(task, sort, now), Reverse(born(task)))
    });
    let of_tasks = match basis.is_list {
        true if !order.is_empty() => rows_by_place(&places, tasks, basis, place_of, group_of),
        true => rows(&places, tasks, basis, group_of),
        false => places.iter().map(|at| ListRow::Task { at: *at, folded: None }).collect(),
    };
    let snapshot = &basis.snapshot.0;
    let works: Vec<_> = snapshot.agents.iter().map(|agent| snapshot.work_of(agent)).collect();
    let rows = match basis.is_list {
        true => held_batches(basis)
            .chain(at_work((&snapshot.agents, &works), &basis.filters, now))
            .chain(of_tasks)
            .collect(),
        false => of_tasks,
    };
    ListRows { tasks: places, rows, matching, works }
}

/// Returns the rows of the batches that wait for approval.
fn held_batches(basis: &Basis) -> impl Iterator<Item = ListRow> {
    let held = basis.snapshot.0.gate.held.iter().enumerate();
    let of_batch = held.filter(|(_, held)| held.task.is_none() && basis.filters.holds_batch(held));
    of_batch.map(|(at, _)| ListRow::Held(at))
}

/// Returns the position of a task's group among the groups, and its name.
fn group_of(task: &TaskView, groups: Grouping, agents: &[&str]) -> (usize, String) {
    let name = match (groups, &task.started_by) {
        (Grouping::None, _) => return (0, String::new()),
        (Grouping::Agent, Actor::Agent(label)) => split_label(label).0,
        (Grouping::Session, Actor::Agent(label)) => label,
        (_, Actor::Operator) => return (usize::MAX - 2, "you".to_owned()),
        (_, Actor::Cli) => return (usize::MAX - 1, "scripts".to_owned()),
        (_, Actor::System) => return (usize::MAX, "pilothouse".to_owned()),
    };
    let is_it = |label: &&str| *label == name || groups == Grouping::Agent && split_label(label).0 == name;
    (agents.iter().position(is_it).unwrap_or(agents.len()), name.to_owned())
}

/// Returns a task's sort key, lowest first: its kind, a number, a name.
fn rank(task: &TaskView, sort: Sort, now: Timestamp) -> (u8, i64, String) {
    let is_over = u8::from(task.status.is_terminal());
    match sort {
        Sort::Newest => (is_over, 0, String::new()),
        Sort::Oldest => (is_over, i64::from(task.number), String::new()),
        Sort::State => (urgency(task), 0, String::new()),
        Sort::Idle => (is_over, last_sign(task).as_millisecond(), String::new()),
        Sort::Agent => (0, 0, words::actor_name(&task.started_by)),
        Sort::Duration => {
            let begun = task.started_at.unwrap_or(task.created_at);
            let ms = match &task.ended {
                Some(_) => i64::try_from(task.lived_ms()).unwrap_or(i64::MAX),
                None => now.as_millisecond().saturating_sub(begun.as_millisecond()),
            };
            (0, ms.saturating_neg(), String::new())
        }
    }
}

fn urgency(task: &TaskView) -> u8 {
    match task.status {
        _ if waits(task) => 0,
        TaskStatus::Running => 1,
        TaskStatus::Cancelling => 2,
        TaskStatus::Queued => 3,
        TaskStatus::Failed => 4,
        TaskStatus::Interrupted => 5,
        TaskStatus::Cancelled => 6,
        TaskStatus::Completed => 7,
    }
}

/// Puts the header of each place before its rows; without filters, also for places that have no tasks.
fn rows_by_place<G: PartialEq>(
    places: &[usize],
    tasks: &[Arc<TaskView>],
    basis: &Basis,
    place_of: impl Fn(&TaskView) -> Option<usize>,
    group_of: impl Fn(usize) -> (G, String),
) -> Vec<ListRow> {
    let mut all = Vec::new();
    for (at, place) in basis.snapshot.0.places.iter().enumerate() {
        let from = places.partition_point(|task| place_of(&tasks[*task]) < Some(at));
        let to = places.partition_point(|task| place_of(&tasks[*task]) <= Some(at));
        let its = places.get(from..to).unwrap_or_default();
        let is_asked_for = basis.filters.is_empty() || basis.filters.place.as_ref() == Some(&place.name.id);
        if its.is_empty() && !is_asked_for {
            continue;
        }
        let counts = StateCounts::of(its.iter().map(|at| &*tasks[*at]));
        let of = GroupKey::Place(place.name.id.clone());
        all.push(ListRow::Head(GroupHead { of, name: place.name.name.clone(), counts }));
        all.extend(rows(its, tasks, basis, &group_of));
    }
    all
}

/// Puts headers before groups, the tasks of a batch into one row, and the short ones of a group into another, where the
/// first of them stood.
fn rows<G: PartialEq>(
    places: &[usize],
    tasks: &[Arc<TaskView>],
    basis: &Basis,
    group_of: impl Fn(usize) -> (G, String),
) -> Vec<ListRow> {
    let mut batches: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for at in places.iter().filter(|at| tasks[**at].item.is_some()) {
        batches.entry(tasks[*at].call).or_default().push(*at);
    }
    batches.retain(|call, items| items.len() > 1 && !basis.unfolded.contains(call));
    let mut rows = Vec::new();
    for group in places.chunk_by(|one, next| group_of(*one) == group_of(*next)) {
        let counts = StateCounts::of(group.iter().map(|at| &*tasks[*at]));
        if let Some(first) = group.first().filter(|_| basis.order.1 != Grouping::None) {
            let name = group_of(*first).1;
            let of = GroupKey::Actor(tasks[*first].started_by.clone());
            rows.push(ListRow::Head(GroupHead { of, name, counts }));
        }
        let short: Vec<usize> = match basis.folds_short() {
            true => group.iter().copied().filter(|at| is_short(&tasks[*at])).collect(),
            false => Vec::new(),
        };
        let is_folded = short.len() >= LEAST_SHORT;
        let mut has_live = false;
        for &at in group {
            let is_over = tasks[at].status.is_terminal();
            if is_over && has_live && basis.is_parted() {
                rows.push(ListRow::Ended);
            }
            has_live = !is_over;
            if is_folded && is_short(&tasks[at]) {
                if short.first() == Some(&at) {
                    rows.push(folded_row(FoldReason::Short, &short, tasks, basis));
                }
                continue;
            }
            let call = tasks[at].item.map(|_| tasks[at].call);
            match call.filter(|call| batches.contains_key(call)) {
                None => rows.push(ListRow::Task { at, folded: None }),
                Some(call) if batches.get(&call).and_then(|items| items.first()) == Some(&at) => {
                    let items = batches.get(&call).map(Vec::as_slice).unwrap_or_default();
                    rows.push(folded_row(FoldReason::Batch, items, tasks, basis));
                }
                Some(_) => {}
            }
        }
    }
    rows
}

fn folded_row(reason: FoldReason, items: &[usize], tasks: &[Arc<TaskView>], basis: &Basis) -> ListRow {
    let counts = StateCounts::of(items.iter().map(|at| &*tasks[*at]));
    let at = stands_for(reason, items, tasks, basis.selected.as_ref());
    ListRow::Task { at, folded: Some(FoldedTasks { reason, counts }) }
}

/// Returns the task shown in the row of several: the selected one; or else, of a batch, one that has not ended or a
/// failed one; or the first in list order.
fn stands_for(
    reason: FoldReason,
    items: &[usize],
    tasks: &[Arc<TaskView>],
    selected: Option<&TaskId>,
) -> usize {
    let find = |is_it: &dyn Fn(&TaskView) -> bool| items.iter().copied().find(|at| is_it(&tasks[*at]));
    let of_batch = |is_it: &dyn Fn(&TaskView) -> bool| find(is_it).filter(|_| reason == FoldReason::Batch);
    find(&|task| Some(&task.id) == selected)
        .or_else(|| of_batch(&|task| !task.status.is_terminal()))
        .or_else(|| of_batch(&|task| Filter::Failed.holds(task)))
        .or_else(|| items.first().copied())
        .unwrap_or_default()
}

//! The task that keeps the ledger: it takes snapshots one after another, in the order of what it is told.

use std::collections::{BTreeSet, HashMap, VecDeque};

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use super::open_ledger::{LedgerSetup, OpenLedger};
use super::tree_base::{TreeBase, TreeEnd};
use super::{LedgerEntry, LedgerNews, LedgerOrder};
use crate::config::LedgerMode;
use crate::envelope::{Actor, TaskId};
use crate::files::path_text;
use crate::model::TreeChanges;

/// Ended commands whose lists can be shown.
const KEPT: usize = 500;
/// The most paths of a row, and commands that are named as having run at the same time.
const PATHS: usize = 100;
const SHARED: usize = 20;
/// The most commands that are one entry.
const TOGETHER: usize = 20;
/// A command that runs longer is in the background.
const FOREGROUND: std::time::Duration = std::time::Duration::from_secs(10);

/// Whether there is a ledger.
#[derive(Debug)]
pub(super) enum LedgerState {
    /// No command has begun yet.
    Unopened,
    On(Box<OpenLedger>),
    /// There is none, for this reason.
    Off(String),
}

/// A command that runs, or has ended.
#[derive(Debug)]
pub(super) struct LedgerTask {
    pub(super) base: TreeBase,
    others: BTreeSet<TaskId>,
    pub(super) end: Option<TreeEnd>,
    begun: Instant,
    /// Whether another one ran at the same time.
    is_beside: bool,
    /// The command that had just ended when it began: the look after that one was not over.
    after: Option<TaskId>,
    /// The commands that are one entry, in their order; empty if it is alone.
    pub(super) together: Vec<TaskId>,
}

impl LedgerTask {
    fn new(base: TreeBase, after: Option<TaskId>) -> Self {
        let (others, together, begun) = (BTreeSet::new(), Vec::new(), Instant::now());
        Self { base, others, end: None, begun, is_beside: false, after, together }
    }
}

/// The task that keeps the ledger.
#[derive(Debug)]
pub(super) struct LedgerKeeper {
    setup: LedgerSetup,
    pub(super) news: mpsc::Sender<LedgerNews>,
    looked: watch::Sender<bool>,
    inbox: mpsc::Receiver<LedgerOrder>,
    queue: VecDeque<LedgerOrder>,
    pub(super) state: LedgerState,
    /// The commands that run.
    pub(super) running: BTreeSet<TaskId>,
    pub(super) tasks: HashMap<TaskId, LedgerTask>,
    ended: VecDeque<TaskId>,
    /// What the tree was at the first command of each agent, by label.
    pub(super) first: HashMap<String, TreeBase>,
}

impl LedgerKeeper {
    pub(super) fn new(
        setup: LedgerSetup,
        (news, looked): (mpsc::Sender<LedgerNews>, watch::Sender<bool>),
        inbox: mpsc::Receiver<LedgerOrder>,
    ) -> Self {
        let state = match setup.mode {
            LedgerMode::Off => LedgerState::Off("`ledger = \"off\"` in the settings".to_owned()),
            LedgerMode::Auto | LedgerMode::On => LedgerState::Unopened,
        };
        looked.send_replace(setup.mode == LedgerMode::Off);
        Self {
            setup,
            news,
            looked,
            inbox,
            queue: VecDeque::new(),
            state,
            running: BTreeSet::new(),
            tasks: HashMap::new(),
            ended: VecDeque::new(),
            first: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.next().await {
            match order {
                LedgerOrder::Open => _ = self.open().await,
                LedgerOrder::Began { task, by, at, others, is_first, still } => {
                    self.began(task, &by, (at, still), others, is_first).await;
                }
                LedgerOrder::Ended { task } => self.take_end_snapshot(task).await,
                LedgerOrder::Undo { request, folder, by, reply } => {
                    let report = self.undo(request, folder, &by).await;
                    // It was done, whether or not anybody hears of it.
                    let _ = reply.send(report);
                }
                LedgerOrder::Report { since, reply } => {
                    // Whoever asked may be gone.
                    let _ = reply.send(self.report(since).await);
                }
            }
            let LedgerState::On(open) = &mut self.state else { continue };
            if let Some(why) = open.excess().await {
                self.turn_off(why).await;
            }
        }
    }

    async fn next(&mut self) -> Option<LedgerOrder> {
        loop {
            if let Some(order) = self.queue.pop_front() {
                return Some(order);
            }
            let LedgerState::On(open) = &mut self.state else { return self.inbox.recv().await };
            // What runs for long is in the background: what else moves then is to be known before the next command.
            let is_settled = self
                .running
                .iter()
                .filter_map(|task| self.tasks.get(task))
                .all(|it| it.begun.elapsed() > FOREGROUND);
            tokio::select! {
                biased;
                order = self.inbox.recv() => return order,
                () = open.wait_for_change(), if is_settled => {}
                () = sleep(FOREGROUND), if !is_settled => continue,
            }
            if let Err((why, is_last)) = open.snapshot().await {
                tracing::warn!(why, "no snapshot of the tree");
                if is_last {
                    self.turn_off(why).await;
                }
            }
        }
    }

    /// Moves what waits in the inbox to the queue, where it can be looked at.
    fn take_waiting(&mut self) {
        while let Ok(order) = self.inbox.try_recv() {
            self.queue.push_back(order);
        }
    }

    /// Ends the ledger for the life of this runtime.
    async fn turn_off(&mut self, why: String) {
        let _ = self.news.send(LedgerNews::Off(why.clone())).await;
        self.state = LedgerState::Off(why);
        self.tasks.clear();
        self.running.clear();
        self.first.clear();
    }

    /// Opens the ledger; returns whether it was not open before.
    pub(super) async fn open(&mut self) -> bool {
        if !matches!(self.state, LedgerState::Unopened) {
            return false;
        }
        self.state = match OpenLedger::open(&self.setup).await {
            Ok(open) => LedgerState::On(Box::new(open)),
            Err(why) => LedgerState::Off(why),
        };
        self.looked.send_replace(true);
        // What has begun meanwhile may be in what was read.
        self.take_waiting();
        for order in &mut self.queue {
            if let LedgerOrder::Began { is_first, .. } = order {
                *is_first = true;
            }
        }
        true
    }

    async fn began(
        &mut self,
        task: TaskId,
        by: &Actor,
        (at, still): (jiff::Timestamp, Option<u64>),
        others: Vec<TaskId>,
        is_first: bool,
    ) {
        let is_first = self.open().await || is_first;
        self.take_waiting();
        if self.follows(&task, others.last(), 0) {
            return;
        }
        let LedgerState::On(open) = &mut self.state else { return };
        let base = match open.base(at, is_first, still).await {
            Ok(base) => base,
            Err((why, is_last)) => {
                tracing::warn!(why, "no snapshot of the tree");
                return if is_last {
                    self.turn_off(why).await
                };
            }
        };
        if let Actor::Agent(label) = by {
            self.first.entry(label.clone()).or_insert_with(|| base.clone());
        }
        let is_room = |after: &&TaskId| {
            self.running.is_empty() && self.tasks.get(*after).is_some_and(|it| it.together.len() < TOGETHER)
        };
        let after = others.last().filter(is_room).cloned();
        let is_beside = !self.running.is_empty();
        for other in &self.running {
            if let Some(other) = self.tasks.get_mut(other) {
                other.is_beside = true;
            }
        }
        let others: BTreeSet<TaskId> = others.into_iter().chain(self.running.iter().cloned()).collect();
        for other in &others {
            if let Some(other) = self.tasks.get_mut(other) {
                other.others.insert(task.clone());
            }
        }
        self.running.insert(task.clone());
        self.tasks.insert(task, LedgerTask { others, is_beside, ..LedgerTask::new(base, after) });
    }

    /// Takes one snapshot for all commands that have ended by now.
    async fn take_end_snapshot(&mut self, task: TaskId) {
        let ended = self.take_ended(task);
        let LedgerState::On(open) = &mut self.state else { return };
        if ended.is_empty() {
            return;
        }
        let end = match open.current().await {
            Ok(end) => end,
            Err((why, is_last)) => {
                tracing::warn!(why, "no snapshot of the tree");
                ended.iter().for_each(|task| drop(self.tasks.remove(task)));
                return if is_last {
                    self.turn_off(why).await
                };
            }
        };
        self.note_overlaps(&ended);
        ended.iter().for_each(|task| self.join(task));
        for task in ended {
            let is_last = |known: &LedgerTask| known.together.last().is_none_or(|last| *last == task);
            if self.tasks.get(&task).is_some_and(is_last) {
                self.enter(&task, &end).await;
            }
            self.ended.push_back(task);
        }
        while self.ended.len() > KEPT {
            self.ended.pop_front().and_then(|oldest| self.tasks.remove(&oldest));
        }
    }

    /// Takes what waits: the ends that follow one, and with them the commands of which all is over, one after another.
    fn take_ended(&mut self, task: TaskId) -> Vec<TaskId> {
        self.take_waiting();
        let mut ended: Vec<TaskId> = self.running.remove(&task).then_some(task).into_iter().collect();
        loop {
            match self.queue.front() {
                Some(LedgerOrder::Ended { task }) => {
                    ended.extend(self.running.remove(task).then(|| task.clone()));
                }
                Some(LedgerOrder::Began { task, .. }) => {
                    let (task, after) = (task.clone(), ended.last().cloned());
                    if !self.follows(&task, after.as_ref(), ended.len()) {
                        return ended;
                    }
                }
                _ => return ended,
            }
            self.queue.pop_front();
        }
    }

    /// Notes a command of which all is over before it is looked at. If it is the only one that followed another one, it began as
    /// the tree was when that one had ended, and no look fits between. Returns whether it is such a command.
    fn follows(&mut self, task: &TaskId, after: Option<&TaskId>, more: usize) -> bool {
        let Some((after, before)) = after.and_then(|after| Some((after, self.tasks.get(after)?))) else {
            return false;
        };
        let is_next = |order: &&LedgerOrder| match order {
            LedgerOrder::Began { task: next, .. } => next != task,
            order => matches!(order, LedgerOrder::Ended { .. }),
        };
        let next = self.queue.iter().find(is_next);
        let is_over = matches!(next, Some(LedgerOrder::Ended { task: ended }) if ended == task);
        let is_room = before.together.len() + more < TOGETHER;
        if !is_over || !is_room || !self.running.is_empty() || before.is_beside {
            return false;
        }
        let known = LedgerTask::new(before.base.clone(), Some(after.clone()));
        self.running.insert(task.clone());
        self.tasks.insert(task.clone(), known);
        true
    }

    /// Makes one entry of a command and the one that it followed at once, if no other ran meanwhile.
    fn join(&mut self, task: &TaskId) {
        let members = |known: &LedgerTask, own: &TaskId| match known.together.is_empty() {
            true => vec![own.clone()],
            false => known.together.clone(),
        };
        let Some(known) = self.tasks.get(task).filter(|known| known.begun.elapsed() < FOREGROUND) else {
            return;
        };
        let Some((after, before)) = known.after.as_ref().and_then(|id| Some((id, self.tasks.get(id)?)))
        else {
            return;
        };
        let mut together = members(before, after);
        together.push(task.clone());
        let is_beside = known.is_beside || before.is_beside;
        if is_beside {
            return;
        }
        for member in &together {
            if let Some(known) = self.tasks.get_mut(member) {
                known.together.clone_from(&together);
            }
        }
    }

    /// Notes which commands have begun while the last snapshot was taken: something of theirs may be in it.
    fn note_overlaps(&mut self, ended: &[TaskId]) {
        self.take_waiting();
        for order in &mut self.queue {
            let LedgerOrder::Began { task, others, .. } = order else { continue };
            others.extend_from_slice(ended);
            for other in ended {
                if let Some(known) = self.tasks.get_mut(other) {
                    known.others.insert(task.clone());
                }
            }
        }
    }

    /// Reports what differs since a command began that has ended.
    async fn enter(&mut self, task: &TaskId, end: &TreeEnd) {
        let (LedgerState::On(open), Some(known)) = (&self.state, self.tasks.get(task)) else { return };
        let (base, shared) = self.entry_of(known);
        let trees = [base.tree().to_owned(), end.snapshot.tree.clone()];
        let together = known.together.clone();
        let members = if together.is_empty() { vec![task.clone()] } else { together.clone() };
        match open.changes(base, end, shared).await {
            Ok((found, changes)) => {
                if !found.is_empty() {
                    let file = base.undo_record(end, &found, &together);
                    let (folder, of) = (open.git().folder().to_owned(), members.clone());
                    let write = move || of.iter().try_for_each(|member| file.write(&folder, member));
                    if let Ok(Err(error)) = tokio::task::spawn_blocking(write).await {
                        tracing::warn!(%error, "a command will not be undone");
                    }
                }
                let paths: Vec<String> = found.keys().take(PATHS).map(|path| path_text(path)).collect();
                let changes = TreeChanges { together, ..changes };
                for task in members.iter().cloned() {
                    let (changes, trees, paths) = (changes.clone(), trees.clone(), paths.clone());
                    let entry = LedgerEntry { task, changes, trees, paths };
                    let _ = self.news.send(LedgerNews::Entry(entry)).await;
                }
            }
            Err(why) => tracing::warn!(why, "what a command left in the tree is not known"),
        }
        for member in members {
            if let Some(known) = self.tasks.get_mut(&member) {
                known.end = Some(end.clone());
            }
        }
    }

    /// Returns what the tree was when the entry of a command begins, and the commands that ran at the same time.
    pub(super) fn entry_of<'a>(&'a self, known: &'a LedgerTask) -> (&'a TreeBase, Vec<TaskId>) {
        let first = known.together.first().and_then(|first| self.tasks.get(first));
        let others = known.others.iter().filter(|other| !known.together.contains(other));
        (&first.unwrap_or(known).base, others.take(SHARED).cloned().collect())
    }
}

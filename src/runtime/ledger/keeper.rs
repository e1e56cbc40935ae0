//! The task that keeps the ledger: it takes snapshots one after another, in the order of what it is told.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::open_ledger::{LedgerSetup, OpenLedger, TreeBase, TreeEnd};
use super::undo_file::UndoFile;
use super::{LedgerEntry, LedgerNews, LedgerOrder};
use crate::config::LedgerMode;
use crate::envelope::{Actor, TaskId};
use crate::files::{HeldFolder, path_text, sync_file_system};
use crate::ledger::{UndoFailure, plan, report};
use crate::model::{ChangesReport, ChangesSince, UndoReport, UndoRequest};

/// Ended commands whose lists can be shown.
const KEPT: usize = 500;
/// The most paths of a row, and commands that are named as having run at the same time.
const PATHS: usize = 100;
const SHARED: usize = 20;
/// A command that runs longer is in the background.
const FOREGROUND: std::time::Duration = std::time::Duration::from_secs(10);
/// How long another undo in the same tree is waited for.
const UNDONE_BY: std::time::Duration = std::time::Duration::from_secs(10);
/// How long git may take for the texts of a report.
const REPORT: std::time::Duration = std::time::Duration::from_secs(10);

/// Whether there is a ledger.
#[derive(Debug)]
enum LedgerState {
    /// No command has begun yet.
    Unopened,
    On(Box<OpenLedger>),
    /// There is none, for this reason.
    Off(String),
}

/// A command that runs, or has ended.
#[derive(Debug)]
struct LedgerTask {
    base: TreeBase,
    others: BTreeSet<TaskId>,
    end: Option<TreeEnd>,
}

/// The task that keeps the ledger.
#[derive(Debug)]
pub(super) struct LedgerKeeper {
    setup: LedgerSetup,
    news: mpsc::Sender<LedgerNews>,
    inbox: mpsc::Receiver<LedgerOrder>,
    queue: VecDeque<LedgerOrder>,
    state: LedgerState,
    /// The commands that run, and since when.
    running: BTreeMap<TaskId, Instant>,
    tasks: HashMap<TaskId, LedgerTask>,
    ended: VecDeque<TaskId>,
    /// What the tree was at the first command of each agent, by label.
    first: HashMap<String, TreeBase>,
}

impl LedgerKeeper {
    pub(super) fn new(
        setup: LedgerSetup,
        news: mpsc::Sender<LedgerNews>,
        inbox: mpsc::Receiver<LedgerOrder>,
    ) -> Self {
        let state = match setup.mode {
            LedgerMode::Off => LedgerState::Off("`ledger = \"off\"` in the settings".to_owned()),
            LedgerMode::Auto | LedgerMode::On => LedgerState::Unopened,
        };
        Self {
            setup,
            news,
            inbox,
            queue: VecDeque::new(),
            state,
            running: BTreeMap::new(),
            tasks: HashMap::new(),
            ended: VecDeque::new(),
            first: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.next().await {
            match order {
                LedgerOrder::Open => _ = self.open().await,
                LedgerOrder::Began { task, by, at, others, is_first } => {
                    self.began(task, &by, at, others, is_first).await;
                }
                LedgerOrder::Ended { task } => self.ended(task).await,
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
            let is_settled = self.running.values().all(|since| since.elapsed() > FOREGROUND);
            tokio::select! {
                biased;
                order = self.inbox.recv() => return order,
                () = open.moved(), if is_settled => {}
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
    async fn open(&mut self) -> bool {
        if !matches!(self.state, LedgerState::Unopened) {
            return false;
        }
        self.state = match OpenLedger::open(&self.setup).await {
            Ok(open) => LedgerState::On(Box::new(open)),
            Err(why) => LedgerState::Off(why),
        };
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
        at: jiff::Timestamp,
        others: Vec<TaskId>,
        is_first: bool,
    ) {
        let is_first = self.open().await || is_first;
        let LedgerState::On(open) = &mut self.state else { return };
        let base = match open.base(at, is_first).await {
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
        let others: BTreeSet<TaskId> = others.into_iter().chain(self.running.keys().cloned()).collect();
        for other in &others {
            if let Some(other) = self.tasks.get_mut(other) {
                other.others.insert(task.clone());
            }
        }
        self.running.insert(task.clone(), Instant::now());
        self.tasks.insert(task, LedgerTask { base, others, end: None });
    }

    /// Takes one snapshot for all commands that have ended by now.
    async fn ended(&mut self, task: TaskId) {
        self.take_waiting();
        let mut ended = vec![task];
        while let Some(LedgerOrder::Ended { .. }) = self.queue.front() {
            if let Some(LedgerOrder::Ended { task }) = self.queue.pop_front() {
                ended.push(task);
            }
        }
        ended.retain(|task| self.running.remove(task).is_some());
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
        for task in ended {
            self.enter(task, end.clone()).await;
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
    async fn enter(&mut self, task: TaskId, end: TreeEnd) {
        let (LedgerState::On(open), Some(known)) = (&self.state, self.tasks.get_mut(&task)) else { return };
        let shared = known.others.iter().take(SHARED).cloned().collect();
        let trees = [known.base.tree().to_owned(), end.snapshot.tree.clone()];
        match open.changes(&known.base, &end, shared).await {
            Ok((found, changes)) => {
                if !found.is_empty() {
                    let (file, folder) = (known.base.undo_file(&end, &found), open.git().folder().to_owned());
                    let id = task.clone();
                    let write = move || file.write(&folder, &id);
                    if let Ok(Err(error)) = tokio::task::spawn_blocking(write).await {
                        tracing::warn!(%error, "a command will not be undone");
                    }
                }
                let paths = found.keys().take(PATHS).map(|path| path_text(path)).collect();
                let entry = LedgerEntry { task: task.clone(), changes, trees, paths };
                let _ = self.news.send(LedgerNews::Entry(entry)).await;
            }
            Err(why) => tracing::warn!(why, "what a command left in the tree is not known"),
        }
        known.end = Some(end);
        self.ended.push_back(task);
        if self.ended.len() > KEPT
            && let Some(oldest) = self.ended.pop_front()
        {
            self.tasks.remove(&oldest);
        }
    }

    /// Undoes what differs since a command began, or tells what that would do.
    async fn undo(
        &mut self,
        request: UndoRequest,
        folder: PathBuf,
        by: &Actor,
    ) -> Result<UndoReport, String> {
        let UndoRequest { task, is_redo, is_dry } = request;
        if self.running.contains_key(&task) {
            return Err("it has not ended".to_owned());
        }
        self.open().await;
        let open = match &mut self.state {
            LedgerState::On(open) => open,
            LedgerState::Off(why) => return Err(format!("the ledger is off: {why}")),
            LedgerState::Unopened => return Err("the ledger is not open".to_owned()),
        };
        let (id, own) = (task.clone(), folder.clone());
        let read = tokio::task::spawn_blocking(move || UndoFile::read(&own, &id)).await;
        let mut facts = match read.map_err(|error| error.to_string())? {
            Ok(UndoFile::Possible(facts)) => facts,
            Ok(UndoFile::Impossible(why)) => return Err(why),
            Err(_) => return Err("nothing that it changed is on record".to_owned()),
        };
        if is_redo {
            facts = facts.reversed();
        }
        let past = open.git().of_recording(folder);
        let top = open.git().top().to_owned();
        // A runtime that ends may still be at an undo when the next one begins.
        let lock = tokio::task::spawn_blocking(move || HeldFolder::open(&top)?.locked());
        let lock = timeout(UNDONE_BY, lock).await.map_err(|_| "another undo is going on")?;
        let lock = lock.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let planned = match plan(&past, &facts, Instant::now() + REPORT).await {
            Ok(plan) => plan,
            Err(refused) => return Ok(UndoReport { refused, ..UndoReport::default() }),
        };
        let steps = planned.told();
        if steps.is_empty() && !is_redo && planned.is_clean() {
            let back = plan(&past, &facts.reversed(), Instant::now() + REPORT).await;
            let redo = back.map(|plan| plan.told()).unwrap_or_default();
            return Ok(UndoReport { redo, ..UndoReport::default() });
        }
        if is_dry {
            return Ok(UndoReport { steps, ..UndoReport::default() });
        }
        let carry_out = move || {
            // An undo that the power cuts off can only go on if these outlive it.
            let synced = sync_file_system(past.folder());
            synced.map_err(|error| UndoFailure::Refused(error.to_string()))?;
            let done = planned.carry_out(&mut |path, moment| tracing::debug!(?path, ?moment, "undo"));
            drop(lock);
            done
        };
        let done = tokio::task::spawn_blocking(carry_out).await.map_err(|error| error.to_string())?;
        let files = match done {
            Ok(files) => files as u64,
            Err(UndoFailure::Refused(why)) => {
                return Ok(UndoReport { refused: vec![why], ..UndoReport::default() });
            }
            Err(UndoFailure::CutOff(why)) => {
                return Err(format!("{why}\nIt was cut off there; the same command goes on with it."));
            }
        };
        let _ = self.news.send(LedgerNews::Undone { task, by: by.clone(), files, is_redo }).await;
        Ok(UndoReport { steps, is_done: true, ..UndoReport::default() })
    }

    async fn report(&mut self, since: ChangesSince) -> Result<ChangesReport, String> {
        let open = match &mut self.state {
            LedgerState::On(open) => open,
            LedgerState::Off(why) => return Err(format!("the ledger is off: {why}")),
            LedgerState::Unopened => return Err("no command has run yet".to_owned()),
        };
        let (base, end, others) = match &since {
            ChangesSince::Task(task) => {
                let known =
                    self.tasks.get(task).ok_or("what it changed is not known any more, or never was")?;
                let others = known.others.iter().take(SHARED).cloned().collect();
                (known.base.clone(), known.end.clone(), others)
            }
            ChangesSince::Agent(label) => {
                let base = self.first.get(label).ok_or("this agent has run no command")?;
                (base.clone(), None, Vec::new())
            }
        };
        let end = match end {
            Some(end) => end,
            None => open.current().await.map_err(|(why, _)| why)?,
        };
        let (found, changes) = open.changes(&base, &end, others).await?;
        let by = tokio::time::Instant::now() + REPORT;
        report(open.git(), &found, changes, by).await.map_err(|error| error.to_string())
    }
}

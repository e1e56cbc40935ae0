//! The ledger of a runtime: what differs in the workspace's tree since each command began. A snapshot is begun with a
//! command and another one after it, in a task of its own: nothing waits for either.

mod keeper;
mod news;
mod open_ledger;
mod request;
mod still_tree;
mod tree_base;
mod undo_record;
mod watched_tree;

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{OnceCell, mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::envelope::{Actor, TaskId};
use crate::ledger::{ComingStart, ComingStarts};
use crate::model::{ChangesReport, Subject, UndoReport, UndoRequest};
use keeper::LedgerKeeper;
pub(super) use news::{LedgerEntry, LedgerNews};
pub(super) use open_ledger::LedgerSetup;
pub(super) use still_tree::StillTree;

/// Orders that may be queued; beyond this, a command has no list.
const ORDERS: usize = 1_024;
/// How long the first command of a runtime waits until the tree has been read.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// What the ledger is told and asked.
#[derive(Debug)]
pub(super) enum LedgerOrder {
    /// Commands are to be expected.
    Open,
    /// A command is about to be started.
    Began {
        task: TaskId,
        by: Actor,
        at: Timestamp,
        /// Commands whose last snapshot was being taken then.
        others: Vec<TaskId>,
        /// Whether the tree was being read for the first time then.
        is_first: bool,
        /// The number of the last look, if nothing had moved since.
        still: Option<u64>,
    },
    /// A command has ended.
    Ended { task: TaskId },
    /// Somebody wants what differs since a command began to be undone; or only to know what would be done.
    Undo {
        request: UndoRequest,
        /// The ledger of its recording.
        folder: PathBuf,
        by: Actor,
        reply: oneshot::Sender<Result<UndoReport, String>>,
    },
    /// Somebody wants to see what differs.
    Report { since: Subject, reply: oneshot::Sender<Result<ChangesReport, String>> },
}

/// A handle to the ledger.
#[derive(Debug)]
pub(super) struct Ledger {
    orders: mpsc::Sender<LedgerOrder>,
    closed: CancellationToken,
    starts: ComingStarts,
    still: StillTree,
    /// Whether the tree has been read, or will not be.
    looked: watch::Receiver<bool>,
    /// The wait for that.
    first: OnceCell<()>,
}

impl Ledger {
    /// Starts the task that keeps it; nothing is read before the first command.
    pub(super) fn start(setup: LedgerSetup, news: mpsc::Sender<LedgerNews>) -> Self {
        let (orders, inbox) = mpsc::channel(ORDERS);
        let (closed, starts) = (CancellationToken::new(), setup.starts.clone());
        let (still, (sender, looked)) = (setup.still.clone(), watch::channel(false));
        let keeper = LedgerKeeper::new(setup, (news, sender), inbox);
        let end = closed.clone();
        // A git that is running is killed when this is dropped.
        tokio::spawn(async move { end.run_until_cancelled(keeper.run()).await });
        Self { orders, closed, starts, still, looked, first: OnceCell::new() }
    }

    /// Reads the tree for the first time, so that the first command finds it known.
    pub(super) fn open(&self) {
        self.tell(LedgerOrder::Open);
    }

    /// Waits until the tree has been read for the first time, for 100 ms at most and only once: then the first command is
    /// covered too.
    pub(super) async fn wait_until_read(&self) {
        let wait = async || {
            self.open();
            // Later, what the command does in its first moments is not known.
            let _ = timeout(FIRST_LOOK, self.looked.clone().wait_for(|looked| *looked)).await;
        };
        self.first.get_or_init(wait).await;
    }

    /// Lets git rest until what is returned is dropped: a command is being started.
    pub(super) fn coming(&self) -> ComingStart {
        self.starts.begin()
    }

    /// Notes that a command is about to be started; it does not wait for this.
    pub(super) fn began(&self, task: &TaskId, by: &Actor, at: Timestamp) {
        self.tell(LedgerOrder::Began {
            task: task.clone(),
            by: by.clone(),
            at,
            others: Vec::new(),
            is_first: false,
            still: self.still.since(),
        });
    }

    /// Notes that a command has ended, and its output with it.
    pub(super) fn note_end(&self, task: &TaskId) {
        self.tell(LedgerOrder::Ended { task: task.clone() });
    }

    fn tell(&self, order: LedgerOrder) {
        if self.orders.try_send(order).is_err() && !self.closed.is_cancelled() {
            tracing::warn!("the ledger does not keep up: a command has no list of changes");
        }
    }

    /// Returns what differs.
    ///
    /// # Errors
    /// If that is not known: why, in a clause.
    pub(super) async fn report(&self, since: Subject) -> Result<ChangesReport, String> {
        let (reply, answer) = oneshot::channel();
        let gone = || "the runtime is ending".to_owned();
        self.orders.send(LedgerOrder::Report { since, reply }).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Undoes what differs since a command began, or tells what that would do.
    ///
    /// # Errors
    /// If nothing is known that could be undone: why, in a clause.
    pub(super) async fn undo(
        &self,
        request: &UndoRequest,
        folder: PathBuf,
        by: &Actor,
    ) -> Result<UndoReport, String> {
        let (reply, answer) = oneshot::channel();
        let gone = || "the runtime is ending".to_owned();
        let order = LedgerOrder::Undo { request: request.clone(), folder, by: by.clone(), reply };
        self.orders.send(order).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Ends it, and a git that is running.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }
}

//! The single writer thread: takes rows in order, groups them for syncing, and keeps rows the disk refuses.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Notify, watch};

use super::appender::{Appender, own_row};
use super::chain::{ChainEntry, Hash};
use super::queue::{QueueItem, QueueState, RowReceiver};
use super::queued_row::{Durability, QueuedRow, WriteReply};
use crate::clock::Clock;
use crate::process;

/// The longest time a written row stays unsynced.
const GROUP_TIME: Duration = Duration::from_millis(50);
/// The most rows written between syncs.
const GROUP_ROWS: usize = 64;
/// Rows kept in memory while the disk refuses them.
const HELD_ROWS: usize = 1_000;
/// How long to wait before retrying held rows when no new row arrives.
const RETRY: Duration = Duration::from_secs(1);

/// The health of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Number of the last line.
    pub seq: u64,
    pub hash: Hash,
    /// Why rows are not on disk; `None` while all is well.
    pub degraded: Option<Degradation>,
}

/// Why rows are not on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Degradation {
    /// The operating system's error message.
    pub reason: String,
    /// The disk is full.
    pub is_full: bool,
    /// Rows held in memory.
    pub held: usize,
    /// Rows dropped from memory.
    pub lost: u64,
}

/// How often the recording is checked while nothing is written.
const WATCH: Duration = Duration::from_secs(3);

pub(super) struct JournalWriter {
    appender: Appender,
    clock: Clock,
    health: watch::Sender<Health>,
    changed: Arc<Notify>,
    state: Arc<QueueState>,
    held: VecDeque<ChainEntry>,
    lost: u64,
    trouble: Option<io::Error>,
    failed_at: Duration,
    /// No more rows will come: what is left is tried immediately.
    is_last: bool,
    /// Callers waiting for the next sync.
    waiting: Vec<WriteReply>,
    /// When the written rows must be synced at the latest.
    due: Option<Duration>,
}

impl JournalWriter {
    pub(super) fn new(
        appender: Appender,
        clock: Clock,
        (changed, state): (Arc<Notify>, Arc<QueueState>),
    ) -> Self {
        let head = appender.head();
        let health = Health { seq: head.seq, hash: head.hash, degraded: None };
        Self {
            appender,
            clock,
            health: watch::Sender::new(health),
            changed,
            state,
            held: VecDeque::new(),
            lost: 0,
            trouble: None,
            failed_at: Duration::ZERO,
            is_last: false,
            waiting: Vec::new(),
            due: None,
        }
    }

    pub(super) fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Writes until every sender is gone, then syncs.
    pub(super) fn run(mut self, queue: &RowReceiver) {
        // A row is on its way to the disk while its caller goes on, not after that.
        process::take_short_turns();
        loop {
            self.state.rest();
            let taken = queue.take(self.patience(), GROUP_ROWS);
            self.state.begin(self.clock.now().mono);
            match taken {
                QueueItem::Rows(rows) => rows.into_iter().for_each(|row| self.take(row)),
                QueueItem::Late => self.watch(),
                QueueItem::Closed => break,
            }
            self.settle();
            self.tell();
        }
        self.is_last = true;
        self.flush_held();
        self.sync();
    }

    /// Returns how long to wait for a row before something else is due.
    fn patience(&self) -> Duration {
        let now = self.clock.now().mono;
        let retry = self.trouble.is_some().then_some(RETRY);
        let wait = self.due.map(|due| due.saturating_sub(now)).or(retry);
        wait.unwrap_or(WATCH)
    }

    /// Checks the recording while nothing is written.
    fn watch(&mut self) {
        if self.trouble.is_none()
            && let Err(error) = self.appender.look()
        {
            self.stumble(error);
        }
    }

    fn take(&mut self, row: QueuedRow) {
        let QueuedRow { entry, durability, done, room: _room } = row;
        let written = if self.rests() || !self.flush_held() {
            Err(self.trouble.as_ref().map_or(io::ErrorKind::StorageFull.into(), again))
        } else {
            self.appender.append(&entry).map_err(|error| {
                let told = again(&error);
                self.stumble(error);
                told
            })
        };
        if let Err(error) = written {
            self.hold(entry);
            self.tell();
            return answer(done, Err(error));
        }
        match durability {
            Durability::Synced => {
                self.waiting.extend(done);
                self.due = Some(Duration::ZERO);
            }
            Durability::Written => {
                answer(done, Ok(()));
                let latest = self.clock.now().mono + GROUP_TIME;
                self.due = Some(self.due.map_or(latest, |due| due.min(latest)));
            }
            Durability::Late => answer(done, Ok(())),
        }
    }

    /// Syncs if a caller waits for it, the group is large enough, or the deadline has passed.
    fn settle(&mut self) {
        let now = self.clock.now().mono;
        let is_due = self.due.is_some_and(|due| due <= now);
        let is_tried_again = self.trouble.is_some() && !self.rests() && self.flush_held();
        if is_tried_again || is_due || self.appender.unsynced_rows() >= GROUP_ROWS {
            self.sync();
        }
    }

    fn sync(&mut self) {
        self.due = None;
        let synced = match &self.trouble {
            Some(error) if self.rests() => Err(again(error)),
            _ => self.appender.sync().map_err(|error| {
                let told = again(&error);
                self.stumble(error);
                told
            }),
        };
        if synced.is_ok() && self.held.is_empty() {
            self.trouble = None;
        }
        // Publish first: a caller that receives the error finds the health already updated.
        self.tell();
        for done in self.waiting.drain(..) {
            // A caller that did not wait has dropped the receiver.
            let _ = done.send(synced.as_ref().map_err(again).copied());
        }
    }

    fn stumble(&mut self, error: io::Error) {
        if self.trouble.is_none() {
            tracing::error!(%error, "the record is degraded");
        }
        self.trouble = Some(error);
        self.failed_at = self.clock.now().mono;
    }

    /// Tells whether to leave the disk alone after a failure: each attempt may leave a file behind.
    fn rests(&self) -> bool {
        !self.is_last && self.trouble.is_some() && self.clock.now().mono < self.failed_at + RETRY
    }

    fn hold(&mut self, entry: ChainEntry) {
        if self.held.len() == HELD_ROWS {
            self.held.pop_front();
            self.lost += 1;
        }
        self.held.push_back(entry);
    }

    /// Writes the rows that the disk refused before; returns whether none are left.
    fn flush_held(&mut self) -> bool {
        self.lost += self.state.take_lost();
        if self.lost > 0 {
            let at = self.held.front().map_or_else(|| self.clock.now().wall, |entry| entry.ts);
            let gap = own_row("gap", &json!({ "rows": self.lost }), at);
            if let Err(error) = self.appender.append(&gap) {
                self.stumble(error);
                return false;
            }
            self.lost = 0;
        }
        while let Some(entry) = self.held.front() {
            if let Err(error) = self.appender.append(entry) {
                self.stumble(error);
                return false;
            }
            self.held.pop_front();
        }
        true
    }

    /// Publishes the current health.
    fn tell(&self) {
        let head = self.appender.head();
        let degraded = self.trouble.as_ref().map(|error| Degradation {
            reason: error.to_string(),
            is_full: is_full(error),
            held: self.held.len(),
            lost: self.lost,
        });
        let turned = self.health.borrow().degraded.is_some() != degraded.is_some();
        self.health.send_replace(Health { seq: head.seq, hash: head.hash, degraded });
        if turned {
            self.changed.notify_one();
        }
    }
}

fn answer(done: Option<WriteReply>, result: io::Result<()>) {
    if let Some(done) = done {
        // The caller may be gone.
        let _ = done.send(result);
    }
}

/// Returns an equivalent copy of an error.
fn again(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

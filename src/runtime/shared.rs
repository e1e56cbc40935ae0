//! The state that the handle and the driver share: the tasks' byte paths, the session's state, the published
//! snapshot.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use super::bytes::{Pump, TaskIo, Viewers};
use super::command_cost::CommandPlace;
use super::cost_rules::CostRules;
use super::ledger::Ledger;
use super::past::{self, Recovery};
use super::session_state::SessionState;
use super::task_folder::SpareFolders;
use super::task_list::Commands;
use crate::clock::Clock;
use crate::config::{ApprovalRule, AuditPolicy, EnvSettings, Limits, SideTerminal};
use crate::envelope::TaskId;
use crate::journal::{Degradation, Durability, Journal, JournalError, PendingRow};
use crate::model::{ConsoleProcess, Error, Gauge, Snapshot, TaskView};
use crate::runtime::caps::Caps;
use crate::runtime::record_row::Fact;

/// The number of tasks found in recordings that are kept in memory.
const PAST_TASKS: usize = 256;
/// How long after the last console was closed someone is still assumed to be near.
const ATTENDED: Duration = Duration::from_secs(600);
/// Bytes of commands that the tasks found in recordings may keep in memory.
const PAST_BYTES: usize = 16 << 20;

/// A row in the queue of the record, or why it is not there.
pub(super) type QueuedFact = Result<PendingRow, JournalError>;

/// The shared state of one runtime.
// Locks, not messages: calls start and end on many connections, and the console reads screens for each frame; a round
// trip through the driver would make both wait for it. Each lock is held for a few map operations, never across an
// await.
#[derive(Debug)]
pub(super) struct RuntimeShared {
    pub(super) clock: Clock,
    pub(super) workspace: PathBuf,
    /// How the settings change the inherited environment, and the variables they set over the overrides.
    pub(super) env: EnvSettings,
    pub(super) recording: PathBuf,
    pub(super) journal: Journal,
    pub(super) viewers: Arc<Viewers>,
    pub(super) pump: Arc<Pump>,
    pub(super) snapshot: watch::Sender<Arc<Snapshot>>,
    /// Notified when something outside the driver changed what the snapshot shows.
    pub(super) nudge: Arc<Notify>,
    /// Notified when tasks have written output.
    pub(super) counted: Arc<Notify>,
    pub(super) headless: AtomicBool,
    pub(super) limits: Limits,
    /// What differs in the tree since each command began.
    pub(super) ledger: Ledger,
    /// The running programs.
    pub(super) programs: TaskTracker,
    /// Approval rules that consoles with settings of their own have handed over.
    pub(super) handed: watch::Sender<Vec<ApprovalRule>>,
    /// Whether a rule asks by what commands would cost.
    pub(super) cost_rules: CostRules,
    /// Whether past recordings were recovered, so that their contents are final.
    recovered: watch::Sender<bool>,
    /// Tasks that were requested and found in the record because they are no longer in memory.
    past: Mutex<HashMap<TaskId, Arc<TaskView>>>,
    ios: Mutex<HashMap<TaskId, Arc<TaskIo>>>,
    /// The folders of the next tasks.
    pub(super) spare_folders: SpareFolders,
    /// When enough disk space was last found free, in microseconds of the clock.
    pub(super) disk_checked: AtomicU64,
    /// Commands that the snapshot truncates.
    commands: Mutex<Commands>,
    caps: Caps,
    /// The size of all recordings in bytes when last measured, and the bytes of output read by then.
    disk: [AtomicU64; 2],
    session: Mutex<SessionState>,
}

impl RuntimeShared {
    /// Returns where commands run.
    pub(super) fn command_place(&self) -> CommandPlace<'_> {
        CommandPlace { workspace: &self.workspace, env: &self.env }
    }

    pub(super) fn new(
        clock: Clock,
        env: EnvSettings,
        journal: Journal,
        (viewers, pump): (Arc<Viewers>, Arc<Pump>),
        (first, limits): (Snapshot, Limits),
        (ledger, nudge): (Ledger, Arc<Notify>),
    ) -> Arc<Self> {
        Arc::new(Self {
            clock,
            workspace: first.workspace.clone(),
            env,
            recording: first.recording.clone(),
            journal,
            viewers,
            pump,
            headless: AtomicBool::new(first.headless),
            snapshot: watch::Sender::new(Arc::new(first)),
            nudge,
            counted: Arc::default(),
            ledger,
            programs: TaskTracker::new(),
            handed: watch::Sender::default(),
            cost_rules: CostRules::of(&limits.approvals),
            recovered: watch::Sender::new(false),
            past: Mutex::default(),
            ios: Mutex::default(),
            spare_folders: SpareFolders::default(),
            disk_checked: AtomicU64::default(),
            commands: Mutex::default(),
            session: Mutex::new(SessionState::new(limits.recent_calls)),
            caps: Caps::of(&limits),
            disk: Default::default(),
            limits,
        })
    }

    pub(super) fn session(&self) -> MutexGuard<'_, SessionState> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a notice about an action in one console, in the others.
    pub(super) fn notice_of(&self, console: &ConsoleProcess, text: String) {
        let at = self.clock.now().wall;
        self.session().notice_of(at, text, Some(console.pid));
        self.nudge.notify_one();
    }

    pub(super) fn ios(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<TaskIo>>> {
        self.ios.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn io(&self, id: &TaskId) -> Option<Arc<TaskIo>> {
        self.ios().get(id).cloned()
    }

    /// Returns how much of each limit is used. The size of the recordings is measured once an hour; output and rows since
    /// then are added.
    pub(super) fn gauges(&self, tasks: &[Arc<TaskView>], printed: u64) -> Vec<Gauge> {
        let [then, by_then] = [&self.disk[0], &self.disk[1]].map(|bytes| bytes.load(Ordering::Relaxed));
        let written = printed.saturating_add(self.journal.appended_bytes());
        let disk_used = then.saturating_add(written.saturating_sub(by_then));
        self.caps.measure(tasks, disk_used, self.clock.now().wall)
    }

    /// Tells whether someone is likely to answer what a command asks on a terminal beside its streams.
    pub(super) fn is_attended(&self) -> bool {
        match self.limits.side_terminal {
            SideTerminal::Always => true,
            SideTerminal::Never => false,
            SideTerminal::Attended => self.viewers.was_anyone(self.clock.now().mono, ATTENDED),
        }
    }

    pub(super) fn is_headless(&self) -> bool {
        self.headless.load(Ordering::Relaxed)
    }

    /// Records a row without waiting.
    pub(super) fn note(&self, row: &Fact<'_>) {
        self.put(row, Durability::Written);
    }

    /// Records a row that may be lost in a power failure.
    pub(super) fn note_late(&self, row: &Fact<'_>) {
        self.put(row, Durability::Late);
    }

    fn put(&self, row: &Fact<'_>, durability: Durability) {
        self.session().counters.count(row);
        if let Err(error) = self.journal.note(row, durability) {
            report(&error);
        }
    }

    /// Queues a row for the record, before every later one, waiting only for room.
    pub(super) async fn enqueue(&self, row: &Fact<'_>, durability: Durability) {
        self.session().counters.count(row);
        if let Err(error) = self.journal.enqueue(row, durability).await {
            report(&error);
        }
    }

    /// Records a row and waits until it is written.
    ///
    /// # Errors
    /// If the row could not be written and what it announces must therefore not happen.
    pub(super) async fn write(&self, row: &Fact<'_>, durability: Durability) -> Result<(), Error> {
        let pending = self.begin_write(row, durability).await;
        self.wait_for_row(pending).await
    }

    /// Queues a row for the record; [`wait_for_row`](Self::wait_for_row) tells what became of it.
    pub(super) async fn begin_write(&self, row: &Fact<'_>, durability: Durability) -> QueuedFact {
        self.session().counters.count(row);
        self.journal.begin_append(row, durability).await
    }

    /// Waits until a queued row is written.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(super) async fn wait_for_row(&self, pending: QueuedFact) -> Result<(), Error> {
        let written = match pending {
            Ok(pending) => pending.wait().await,
            Err(error) => Err(error),
        };
        let Err(error) = written else { return Ok(()) };
        report(&error);
        self.nudge.notify_one();
        self.check()
    }

    /// Checks whether anything new may happen: not while the record cannot be written, if recording is required.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.journal.health().degraded {
            Some(Degradation { reason, is_full, .. })
                if self.limits.record.audit == AuditPolicy::Required =>
            {
                Err(Error::Unrecorded { reason, is_full })
            }
            _ => Ok(()),
        }
    }

    /// Maintains past recordings: recovers and prunes them. Blocks.
    pub(super) fn tend(&self) {
        let recoveries = past::recover(&self.recording, &self.workspace, &self.clock);
        for Recovery { recording, repaired, tasks } in &recoveries {
            self.note(&Fact::Recovery {
                recording: recording.into(),
                repaired: Cow::Borrowed(repaired),
                tasks: tasks.into(),
            });
        }
        let now = self.clock.now().wall;
        let notice = |text| {
            self.session().notice(now, text, false);
            self.nudge.notify_one();
        };
        if let Some(text) = past::notice(&recoveries) {
            notice(text);
        }
        let is_start = !self.recovered.send_replace(true);
        let printed = self.session().counters.metrics.output_bytes_in;
        let written = printed.saturating_add(self.journal.appended_bytes());
        let (kept, old) =
            past::retain(&self.recording, &self.limits.record, &self.journal, is_start.then_some(now));
        if let Some(old) = old {
            notice(format!("the recording {old} was removed for its age (record.keep_for)"));
        }
        self.disk[0].store(kept, Ordering::Relaxed);
        self.disk[1].store(written, Ordering::Relaxed);
    }

    /// Returns a task that an earlier request found in a recording.
    pub(super) fn past_task(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Searches the recordings for a task, once past ones are final.
    pub(super) async fn find_past(&self, id: &TaskId) -> Option<Arc<TaskView>> {
        // The sender lives as long as `self`.
        let _ = self.recovered.subscribe().wait_for(|recovered| *recovered).await;
        if let Some(known) = self.past_task(id) {
            return Some(known);
        }
        let (own, workspace, asked) = (self.recording.clone(), self.workspace.clone(), id.clone());
        let look = move || past::find_task(&own, &workspace, &asked);
        let found = Arc::new(tokio::task::spawn_blocking(look).await.ok().flatten()?);
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = past.values().map(|task| task.cmd.len()).sum();
        if past.len() >= PAST_TASKS || bytes > PAST_BYTES {
            past.clear();
        }
        past.insert(id.clone(), found.clone());
        Some(found)
    }
}

fn report(error: &JournalError) {
    tracing::error!(%error, "a row is not on record");
}

//! The runtime's handle, used by tools, links and the console. Cheap to clone.

mod agents;
mod calls;
mod costs;
mod environment;
mod folder;
mod gate;
mod notices;
mod options;
mod questions;
mod tasks;
#[cfg(test)]
mod tests;
mod unrecorded;

pub use calls::AnswerRow;
pub use notices::AnswerNotices;
pub use options::Options;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::clock::{Clock, millis};
use crate::config::Limits;
use crate::envelope::{Actor, TaskId, mask};
use crate::journal::{self, Journal, RecordingMeta};
use crate::ledger::ComingStarts;
use crate::model::{
    CloseReason, Error, ExecOutcome, ExecRequest, InputOutcome, ItemKey, ParentTask, Signal, Snapshot, Stop,
    StopEffect, StopOutcome, TypedInput, UnendedProcess,
};
use crate::process::environment::Environment;
use crate::process::{SignalScope, Spawner, claim_controllers};
use crate::runtime::bytes::{Parsers, Pump, TaskIo, Viewer, Viewers};
use crate::runtime::caller_command::{NativeRequest, WaitingCaller};
use crate::runtime::driver::{Driver, DriverOrder, PreparedStart, Reply, StartingTask, prepare, to_past};
use crate::runtime::ledger::{Ledger, LedgerNews, LedgerSetup, StillTree};
use crate::runtime::record_row::Fact;
use crate::runtime::screen::TaskScreen;
use crate::runtime::shared::RuntimeShared;
use crate::runtime::{PendingWrite, supervisor};
use crate::terminal::{Size, Terminal};

/// Orders that may be queued for the driver.
const ORDERS: usize = 1_024;
/// News of the ledger that may be queued for it; beyond this, the ledger waits.
const NEWS: usize = 16;
/// Byte events that may be queued for the driver; beyond this, the pump waits.
const EVENTS: usize = 1_024;

/// A handle to one runtime.
#[derive(Debug, Clone)]
pub struct Handle {
    shared: Arc<RuntimeShared>,
    orders: mpsc::Sender<DriverOrder>,
    /// The task that its holder runs in, if known.
    within: Option<ParentTask>,
    /// The environment that commands of this handle's holder inherit, before overrides.
    environment: Environment,
    spawner: Arc<Spawner>,
}

impl Handle {
    /// Starts a runtime on the current tokio runtime.
    ///
    /// # Errors
    /// If its folders, journal or threads cannot be created.
    pub fn start(options: Options) -> Result<Self, Error> {
        Self::start_on(options, Journal::create)
    }

    /// Starts a runtime whose journal is created by `create`.
    pub(crate) fn start_on(
        options: Options,
        create: impl FnOnce(&Path, &RecordingMeta, Clock, Arc<Notify>) -> Result<Journal, journal::JournalError>,
    ) -> Result<Self, Error> {
        let clock = Clock::start();
        let now = clock.now();
        let meta = folder::meta(&options.workspace, now.wall);
        let recording = folder::create_recording(&options.recordings, &meta)?;
        let nudge = Arc::new(Notify::new());
        let journal = create(&recording, &meta, clock.clone(), nudge.clone())
            .map_err(|error| Error::io("create the journal of", &recording)(folder::as_io(error)))?;
        let threads = Error::io("start the byte path of", &recording);
        let (events, byte_events) = mpsc::channel(EVENTS);
        let viewers = Arc::new(Viewers::default());
        let (parsers, pump) = start_bytes(&clock, &viewers, events).map_err(threads)?;
        let first = Snapshot {
            workspace: options.workspace,
            recording,
            socket: options.socket,
            started_at: now.wall,
            headless: options.headless,
            stop_grace_ms: millis(options.limits.stop_grace),
            ..Snapshot::default()
        };
        let environment = Environment::new(options.env.apply(options.environment), None);
        let (orders, inbox) = mpsc::channel(ORDERS);
        let ledger = LedgerSetup {
            still: StillTree::default(),
            mode: options.limits.ledger,
            workspace: first.workspace.clone(),
            recording: first.recording.clone(),
            environment: environment.clone(),
            starts: ComingStarts::default(),
        };
        let (news, told) = mpsc::channel(NEWS);
        let ledger = Ledger::start(ledger, news);
        tokio::spawn(hand_on(told, orders.clone()));
        let bytes = (viewers, pump);
        let shared =
            RuntimeShared::new(clock, options.env, journal, bytes, (first, options.limits), (ledger, nudge));
        shared.note(&Fact::Recording {
            workspace: shared.workspace.as_path().into(),
            pid: std::process::id(),
            program: env!("CARGO_PKG_VERSION").into(),
        });
        tokio::task::spawn_blocking(claim_controllers);
        let spawner = Arc::new(options.spawner);
        let driver = Driver::new(shared.clone(), spawner.clone(), parsers, orders.clone(), options.lanes);
        tokio::spawn(driver.run(inbox, byte_events));
        Ok(Self { shared, orders, environment, spawner, within: None })
    }

    /// Returns a handle for a caller that runs in a task: for the pause and the approval rules, what it starts counts
    /// as that task's agent's, and the task is recorded.
    #[must_use]
    pub fn within(&self, within: Option<ParentTask>) -> Self {
        Self { within, ..self.clone() }
    }

    /// Tells whether its holder runs in a task.
    pub fn is_within(&self) -> bool {
        self.within.is_some()
    }

    /// Starts a command and waits until it ends or becomes a task.
    ///
    /// # Errors
    /// If the command was refused or could not be started.
    pub async fn exec(&self, request: ExecRequest) -> Result<ExecOutcome, Error> {
        let prepared = self.prepare(request).await?;
        self.exec_prepared(prepared).await
    }

    /// Like [`exec`](Self::exec); the command does nothing until `write` is on disk.
    ///
    /// # Errors
    /// As `exec`, or if the write fails.
    pub async fn exec_after(&self, write: PendingWrite, request: ExecRequest) -> Result<ExecOutcome, Error> {
        let prepared = self.prepare(request).await?.after(write);
        self.exec_prepared(prepared).await
    }

    /// Starts a command from an agent's own shell with the resources its caller passed in, and waits until it ends or
    /// becomes a task. Progress is reported to the caller.
    ///
    /// # Errors
    /// If the command was refused or could not be started.
    pub async fn exec_native(&self, request: NativeRequest) -> Result<ExecOutcome, Error> {
        let NativeRequest { exec, native, told } = request;
        let caller = WaitingCaller::new(native, exec.tty, told)
            .map_err(Error::io("take over the descriptors of", &exec.base))?;
        let prepared = self.prepare(exec).await?.called_by(caller);
        self.exec_prepared(prepared).await
    }

    /// Returns an id for a task about to be started: the id of the spare host, if there is one.
    #[must_use]
    pub fn next_id(&self) -> TaskId {
        self.spawner.next_id()
    }

    async fn prepare(&self, request: ExecRequest) -> Result<PreparedStart, Error> {
        self.shared.check()?;
        let id = request.chosen_id().cloned().unwrap_or_else(|| self.next_id());
        // The host comes up concurrently with everything below, and does nothing without a command.
        let side_terminal = request.can_be_asked() && self.shared.is_attended();
        let host = self.spawner.begin(Some(id.as_str()), side_terminal.then(Size::default));
        let coming = StartingTask { id, host, side_terminal };
        prepare(&self.shared, request, coming, self.environment.clone()).await
    }

    /// Passes on a signal that the caller of such a command has received.
    pub async fn pass_on(&self, by: &Actor, id: &TaskId, signal: Signal, scope: SignalScope) {
        self.tell(DriverOrder::PassOn { by: by.clone(), id: id.clone(), signal, scope }).await;
    }

    /// Reports that the terminal of such a command's caller has another size.
    pub async fn caller_resized(&self, by: &Actor, id: &TaskId) {
        self.tell(DriverOrder::CallerResized { by: by.clone(), id: id.clone() }).await;
    }

    /// Reports that the caller of such a command is gone: the command is ended, unless a person has taken it over.
    pub async fn caller_gone(&self, id: &TaskId) {
        self.tell(DriverOrder::CallerGone { id: id.clone() }).await;
    }

    /// Sends input to a task; a rejection is an outcome, not an error.
    ///
    /// # Errors
    /// If there is no such task or the input is impossible.
    pub async fn input(&self, by: &Actor, id: &TaskId, input: TypedInput) -> Result<InputOutcome, Error> {
        if let Some(task) = self.past(id) {
            return Ok(to_past(task));
        }
        let (by, id) = (by.clone(), id.clone());
        self.order(|reply| DriverOrder::Input { by, id, input, reply }).await
    }

    /// Stops a task or sends it a signal.
    ///
    /// # Errors
    /// If there is no such task.
    pub async fn stop(&self, by: &Actor, id: &TaskId, stop: Stop) -> Result<StopOutcome, Error> {
        if let Some(task) = self.past(id) {
            return Ok(StopOutcome { effect: StopEffect::Noop, task });
        }
        let (by, id) = (by.clone(), id.clone());
        self.order(|reply| DriverOrder::Stop { by, id, stop, reply }).await
    }

    /// Stops a task whose caller is going away and cannot wait. A task that is not known yet is ended once it
    /// arrives.
    pub fn abandon(&self, id: &TaskId, by: &Actor) {
        let (reply, _) = oneshot::channel();
        let order = DriverOrder::Stop { by: by.clone(), id: id.clone(), stop: Stop::default(), reply };
        // As in `cancel_foreground`.
        if self.orders.try_send(order).is_err() {
            tracing::warn!(task = %id, "the end of a task whose caller has gone could not be passed on");
        }
    }

    /// Releases the operator's lease of a task.
    pub async fn release(&self, id: &TaskId) {
        let (id, by) = (id.clone(), Actor::Operator);
        self.tell(DriverOrder::Step(supervisor::SupervisorInput::Release { id, by })).await;
    }

    /// Names a task for the console.
    pub async fn rename(&self, id: &TaskId, name: Option<String>) {
        let name = name.map(|name| mask(&name).into_owned());
        self.tell(DriverOrder::Rename { id: id.clone(), name }).await;
    }

    /// Removes a finished task from the list; the recording keeps it.
    pub async fn dismiss(&self, id: &TaskId) {
        self.tell(DriverOrder::Dismiss { id: id.clone() }).await;
    }

    /// Stops the command that a call is waiting for, if it still is. `why` is a clause saying why the client gave up.
    pub fn cancel_foreground(&self, call: u64, by: &Actor, why: &str) {
        self.shared.cost_rules.cut(call, by, why);
        // A full queue means that the driver is stuck; the command then ends by its own timeout or stop.
        let order = DriverOrder::CancelForeground { call, by: by.clone(), why: why.to_owned() };
        if self.orders.try_send(order).is_err() {
            tracing::warn!(call, "a cancelled call could not be passed on");
        }
    }

    /// Returns the published state.
    #[must_use]
    pub fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.shared.snapshot.subscribe()
    }

    /// Returns what was changed after a snapshot; `None` if that is no longer known.
    pub(crate) fn changed_since(&self, snapshot: u64) -> Option<HashSet<ItemKey>> {
        self.shared.session().changes.since(snapshot)
    }

    /// Returns the screen of a live task.
    #[must_use]
    pub fn screen(&self, id: &TaskId) -> Option<Arc<TaskScreen>> {
        self.shared.io(id).map(|io| io.screen.clone())
    }

    /// Returns the rendered screen of a live task and whether it is the alternate one.
    #[must_use]
    pub fn screen_text(&self, id: &TaskId) -> Option<(String, bool)> {
        let read = |terminal: &Terminal| (terminal.screen_text(), terminal.modes().alternate_screen);
        self.shared.io(id)?.screen.read(read)
    }

    /// Registers a console that views screens; it is unregistered when the viewer is dropped.
    #[must_use]
    pub fn viewer(&self) -> Arc<Viewer> {
        self.shared.viewers.join(self.shared.clock.clone())
    }

    /// Sets which screens a viewer shows; the focused one is parsed first.
    pub fn show(&self, viewer: &Viewer, visible: &[TaskId], focus: Option<&TaskId>) {
        viewer.show(visible.iter().cloned().collect(), focus.cloned());
        let ios: Vec<Arc<TaskIo>> = self.shared.ios().values().cloned().collect();
        ios.iter().for_each(|io| self.shared.viewers.refresh(io));
        self.shared.pump.prioritize(self.shared.viewers.focused_tasks());
    }

    /// Shows the person a notice.
    pub fn notice(&self, text: impl Into<String>, is_error: bool) {
        let at = self.shared.clock.now().wall;
        self.shared.session().notice(at, text.into(), is_error);
        self.shared.nudge.notify_one();
    }

    /// Sets whether no console is embedded in this process.
    pub fn set_headless(&self, headless: bool) {
        self.shared.headless.store(headless, Ordering::Relaxed);
        self.shared.nudge.notify_one();
    }

    /// Returns the limits of this runtime.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Returns the execution root.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.shared.workspace
    }

    /// Ends all tasks, then the runtime. Returns once nothing of it is left.
    pub async fn shutdown(&self) {
        self.shut_down(CloseReason::Unsaid).await;
    }

    /// Like `shutdown`, and records the reason with the tasks that end with it. Returns the processes of all its tasks
    /// that could not be ended.
    pub async fn shut_down(&self, closing: CloseReason) -> Vec<UnendedProcess> {
        let (reply, done) = oneshot::channel();
        self.tell(DriverOrder::Shutdown { closing, reply }).await;
        // An error means that the driver has already ended, so the shutdown is done as well.
        done.await.unwrap_or_default()
    }

    pub(super) async fn order<T>(&self, order: impl FnOnce(Reply<T>) -> DriverOrder) -> Result<T, Error> {
        self.send(order).await?.await.map_err(|_| Error::ShuttingDown)?
    }

    /// Sends an order, whose answer comes later.
    async fn send<T>(
        &self,
        order: impl FnOnce(Reply<T>) -> DriverOrder,
    ) -> Result<oneshot::Receiver<Result<T, Error>>, Error> {
        let (reply, answer) = oneshot::channel();
        self.orders.send(order(reply)).await.map_err(|_| Error::ShuttingDown)?;
        Ok(answer)
    }

    async fn tell(&self, order: DriverOrder) {
        // Sending fails only when the runtime has ended, and the order no longer matters.
        let _ = self.orders.send(order).await;
    }
}

/// Hands the news of the ledger on to the driver.
async fn hand_on(mut told: mpsc::Receiver<LedgerNews>, orders: mpsc::Sender<DriverOrder>) {
    while let Some(news) = told.recv().await {
        if orders.send(DriverOrder::Ledger { news: Box::new(news) }).await.is_err() {
            return;
        }
    }
}

fn start_bytes(
    clock: &Clock,
    viewers: &Arc<Viewers>,
    events: mpsc::Sender<super::bytes::ByteEvent>,
) -> std::io::Result<(Arc<Parsers>, Arc<Pump>)> {
    let parsers = Parsers::start(clock.clone(), viewers.clone(), events.clone())?;
    let pump = Pump::start(clock.clone(), parsers.clone(), events)?;
    parsers.connect(&pump);
    Ok((parsers, pump))
}

//! The console's side of the operator link, for a runtime in another process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::cards::{self, Card};
use super::connection::{ConsoleConnection, PendingReply, RuntimeConnection};
use super::liveness::{Silence, WatchedReader};
use super::local::{decline, lock};
use super::own_notices;
use super::screen::{RemoteScreens, ScreenUpdate};
use super::update::KnownItems;
use crate::envelope::TaskId;
use crate::link::frame::{Frame, MAX_FROM_CONSOLE, MAX_FROM_RUNTIME};
use crate::link::lines::ConnectionReader;
use crate::link::protocol::{Act, ClientMessage, ConsoleView, Reply, Request, ServerMessage};
use crate::link::{CarrierLink, ClientRole, Error, Hello, RuntimeRoute};
use crate::model::{PlaceId, Snapshot, Subject};
use crate::terminal::Contents;

/// Messages that may be queued for writing; beyond this, senders wait.
const MESSAGES: usize = 64;
/// How long the first snapshot may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same for a link to another machine, which may be slow.
const CARRIED_PATIENCE: Duration = Duration::from_secs(30);

/// A runtime in another process. Dropping it closes the connection.
pub(super) struct RemoteRuntime {
    state: Arc<RemoteState>,
    messages: mpsc::Sender<Frame>,
    shown: watch::Sender<ConsoleView>,
    _open: DropGuard,
}

/// What the runtime has sent so far.
// Locks, not messages: the console reads screens while it draws, and must not wait for a reply.
struct RemoteState {
    connected: watch::Sender<bool>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    screens: Mutex<RemoteScreens>,
    screens_changed: Arc<Notify>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Reply, String>>>>,
    /// The nonces that answers must carry.
    nonces: Mutex<HashMap<Subject, String>>,
    /// Whether a program carries the connection, from another machine or container.
    is_carried: bool,
    /// Why the connection broke.
    lost: OnceLock<String>,
    next_id: AtomicU64,
}

impl RemoteRuntime {
    /// Attaches to a runtime, and waits for its first snapshot.
    pub(super) async fn attach(way: &RuntimeRoute, cwd: PathBuf) -> Result<RuntimeConnection, Error> {
        let hello = Hello::new(ClientRole::Operator, cwd);
        let mut dialed = way.dial(&hello).await?;
        let mut link = dialed.take_link();
        let patience = if link.is_carried() { CARRIED_PATIENCE } else { PATIENCE };
        let mut reader = WatchedReader::new(dialed.lines.into_reader());
        let first = tokio::time::timeout(patience, first_snapshot(&mut reader));
        let (known, first) = match first.await {
            Ok(Ok(first)) => first,
            Ok(Err(error)) => return Err(link.why().await.unwrap_or(error)),
            Err(_) => {
                return Err(Error::handshake(format!("no snapshot within {} s", patience.as_secs())));
            }
        };
        let state = Arc::new(RemoteState {
            connected: watch::Sender::new(true),
            snapshot: watch::Sender::new(Arc::new(first)),
            screens: Mutex::default(),
            screens_changed: Arc::default(),
            waiting: Mutex::default(),
            nonces: Mutex::default(),
            is_carried: link.is_carried(),
            lost: OnceLock::new(),
            next_id: AtomicU64::new(1),
        });
        let (messages, outgoing) = mpsc::channel(MESSAGES);
        let shown = watch::Sender::default();
        let open = CancellationToken::new();
        let silence = link.is_carried().then(|| reader.silence());
        let lost = state.clone().wait_for_silence(silence, messages.downgrade());
        let taken = watch::Sender::new(0);
        let writing = write(dialed.writer, outgoing, shown.subscribe(), taken.subscribe());
        // Ends with the connection or with the last clone, whichever comes first.
        let reading =
            RemoteReader { state: Arc::clone(&state), reader, known, shown: shown.subscribe(), taken };
        tokio::spawn(converse((reading, link), writing, lost, open.clone()));
        Ok(Arc::new(Self { state, messages, shown, _open: open.drop_guard() }))
    }

    async fn ask(&self, ask: Request) -> Result<Reply, Error> {
        let id = self.state.next_id.fetch_add(1, Ordering::Relaxed);
        let nonce = lock(&self.state.nonces).get(&ask.subject).cloned();
        let frame = Frame::json(&ClientMessage::Ask { id, nonce, ask })?;
        // The runtime would close the connection.
        if frame.length() > MAX_FROM_CONSOLE {
            return decline(format_args!("too long: {} bytes, at most {MAX_FROM_CONSOLE}", frame.length()));
        }
        let (answer, answered) = oneshot::channel();
        lock(&self.state.waiting).insert(id, answer);
        // When the connection ends, the receiver is dropped first and then all waiting callers are removed, so that
        // none waits forever.
        if self.messages.send(frame).await.is_err() {
            lock(&self.state.waiting).remove(&id);
            return Err(Error::Gone);
        }
        answered.await.map_err(|_| Error::Gone)?.or_else(decline)
    }
}

impl ConsoleConnection for RemoteRuntime {
    fn why_lost(&self) -> Option<String> {
        self.state.lost.get().cloned()
    }

    fn link_state(&self) -> watch::Receiver<bool> {
        self.state.connected.subscribe()
    }

    fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.state.snapshot.subscribe()
    }

    fn screens_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.state.screens_changed)
    }

    fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        lock(&self.state.screens).generation(task)
    }

    fn screen(&self, task: &TaskId) -> Option<Contents> {
        lock(&self.state.screens).contents(task).cloned()
    }

    fn show(&self, shown: ConsoleView) {
        self.shown.send_if_modified(|now| {
            let changed = *now != shown;
            *now = shown;
            changed
        });
    }

    fn of_others(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        // A runtime on another machine has other process ids: what has this one's there is somebody else.
        match self.state.is_carried {
            true => Arc::clone(snapshot),
            false => own_notices::without(snapshot, std::process::id()),
        }
    }

    fn ask_at<'a>(&'a self, _place: Option<&'a PlaceId>, request: Request) -> PendingReply<'a> {
        Box::pin(self.ask(request))
    }
}

/// Reads frames until the first snapshot is complete; nothing else may come before it.
async fn first_snapshot(
    reader: &mut WatchedReader<ConnectionReader>,
) -> Result<(KnownItems, Snapshot), Error> {
    let mut known = KnownItems::default();
    loop {
        let frame = reader.frame(MAX_FROM_RUNTIME).await?.ok_or(Error::Gone)?;
        match frame.parse()? {
            ServerMessage::Items(items) => known.take(items)?,
            ServerMessage::Update(update) => {
                let first = known.snapshot(*update)?;
                return Ok((known, first));
            }
            _ => return Err(Error::frame("something else before the first snapshot")),
        }
    }
}

/// Runs the conversation until either side ends it.
async fn converse(
    (reading, mut link): (RemoteReader, CarrierLink),
    writing: impl Future<Output = Result<(), Error>>,
    lost: impl Future<Output = String>,
    open: CancellationToken,
) {
    let state = Arc::clone(&reading.state);
    // What the runtime sent before it went is still read.
    let writing = async {
        if let Err(error) = writing.await {
            tracing::info!(%error, "the runtime takes nothing more");
            std::future::pending().await
        }
    };
    let ended = tokio::select! {
        () = writing => Ok(()),
        ended = reading.run() => ended,
        why = lost => {
            // The carrier has no explanation: it does not know the reason either.
            let _ = state.lost.set(why);
            Ok(())
        }
        () = open.cancelled() => Ok(()),
    };
    if let Err(error) = ended {
        tracing::warn!(%error, "the operator link broke");
        // It was broken here: the carrier has no explanation.
        if let Error::Frame { problem } = error {
            let _ = state.lost.set(format!("it sends what no runtime does: {problem}"));
        }
    }
    // First inform callers that wait for an answer: finding out why the connection broke may take a moment.
    lock(&state.waiting).clear();
    if !open.is_cancelled()
        && state.lost.get().is_none()
        && let Some(why) = link.why().await
    {
        let _ = state.lost.set(why.with_cause());
    }
    state.connected.send_replace(false);
    state.screens_changed.notify_one();
}

async fn write(
    mut writer: OwnedWriteHalf,
    mut outgoing: mpsc::Receiver<Frame>,
    mut shown: watch::Receiver<ConsoleView>,
    mut taken: watch::Receiver<u64>,
) -> Result<(), Error> {
    loop {
        let frame = tokio::select! {
            biased;
            Some(frame) = outgoing.recv() => frame,
            Ok(()) = shown.changed() => Frame::json(&ClientMessage::Show(shown.borrow_and_update().clone()))?,
            Ok(()) = taken.changed() => Frame::json(&ClientMessage::Taken(*taken.borrow_and_update()))?,
            else => return Ok(()),
        };
        frame.write(&mut writer).await?;
    }
}

/// The task that reads from the runtime.
struct RemoteReader {
    state: Arc<RemoteState>,
    reader: WatchedReader<ConnectionReader>,
    known: KnownItems,
    /// The tasks on this console's screen.
    shown: watch::Receiver<ConsoleView>,
    /// The number of screen updates received.
    taken: watch::Sender<u64>,
}

impl RemoteReader {
    async fn run(mut self) -> Result<(), Error> {
        while let Some(frame) = self.reader.frame(MAX_FROM_RUNTIME).await? {
            match frame.parse()? {
                ServerMessage::Screen(update) => {
                    self.state.draw(update, &self.shown.borrow())?;
                    self.taken.send_modify(|count| *count += 1);
                }
                ServerMessage::Items(items) => self.known.take(items)?,
                ServerMessage::Update(update) => {
                    self.state.snapshot.send_replace(Arc::new(self.known.snapshot(*update)?));
                }
                ServerMessage::Cards(cards) => self.state.take(cards),
                ServerMessage::Reply { id, reply } => {
                    if let Some(waiting) = lock(&self.state.waiting).remove(&id) {
                        // The caller may have stopped waiting.
                        let _ = waiting.send(reply);
                    }
                }
                ServerMessage::Event(_) | ServerMessage::Begun { .. } => {
                    return Err(Error::frame("a message for scripts"));
                }
            }
        }
        Ok(())
    }
}

impl RemoteState {
    /// Waits until a carried link has been silent for too long despite requests; never returns for a link on this
    /// machine.
    async fn wait_for_silence(
        self: Arc<Self>,
        silence: Option<Silence>,
        messages: mpsc::WeakSender<Frame>,
    ) -> String {
        let Some(silence) = silence else { return std::future::pending().await };
        let ask = || {
            if let Some(messages) = messages.upgrade() {
                let id = self.next_id.fetch_add(1, Ordering::Relaxed);
                // No call has this number, so the answer is short. If the queue is full, another message would show
                // nothing new.
                if let Ok(frame) = Frame::json(&ClientMessage::Ask {
                    id,
                    nonce: None,
                    ask: Act::Record.on(Subject::Call(0)),
                }) {
                    let _ = messages.try_send(frame);
                }
            }
        };
        silence.too_long(ask).await
    }

    /// Stores the nonces that answers must carry.
    fn take(&self, cards: Vec<Card>) {
        let waiting = cards::waiting(&self.snapshot.borrow());
        let mut nonces = lock(&self.nonces);
        nonces.retain(|card, _| waiting.contains(card));
        let cards = cards.into_iter().filter(|card| card.has_nonce() && waiting.contains(&card.id));
        nonces.extend(cards.map(|card| (card.id, card.nonce)));
    }

    /// Applies an update to the screen that the console reads.
    ///
    /// # Errors
    /// If the screens are larger than a console holds.
    fn draw(&self, update: ScreenUpdate, shown: &ConsoleView) -> Result<(), Error> {
        let is_shown = |id: &TaskId| shown.visible.contains(id) || shown.focus.as_ref() == Some(id);
        let snapshot = self.snapshot.borrow();
        let is_live =
            |id: &TaskId| snapshot.tasks.iter().any(|task| task.id == *id && !task.status.is_terminal());
        lock(&self.screens).apply(update, is_live, is_shown)?;
        self.screens_changed.notify_one();
        Ok(())
    }
}

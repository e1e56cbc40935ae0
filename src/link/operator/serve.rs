//! The runtime's side of one attached console.
//!
//! One future reads requests, another writes. What to write is determined at the time of writing: a console that
//! reads slowly gets fewer snapshots and screens, never older ones, and uses no memory here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::ConsoleConnection;
use super::local::LocalRuntime;
use super::screen::{ScreenUpdate, SentScreen};
use super::stopping::StopRequests;
use super::update::SentItems;
use crate::envelope::TaskId;
use crate::link::frame::{Frame, MAX_FROM_CONSOLE, MAX_FROM_RUNTIME};
use crate::link::lines::ConnectionReader;
use crate::link::protocol::{Act, ClientMessage, ConsoleView, Reply, Request, ServerMessage};
use crate::link::{Client, Error};
use crate::model::{CloseReason, Snapshot};
use crate::process::console_process;
use crate::runtime::Handle;

/// The minimum interval between two snapshots.
const SNAPSHOT_PACE: Duration = Duration::from_millis(100);
/// The minimum interval between two rounds of screens.
const SCREEN_PACE: Duration = Duration::from_millis(33);
/// How long after a key its answer on screen is sent immediately.
const ECHO: Duration = Duration::from_millis(100);
/// The most requests of one console in progress; further ones wait in the socket.
const ASKS: usize = 64;

/// Serves one console until it disconnects or `stop` is cancelled. Its requests are carried out even if it has
/// disconnected. Cancels `end` once the console has shut the runtime down.
///
/// # Errors
/// If the console breaks the protocol or cannot be written to.
pub async fn serve(
    client: Client,
    runtime: Handle,
    (end, requests): (CancellationToken, StopRequests),
    stop: CancellationToken,
) -> Result<(), Error> {
    let Client { hello, peer, lines, writer, .. } = client;
    let console = console_process(peer.pid).carrying(hello.from);
    if runtime.is_watched() {
        runtime.notice_of(&console, format!("another console has connected: {console}"));
    }
    let local = LocalRuntime::new(runtime, hello.cwd, console);
    let (shown, taken) = (watch::Sender::default(), watch::Sender::new(0));
    let typed = watch::Sender::new(None);
    let (replies, replied) = mpsc::channel(ASKS);
    let updates = SnapshotFeed::new(&local);
    let screens = ScreenFeed::new(&local, shown.subscribe(), taken.subscribe(), typed.subscribe());
    let asks = TaskTracker::new();
    let reading = ConsoleReader { local, shown, taken, typed, replies, requests, asks };
    let asks = reading.asks.clone();
    let reading = reading.run(lines.into_reader());
    tokio::pin!(reading);
    let ended = tokio::select! {
        ended = &mut reading => ended,
        written = write(writer, replied, updates, screens, &stop) => match written {
            Ok(is_shut_down) => {
                if is_shut_down {
                    end.cancel();
                }
                Ok(())
            }
            // What a console asked for before it went has not been read yet.
            Err(error) => stop.run_until_cancelled(reading).await.unwrap_or(Ok(())).and(Err(error)),
        },
    };
    asks.close();
    asks.wait().await;
    ended
}

/// The future that reads the console's messages.
struct ConsoleReader {
    local: LocalRuntime,
    shown: watch::Sender<ConsoleView>,
    taken: watch::Sender<u64>,
    /// When the person last typed into a task.
    typed: watch::Sender<Option<Instant>>,
    replies: mpsc::Sender<OutgoingReply>,
    /// Where a request to end a runtime that is embedded in a console goes.
    requests: StopRequests,
    asks: TaskTracker,
}

/// A reply on its way to the writer, and whether it is the one to a shutdown, after which nothing follows.
type OutgoingReply = (ServerMessage, bool);

impl ConsoleReader {
    async fn run(self, mut reader: ConnectionReader) -> Result<(), Error> {
        let room = Arc::new(Semaphore::new(ASKS));
        while let Some(frame) = Frame::read(&mut reader, MAX_FROM_CONSOLE).await? {
            match frame.parse()? {
                ClientMessage::Show(shown) => {
                    self.local.note_shown(&shown);
                    self.shown.send_replace(shown);
                }
                ClientMessage::Taken(count) => {
                    self.taken.send_replace(count);
                }
                ClientMessage::Stream(_) | ClientMessage::Cut { .. } => {
                    return Err(Error::frame("a message for scripts"));
                }
                ClientMessage::Ask { id, nonce, ask } => {
                    if matches!(ask.act, Act::Send(_)) {
                        self.typed.send_replace(Some(Instant::now()));
                    }
                    let Ok(place) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
                    let (local, replies) = (self.local.clone(), self.replies.clone());
                    let requests = self.requests.clone();
                    self.asks.spawn(async move {
                        let reply = answer(&local, &requests, id, (ask, nonce)).await;
                        // A console that has disconnected needs no reply.
                        let _ = replies.send(reply).await;
                        drop(place);
                    });
                }
            }
        }
        Ok(())
    }
}

/// Carries out a request.
async fn answer(
    local: &LocalRuntime,
    requests: &StopRequests,
    id: u64,
    (ask, nonce): (Request, Option<String>),
) -> OutgoingReply {
    let is_embedded = !local.runtime.snapshot().borrow().headless;
    let refusal = match &ask.act {
        Act::Shutdown(CloseReason::StopCommand) if is_embedded => {
            let ends = requests.ask(local.console.to_string()).await;
            (!ends).then_some("the person at the console that this runtime lives in keeps it running")
        }
        Act::Shutdown(_) if is_embedded => {
            Some("this runtime lives in another console; quit that one, or run `pilothouse serve --stop`")
        }
        _ => None,
    };
    let reply = match refusal {
        Some(refusal) => Err(refusal.to_owned()),
        None => local.handle(ask, nonce.as_deref()).await.map_err(|error| error.to_string()),
    };
    let is_last = matches!(reply, Ok(Reply::Shutdown(_)));
    (ServerMessage::Reply { id, reply }, is_last)
}

/// Writes replies, snapshots and screens, in this order of urgency. Returns true after the reply to a shutdown, or false
/// after the last snapshot, on `stop`.
async fn write(
    mut writer: OwnedWriteHalf,
    mut replied: mpsc::Receiver<OutgoingReply>,
    mut updates: SnapshotFeed,
    mut screens: ScreenFeed,
    stop: &CancellationToken,
) -> Result<bool, Error> {
    loop {
        let frames = tokio::select! {
            biased;
            Some((message, is_last)) = replied.recv() => {
                let frame = reply_frame(message)?;
                if is_last {
                    frame.write(&mut writer).await?;
                    return Ok(true);
                }
                vec![frame]
            }
            () = stop.cancelled() => {
                for frame in updates.newest()?.0 {
                    frame.write(&mut writer).await?;
                }
                return Ok(false);
            }
            update = updates.next() => {
                let (mut frames, snapshot) = update?;
                let cards = screens.local.issue_cards(&snapshot);
                if !cards.is_empty() {
                    frames.push(Frame::json(&ServerMessage::Cards(cards))?);
                }
                frames
            }
            changed = screens.next() => {
                let frames = changed.into_iter().map(|update| Frame::json(&ServerMessage::Screen(update)));
                frames.collect::<Result<_, _>>()?
            }
        };
        for frame in frames {
            frame.write(&mut writer).await?;
        }
    }
}

/// Returns a reply as a frame within the size that the other side accepts.
fn reply_frame(message: ServerMessage) -> Result<Frame, Error> {
    let frame = Frame::json(&message)?;
    match message {
        ServerMessage::Reply { id, .. } if frame.length() > MAX_FROM_RUNTIME => {
            let reply = Err(format!("the answer is too long to be sent: {} bytes", frame.length()));
            Frame::json(&ServerMessage::Reply { id, reply })
        }
        _ => Ok(frame),
    }
}

/// The snapshots sent to a console.
struct SnapshotFeed {
    runtime: Handle,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    sent: SentItems,
    due: Instant,
}

impl SnapshotFeed {
    fn new(local: &LocalRuntime) -> Self {
        let runtime = local.runtime.clone();
        let mut snapshots = runtime.snapshot();
        snapshots.mark_changed();
        Self { runtime, snapshots, sent: SentItems::default(), due: Instant::now() }
    }

    /// Waits for the next snapshot, and returns the frames for it along with the snapshot. Cancellation-safe.
    async fn next(&mut self) -> Result<(Vec<Frame>, Arc<Snapshot>), Error> {
        sleep_until(self.due).await;
        self.snapshots.changed().await.map_err(|_| Error::Gone)?;
        self.due = Instant::now() + SNAPSHOT_PACE;
        self.newest()
    }

    /// Like [`Self::next`], for the current snapshot, without waiting.
    fn newest(&mut self) -> Result<(Vec<Frame>, Arc<Snapshot>), Error> {
        let new = Arc::clone(&self.snapshots.borrow_and_update());
        // Looked up after the snapshot was taken, so that all that it shows is among them.
        let changed = self.runtime.changed_since(self.sent.snapshot);
        Ok((self.sent.frames(&new, changed.as_ref())?, new))
    }
}

/// The generation of a screen, and the number of columns it is shown with.
type Seen = (u64, Option<u16>);

/// The screens shown by a console.
struct ScreenFeed {
    local: LocalRuntime,
    shown: watch::Receiver<ConsoleView>,
    taken: watch::Receiver<u64>,
    typed: watch::Receiver<Option<Instant>>,
    /// The last key whose answer was sent.
    answered: Option<Instant>,
    /// Number of updates sent since the start.
    count: u64,
    /// What the console has of each shown screen, and the generation and width that it has completely.
    sent: HashMap<TaskId, (Option<Seen>, SentScreen)>,
    due: Instant,
}

impl ScreenFeed {
    fn new(
        local: &LocalRuntime,
        shown: watch::Receiver<ConsoleView>,
        taken: watch::Receiver<u64>,
        typed: watch::Receiver<Option<Instant>>,
    ) -> Self {
        let (local, sent, due) = (local.clone(), HashMap::new(), Instant::now());
        Self { local, shown, taken, typed, answered: None, count: 0, sent, due }
    }

    /// Waits until the console has received what it was sent and a shown screen has changed. Cancellation-safe.
    async fn next(&mut self) -> Vec<ScreenUpdate> {
        let wake = self.local.screens_changed();
        loop {
            let count = self.count;
            if self.taken.wait_for(|taken| *taken >= count).await.is_err() {
                return std::future::pending().await;
            }
            // The answer to a key is not delayed.
            while Instant::now() < self.due && !self.is_echo() {
                tokio::select! {
                    () = sleep_until(self.due) => {}
                    () = wake.notified(), if self.is_awaited() => {}
                    Ok(()) = self.typed.changed() => {}
                }
            }
            let (updates, is_later) = self.look();
            if !updates.is_empty() {
                self.count += updates.len() as u64;
                self.due = Instant::now() + SCREEN_PACE;
                let focus = self.shown.borrow().focus.clone();
                if updates.iter().any(|update| Some(&update.task) == focus.as_ref()) {
                    self.answered = *self.typed.borrow();
                }
                return updates;
            }
            tokio::select! {
                // A wake-up that came while nobody waited is stored by the notify.
                () = wake.notified() => {}
                () = sleep(SCREEN_PACE), if is_later => {}
                changed = self.shown.changed() => if changed.is_err() { return std::future::pending().await },
            }
        }
    }

    /// Tells whether a key was typed a moment ago whose answer was not sent yet.
    fn is_awaited(&self) -> bool {
        let key = *self.typed.borrow();
        key.is_some_and(|at| at.elapsed() < ECHO) && key != self.answered
    }

    /// Tells whether the focused task has answered a key: one update for each key is sent immediately.
    fn is_echo(&self) -> bool {
        let focus = self.shown.borrow().focus.clone().filter(|_| self.is_awaited());
        focus.is_some_and(|task| {
            let generation = self.local.runtime.screen(&task).map(|screen| screen.generation());
            self.sent.get(&task).and_then(|(all_of, _)| *all_of).map(|(sent, _)| sent) != generation
        })
    }

    /// Returns the changes of the shown screens since they were last sent, and whether a screen that is busy or in
    /// the middle of a frame was left for later.
    fn look(&mut self) -> (Vec<ScreenUpdate>, bool) {
        let shown = self.shown.borrow_and_update().clone();
        let tasks: Vec<TaskId> = shown.focus.iter().chain(&shown.visible).cloned().collect();
        self.sent.retain(|task, _| tasks.contains(task));
        let (mut updates, mut is_later) = (Vec::new(), false);
        for task in &tasks {
            let Some(screen) = self.local.runtime.screen(task) else { continue };
            let columns = shown.columns.get(task).copied();
            let seen = (screen.generation(), columns);
            if self.sent.get(task).is_some_and(|(all_of, _)| *all_of == Some(seen)) {
                continue;
            }
            if let Some(contents) = screen.contents(columns) {
                let (all_of, sent) = self.sent.entry(task.clone()).or_default();
                let (update, is_all) = sent.update(task, &contents);
                *all_of = is_all.then_some(seen);
                updates.push(update);
            } else {
                let task = self.local.runtime.task(task);
                is_later |= task.is_some_and(|task| !task.status.is_terminal());
            }
        }
        (updates, is_later)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::config::Limits;
    use crate::envelope::{Actor, Envelope};
    use crate::journal::Durability;
    use crate::link::operator::remote::RemoteRuntime;
    use crate::link::operator::update::KnownItems;
    use crate::link::{ClientRole, Hello, LineReader, MAX_FRAME, Peer, RuntimeRoute, VERSION, hello};
    use crate::model::{
        AgentPeer, AnswerInput, AnswerValue, Decision, Evidence, LineRange, LoopView, NewQuestion,
        ProgramView, QuestionKind, QuestionOrigin, RunState, StreamView, Subject,
    };
    use crate::process::own_console_process;
    use crate::runtime::Options;
    use crate::tools::{self, Caller};

    /// Starts a runtime that keeps four calls and cannot start any command.
    fn runtime(dir: &Path) -> LocalRuntime {
        let limits = Limits { recent_calls: 4, ..Limits::default() };
        let options = Options { limits, ..Options::of_test(dir) };
        let runtime = Handle::start(options).expect("starts");
        LocalRuntime::new(runtime, dir.to_owned(), own_console_process())
    }

    fn program(which: usize) -> Arc<ProgramView> {
        let pass = u32::try_from(which).expect("small");
        Arc::new(ProgramView {
            run: format!("run-{}", which % 12),
            call: None,
            started_by: Actor::Cli,
            path: "/w/p.prose".into(),
            source: "session \"go\"".into(),
            folder: "/w".into(),
            state: if which.is_multiple_of(2) { RunState::Running } else { RunState::Completed },
            steps: Vec::new(),
            events: Vec::new(),
            earlier_events: 0,
            branches: Vec::new(),
            loops: vec![LoopView { lines: LineRange::one(1), pass, max: None }],
            bindings: Vec::new(),
            sessions: 0,
            cost: 0,
            error: None,
            started_at: jiff::Timestamp::from_second(i64::from(pass / 12)).expect("a time"),
            ended_at: None,
        })
    }

    /// Makes one change of any kind; what waits for somebody goes on beside what follows.
    async fn change(local: &LocalRuntime, what: u8, which: usize) {
        let runtime = local.runtime.clone();
        let now = runtime.snapshot().borrow().clone();
        let agent = format!("agent{}", which % 3);
        let peer = AgentPeer { client: "client 1".into(), pid: 1, uid: 0, profile: "receipt" };
        let call = now.calls.get(which % now.calls.len().max(1)).map_or(0, |call| call.seq);
        let task = now.tasks.get(which % now.tasks.len().max(1)).map(|task| task.id.clone());
        let question = now.questions.get(which % now.questions.len().max(1)).map(|open| open.id.clone());
        let name = which.is_multiple_of(2).then(|| format!("name {which}"));
        let command = json!({"cmd": "true"});
        match (what, task, question) {
            (0, ..) => drop(local.handle(Request::call("ExecCommand", command), None).await),
            (1, Some(task), _) => runtime.rename(&task, name).await,
            (2, Some(task), _) => runtime.dismiss(&task).await,
            (3, ..) => {
                runtime.begin_call(&Actor::Agent(agent), "TaskList", Durability::Written, &json!({})).await;
            }
            (4, ..) => runtime.end_stream(call, &Envelope::success("exec", "done", &json!({})), "done"),
            (5, ..) => runtime.progress(call, StreamView { done: which as u64, ..StreamView::default() }),
            (6, ..) => runtime.abandon_call(call),
            (7, ..) => drop(runtime.agent_connected(&agent, &peer)),
            (8, ..) => runtime.agent_gone(&agent, &peer),
            (9, ..) => drop(local.handle(Act::Tell("go on".into()).on(Subject::Agent(agent)), None).await),
            (10, ..) => runtime.notice(format!("notice {which}"), false),
            (11, ..) => runtime.show_program(program(which)),
            (12, ..) => {
                let asking = NewQuestion {
                    origin: QuestionOrigin::default(),
                    asked_by: Actor::Cli,
                    kind: QuestionKind::YesNo { yes: String::new(), no: String::new() },
                    text: "go on?".into(),
                    evidence: Evidence::default(),
                    within: None,
                    agents: true,
                    expected: None,
                };
                tokio::spawn(async move { runtime.ask(asking).await });
            }
            (13, _, Some(question)) => {
                let given = AnswerInput { value: AnswerValue::Yes, note: None };
                drop(runtime.answer(&Actor::Operator, None, &question, given).await);
            }
            (14, _, Some(question)) => {
                drop(runtime.comment(&Actor::Cli, &question, "why?".into()).await);
            }
            (15, _, Some(question)) => drop(runtime.let_agents(&question, which.is_multiple_of(2)).await),
            (16, ..) => runtime.pause(now.gate.paused.is_none(), None).await,
            (17, ..) => {
                let caller = Caller::new(Actor::Agent(agent), now.workspace.clone());
                tokio::spawn(async move { tools::call(&runtime, &caller, "ExecCommand", command).await });
            }
            _ => {}
        }
    }

    /// Sends a console what it has not seen, and compares what it then has with what the runtime has.
    fn send(feed: &mut SnapshotFeed, console: &mut KnownItems) {
        let (frames, snapshot) = feed.newest().expect("frames");
        for frame in frames {
            match frame.parse().expect("parses") {
                ServerMessage::Items(items) => console.take(items).expect("accepted"),
                ServerMessage::Update(update) => {
                    assert_eq!(console.snapshot(*update).expect("accepted"), *snapshot);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn an_act_on_another_subject_than_its_own_is_refused() {
        let dir = tempfile::tempdir().expect("temp dir");
        let local = runtime(dir.path());
        let task: TaskId = "task_00000000".parse().expect("an id");
        let subjects = [
            Subject::Runtime,
            Subject::Home,
            Subject::Gate,
            Subject::Task(task.clone()),
            Subject::Tasks(vec![task]),
            Subject::Call(1),
            Subject::Held(1),
            Subject::Agent("a".into()),
        ];
        let given = AnswerInput { value: AnswerValue::Approve, note: None };
        let acts = [
            (6, Act::Decide { hash: String::new(), cost: 0, decision: Decision::Once }),
            (8, Act::Answer { cost: 0, given }),
            (8, Act::LetAgents(true)),
            (2, Act::Pause(false)),
            (0, Act::EndPermissions),
            (1, Act::Shutdown(CloseReason::StopCommand)),
            (7, Act::Tell("go on".into())),
            (3, Act::Dismiss),
        ];
        for (own, act) in acts {
            for (at, subject) in subjects.iter().enumerate().filter(|(at, _)| *at != own) {
                let done = local.handle(act.clone().on(subject.clone()), None).await;
                assert!(done.is_err(), "{act:?} on {at}, {subject:?}: {done:?}");
            }
        }
        assert!(*local.link_state().borrow(), "it was not shut down");
    }

    #[tokio::test]
    async fn a_request_that_a_console_sent_before_it_closed_is_carried_out() {
        let dir = tempfile::tempdir().expect("temp dir");
        let local = runtime(dir.path());
        // Whether reading or writing finds out first that it is gone is left to chance.
        for round in 0..16 {
            let (mut console, ours) = tokio::net::UnixStream::pair().expect("a pair");
            let paused = round % 2 == 0;
            let ask = ClientMessage::Ask { id: 1, nonce: None, ask: Act::Pause(paused).on(Subject::Gate) };
            Frame::json(&ask).expect("a frame").write(&mut console).await.expect("sent");
            drop(console);
            let (reader, writer) = ours.into_split();
            let client = Client {
                hello: Hello::new(ClientRole::Operator, dir.path().to_owned()),
                peer: Peer { uid: 0, pid: std::process::id(), task_host: None, lineage: None },
                task: None,
                is_console: true,
                parents: Vec::new(),
                lines: LineReader::new(reader, MAX_FRAME),
                writer,
            };
            let way = (CancellationToken::new(), StopRequests::default());
            drop(serve(client, local.runtime.clone(), way, CancellationToken::new()).await);
            local.runtime.catch_up().await;
            assert_eq!(local.runtime.snapshot().borrow().gate.paused.is_some(), paused, "round {round}");
        }
    }

    #[tokio::test]
    async fn a_reply_that_a_runtime_sent_before_it_closed_is_read() {
        let dir = tempfile::tempdir().expect("temp dir");
        let local = runtime(dir.path());
        let path = dir.path().join("operator.sock");
        let listener = tokio::net::UnixListener::bind(&path).expect("bound");
        let way = RuntimeRoute::Socket(path);
        let ack = json!({"v": VERSION, "ok": true, "workspace": "/w", "runtime_pid": 1});
        for round in 0..16 {
            let admits = async {
                let (reader, mut writer) = listener.accept().await.expect("a console").0.into_split();
                let mut lines = LineReader::new(reader, MAX_FROM_CONSOLE);
                let mut hello =
                    Hello::parse(&hello::receive(&mut lines).await.expect("a line")).expect("a hello");
                hello.receive_environment(lines.reader()).await.expect("its environment");
                hello::send(&mut writer, &ack).await.expect("sent");
                for frame in SnapshotFeed::new(&local).newest().expect("frames").0 {
                    frame.write(&mut writer).await.expect("sent");
                }
                (lines.into_reader(), writer)
            };
            let attaches = RemoteRuntime::attach(&way, dir.path().to_owned());
            let (attached, (mut reader, mut writer)) = tokio::join!(attaches, admits);
            let console = attached.expect("attaches");
            let replies = async {
                let frame =
                    Frame::read(&mut reader, MAX_FROM_CONSOLE).await.expect("reads").expect("a request");
                let ClientMessage::Ask { id, .. } = frame.parse().expect("a message") else {
                    panic!("{frame:?}")
                };
                let reply = ServerMessage::Reply { id, reply: Ok(Reply::Done) };
                Frame::json(&reply).expect("a frame").write(&mut writer).await.expect("sent");
                drop((reader, writer));
                // It has something to send as well, and may find out by that.
                let task = "task_00000000".parse().ok();
                console.show(ConsoleView { focus: task, ..ConsoleView::default() });
            };
            let (replied, ()) =
                tokio::join!(console.ask_at(None, Act::EndPermissions.on(Subject::Runtime)), replies);
            assert!(matches!(replied, Ok(Reply::Done)), "round {round}: {replied:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Each store of a runtime notes what it changes.
        #[test]
        fn a_console_has_the_state_of_the_runtime_whatever_updates_it_skips(
            changes in prop::collection::vec((0..18_u8, 0..36_usize, any::<bool>()), 1..60),
        ) {
            let dir = tempfile::tempdir().expect("temp dir");
            let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("tokio");
            tokio.block_on(async {
                let local = runtime(dir.path());
                let (mut feed, mut console) = (SnapshotFeed::new(&local), KnownItems::default());
                for (what, which, is_sent) in changes {
                    change(&local, what, which).await;
                    if is_sent {
                        local.runtime.catch_up().await;
                        send(&mut feed, &mut console);
                    }
                }
                local.runtime.shutdown().await;
                send(&mut feed, &mut console);
            });
        }
    }
}

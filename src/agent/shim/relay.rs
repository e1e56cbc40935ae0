//! The shim's main loop: passes lines from the agent to whichever side answers them, and the answers back.
//!
//! No side ever blocks another: what a reader does not accept yet is queued in its outbox, and each outbox is
//! bounded. While the agent leaves answers unread, no further request is handed over; while too many requests are
//! queued, none is read. So an agent that reads gets every answer, however much it sends ahead, and one that never
//! reads only fills a bounded queue.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use rmcp::model::RequestId;
use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout};

use super::join::{JoinedRuntime, MAX_LINE, Shim, ShimError, ShimTarget};
use super::loss::RequestLoss;
use super::outbox::{LineQueue, QueuedLine, write_lines};
use super::requests::{AnswerLine, AnsweringSide, ClientLine, Requests};
use super::roots::RootsQuestion;
use crate::agent::local_service;
use crate::agent::transport::IN_FLIGHT;
use crate::link::{self, CarrierLink, Hello, LineReader, ReceivedLine};

/// The maximum size of queued requests, in bytes; beyond that, nothing is read from the agent.
const REQUESTS: usize = 4 << 20;
/// The maximum size of queued answers, in bytes; beyond that, no request is handed over.
const ANSWERS: usize = 1 << 20;
/// Requests that one side may have in flight: the limit of a connection, less the replayed opening.
const AT_ONCE: usize = IN_FLIGHT - 1;
/// What some programs write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How long to wait for answers once the agent has closed its end.
const DRAIN: Duration = Duration::from_millis(500);
/// Interval for checking whether there is a runtime to join.
const LOOK: Duration = Duration::from_secs(2);
/// The same interval after a runtime has refused.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Both ends and the state between them.
pub(super) struct ShimRelay<R> {
    shim: Shim,
    requests: Requests,
    agent: LineReader<R>,
    has_left: bool,
    answers: LineQueue,
    own: SideConnection,
    runtime: SideConnection,
    joining: Option<JoinAttempt>,
    look: Interval,
    roots: RootsQuestion,
}

/// The connection to one side that answers.
#[derive(Default)]
struct SideConnection {
    lines: Option<LineReader<OwnedReadHalf>>,
    outbox: LineQueue,
    /// The transport of the connection, if there is one.
    link: Option<CarrierLink>,
}

struct JoinAttempt {
    attempt: Pin<Box<dyn Future<Output = Result<Option<JoinedRuntime>, ShimError>>>>,
    /// Whether a call waits for it: a runtime is then started if there is none.
    is_needed: bool,
}

enum RelayEvent {
    Written,
    Sent(Option<RequestId>),
    Said(AnsweringSide, Vec<u8>),
    Gone(AnsweringSide),
    Joined(Result<Option<JoinedRuntime>, ShimError>),
    Look,
    ClientLine(Vec<u8>),
    /// The client has not said where it works.
    Rootless,
    Left,
}

impl<R: AsyncRead + Unpin> ShimRelay<R> {
    pub(super) fn new(shim: Shim, agent: LineReader<R>, answers: LineQueue) -> Self {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let roots = match shim.target {
            ShimTarget::Workspace { elsewhere: Some(_), .. } => RootsQuestion::Open,
            _ => RootsQuestion::Settled,
        };
        Self {
            requests: match shim.target {
                ShimTarget::Elsewhere(_) => Requests::new(shim.hello.profile).of_another_machine(),
                ShimTarget::Socket(_) | ShimTarget::Workspace { .. } => Requests::new(shim.hello.profile),
            },
            shim,
            agent,
            has_left: false,
            answers,
            own: SideConnection::default(),
            runtime: SideConnection::default(),
            joining: None,
            look,
            roots,
        }
    }

    /// Forwards lines until the agent closes its end, and then whatever is answered shortly after.
    pub(super) async fn run(mut self) -> Result<(), ShimError> {
        while !self.has_left {
            self.go_on().await?;
        }
        let rest = async {
            while !(self.requests.is_settled() && self.answers.is_empty()) {
                self.go_on().await?;
            }
            Ok(())
        };
        timeout(DRAIN, rest).await.unwrap_or_else(|_| {
            tracing::warn!("the agent left before all its requests were answered");
            Ok(())
        })
    }

    async fn go_on(&mut self) -> Result<(), ShimError> {
        match self.step().await.map_err(|source| ShimError::Stdio("read from the agent", source))? {
            RelayEvent::Written => {}
            RelayEvent::Sent(request) => request.iter().for_each(|id| self.requests.mark_sent(id)),
            RelayEvent::Said(side, line) => match self.requests.process_line(side, &line) {
                AnswerLine::AsItIs => self.answers.push(QueuedLine::line(line)),
                AnswerLine::As(line) => self.answers.push(QueuedLine::line(line)),
                AnswerLine::Nothing => {}
                AnswerLine::Broken => {
                    self.lane(side).disconnect();
                    let problem = "it sends what no runtime does".to_owned();
                    let answers =
                        self.requests.fail_runtime(RequestLoss::Link(&link::Error::Frame { problem }));
                    self.answer(answers);
                }
            },
            RelayEvent::Gone(side) => self.lose(side).await,
            RelayEvent::Joined(joined) => self.handle_join(joined),
            RelayEvent::Look => self.join(false),
            RelayEvent::ClientLine(line) => self.hear(line),
            RelayEvent::Rootless => self.roots = RootsQuestion::Settled,
            RelayEvent::Left => self.has_left = true,
        }
        if self.own.lines.is_none() && !self.own.outbox.is_empty() {
            self.open_own()?;
        }
        let may_join = self.joining.is_none() && self.roots.waits_until().is_none();
        if self.runtime.lines.is_none() && may_join && !self.runtime.outbox.is_empty() {
            self.join(true);
        }
        Ok(())
    }

    /// Waits for the next event. Answers come first, and the runtime before the agent: a request must not be handed
    /// to a runtime that has just ended.
    async fn step(&mut self) -> io::Result<RelayEvent> {
        let reads = self.answers.bytes() < ANSWERS;
        let hears = !self.has_left
            && self.answers.bytes() < 2 * ANSWERS
            && self.own.outbox.bytes() + self.runtime.outbox.bytes() < REQUESTS;
        let looks = !self.has_left
            && self.requests.client().is_some()
            && self.runtime.lines.is_none()
            && self.joining.is_none()
            && self.roots.waits_until().is_none();
        let waits = self.roots.waits_until();
        let sends_own = reads && self.own.may_send(self.requests.in_flight(AnsweringSide::Own));
        let sends = reads && self.runtime.may_send(self.requests.in_flight(AnsweringSide::Runtime));
        Ok(tokio::select! {
            biased;
            _ = self.answers.advance() => RelayEvent::Written,
            line = next_line(&mut self.own.lines), if reads => line_event(AnsweringSide::Own, line),
            line = next_line(&mut self.runtime.lines), if reads => line_event(AnsweringSide::Runtime, line),
            sent = self.own.outbox.advance(), if sends_own => RelayEvent::Sent(sent),
            sent = self.runtime.outbox.advance(), if sends => RelayEvent::Sent(sent),
            joined = end_of(&mut self.joining) => RelayEvent::Joined(joined),
            line = self.agent.next(), if hears => match line? {
                Some(ReceivedLine::Whole(line)) => RelayEvent::ClientLine(line),
                Some(ReceivedLine::TooLong) => {
                    tracing::warn!("a line of over {MAX_LINE} bytes was dropped");
                    RelayEvent::Written
                }
                None => RelayEvent::Left,
            },
            _ = self.look.tick(), if looks => RelayEvent::Look,
            () = sleep_until(waits.unwrap_or_else(Instant::now)), if waits.is_some() => RelayEvent::Rootless,
        })
    }

    /// Handles a line from the agent.
    fn hear(&mut self, mut line: Vec<u8>) {
        if line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.trim_ascii().is_empty() || self.hear_of_roots(&line) {
            return;
        }
        match self.requests.client_said(&line) {
            ClientLine::Nothing => {}
            ClientLine::Reply => self.runtime.outbox.push(QueuedLine::line(line)),
            ClientLine::Answer(answer) => self.answers.push(QueuedLine::line(answer)),
            ClientLine::Request(side, id) => {
                let line = self.requests.outgoing_line(side, line);
                self.lane(side).outbox.push(QueuedLine { line, request: Some(id) });
            }
            ClientLine::Withdrawn { id, was_sent: false } => self.runtime.outbox.withdraw(&id),
            ClientLine::Withdrawn { id, .. } => {
                let params = json!({ "requestId": id });
                let said = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                self.runtime.outbox.push_first(vec![QueuedLine::line(said.to_string())]);
            }
        }
    }

    /// Takes in what a line says of the client's folders; returns whether it says nothing else.
    fn hear_of_roots(&mut self, line: &[u8]) -> bool {
        if let RootsQuestion::Settled = self.roots {
            return false;
        }
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else { return false };
        if let Some(question) = self.roots.hear(&message) {
            self.answers.push(QueuedLine::line(question));
        }
        let Some(folders) = self.roots.answer(&message) else { return false };
        if let ShimTarget::Workspace { places, elsewhere, .. } = &mut self.shim.target
            && let Some(find) = elsewhere.take()
            && let Some((folder, found)) =
                folders.into_iter().find_map(|one| find(&one).map(|found| (one, found)))
        {
            (*places, self.shim.hello.cwd) = (found, folder);
        }
        true
    }

    fn lane(&mut self, side: AnsweringSide) -> &mut SideConnection {
        match side {
            AnsweringSide::Own => &mut self.own,
            AnsweringSide::Runtime => &mut self.runtime,
        }
    }

    /// Connects to the shim's own service.
    fn open_own(&mut self) -> Result<(), ShimError> {
        let (ours, theirs) =
            UnixStream::pair().map_err(|source| ShimError::Stdio("open a socket", source))?;
        tokio::spawn(local_service::serve(self.shim.hello.profile, self.shim.limits.clone(), theirs));
        let (reader, writer) = ours.into_split();
        // The agent's opening is itself in the queue, unless it has been answered before.
        let is_open = self.requests.has_opened();
        let replay = if is_open { self.requests.replay() } else { Vec::new() };
        self.own.connect(LineReader::new(reader, MAX_LINE), writer, replay);
        Ok(())
    }

    /// Tries to join a runtime, and starts one if it `is_needed` and there is none.
    fn join(&mut self, is_needed: bool) {
        let label = self.requests.label().map(str::to_owned).or_else(|| self.shim.hello.label.clone());
        let hello = Hello { label, client: self.requests.client().cloned(), ..self.shim.hello.clone() };
        let shim = Shim { hello, target: self.shim.target.clone(), limits: self.shim.limits.clone() };
        let attempt = Box::pin(async move { shim.join(is_needed).await });
        self.joining = Some(JoinAttempt { attempt, is_needed });
    }

    /// Handles the outcome of an attempt to join a runtime.
    fn handle_join(&mut self, joined: Result<Option<JoinedRuntime>, ShimError>) {
        let was_needed = self.joining.take().is_some_and(|joining| joining.is_needed);
        match joined {
            Ok(Some(JoinedRuntime { lines, writer, link })) => {
                self.runtime.connect(lines, writer, self.requests.replay());
                self.runtime.link = Some(link);
            }
            Ok(None) => {}
            Err(error) if was_needed => {
                self.runtime.outbox.clear();
                let answers = self.requests.fail_runtime(RequestLoss::Unreachable(&error));
                self.answer(answers);
            }
            Err(error) => {
                tracing::info!(%error, "the runtime was not joined");
                self.look.reset_after(LOOK_AGAIN);
            }
        }
    }

    /// Handles the loss of a side that answers; the next request goes to its successor.
    async fn lose(&mut self, side: AnsweringSide) {
        let link = self.lane(side).disconnect();
        let answers = match (side, link) {
            (AnsweringSide::Own, _) => self.requests.fail_own(),
            (AnsweringSide::Runtime, Some(mut link)) if link.is_carried() => match link.why().await {
                Some(why) => self.requests.fail_runtime(RequestLoss::Link(&why)),
                None => self.requests.fail_runtime(RequestLoss::Gone),
            },
            (AnsweringSide::Runtime, _) => self.requests.fail_runtime(RequestLoss::Gone),
        };
        self.answer(answers);
    }

    fn answer(&mut self, answers: Vec<String>) {
        answers.into_iter().for_each(|answer| self.answers.push(QueuedLine::line(answer)));
    }
}

impl SideConnection {
    fn connect(&mut self, lines: LineReader<OwnedReadHalf>, writer: OwnedWriteHalf, replay: Vec<String>) {
        self.lines = Some(lines);
        let handed_over = self.outbox.connect();
        tokio::spawn(async move {
            if let Err(error) = write_lines(writer, handed_over).await {
                tracing::debug!(%error, "write to the runtime");
            }
        });
        self.outbox.push_first(replay.into_iter().map(QueuedLine::line).collect());
    }

    fn disconnect(&mut self) -> Option<CarrierLink> {
        self.lines = None;
        self.outbox.disconnect();
        self.link.take()
    }

    /// Returns whether the next line may be handed over while `in_flight` requests await answers.
    fn may_send(&self, in_flight: usize) -> bool {
        in_flight < AT_ONCE || !self.outbox.begins_with_request()
    }
}

/// Returns the next line, or `None` once its sender is gone; pends forever if there is no connection.
async fn next_line(lines: &mut Option<LineReader<OwnedReadHalf>>) -> Option<Vec<u8>> {
    let Some(lines) = lines else { return pending().await };
    match lines.next().await {
        Ok(Some(ReceivedLine::Whole(line))) => Some(line),
        // A sender that exceeds its limit or fails is treated as gone.
        Ok(Some(ReceivedLine::TooLong) | None) | Err(_) => None,
    }
}

fn line_event(side: AnsweringSide, line: Option<Vec<u8>>) -> RelayEvent {
    line.map_or(RelayEvent::Gone(side), |line| RelayEvent::Said(side, line))
}

/// Waits for an attempt to end; pends forever if there is none.
async fn end_of(joining: &mut Option<JoinAttempt>) -> Result<Option<JoinedRuntime>, ShimError> {
    let Some(joining) = joining else { return pending().await };
    joining.attempt.as_mut().await
}

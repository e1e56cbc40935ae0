//! The MCP line transport over the agents' socket, with limits on everything a peer could stretch.
//!
//! Anything that is not a valid message is answered with a JSON-RPC error rather than silence, so that no client
//! waits for an answer that never comes.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport as McpTransport;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::message::{self, ErrorResponse};
use super::{params, results};
use crate::envelope::{SafeText, one_line};
use crate::link::{LineReader, MAX_FRAME, ReceivedLine};
use crate::model::phrases::ID_IN_FLIGHT;
use crate::runtime::AnswerNotices;

/// The maximum number of calls in flight per connection.
pub(super) const IN_FLIGHT: usize = 64;
/// How long a write to an agent may stall before the connection is closed.
const STALL: Duration = Duration::from_secs(60);
/// The JSON-RPC error code for "busy".
const BUSY: ErrorCode = ErrorCode(-32_000);
/// How much of the name of a method that does not exist is repeated, in characters.
const METHOD_CHARS: usize = 100;

/// Notices that accompany answers not written yet, by request. If an answer is never written, its notices go with a
/// later one.
#[derive(Debug, Clone, Default)]
pub(super) struct UnwrittenNotices(Arc<Mutex<HashMap<RequestId, AnswerNotices>>>);

impl UnwrittenNotices {
    /// Stores the notices that accompany an answer about to be sent.
    pub(super) fn expect(&self, request: RequestId, notices: AnswerNotices) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(request, notices);
    }

    fn take(&self, request: &RequestId) -> Option<AnswerNotices> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(request)
    }
}

/// One agent's connection.
pub(super) struct Transport {
    lines: LineReader<OwnedReadHalf>,
    outbox: Arc<tokio::sync::Mutex<WriteBuffer>>,
    /// The requests without an answer, and whether each is one of protocol revision 2026-07-28.
    in_flight: Arc<Mutex<HashMap<RequestId, bool>>>,
    unwritten: UnwrittenNotices,
    was_initialized: bool,
    /// Cancelled once the agent has disconnected, before the service notices.
    gone: CancellationToken,
}

/// The data being written. A write that is dropped half-way is completed by the next one, so that lines are never
/// interleaved.
struct WriteBuffer {
    writer: Option<OwnedWriteHalf>,
    pending: VecDeque<u8>,
}

impl Transport {
    pub(super) fn new(
        lines: LineReader<OwnedReadHalf>,
        writer: OwnedWriteHalf,
        gone: CancellationToken,
    ) -> Self {
        let outbox = WriteBuffer { writer: Some(writer), pending: VecDeque::new() };
        Self {
            lines: lines.with_cap(MAX_FRAME),
            outbox: Arc::new(tokio::sync::Mutex::new(outbox)),
            in_flight: Arc::default(),
            unwritten: UnwrittenNotices::default(),
            was_initialized: false,
            gone,
        }
    }

    /// Returns the store for notices that accompany answers about to be sent.
    pub(super) fn unwritten(&self) -> UnwrittenNotices {
        self.unwritten.clone()
    }

    /// Returns the same connection with a line queued before everything else.
    pub(super) fn announcing(mut self, line: &Value) -> Self {
        // Nothing else holds the outbox yet.
        if let Some(outbox) = Arc::get_mut(&mut self.outbox) {
            let pending = &mut outbox.get_mut().pending;
            pending.extend(line.to_string().into_bytes());
            pending.push_back(b'\n');
        }
        self
    }

    /// Parses a line as a message, or returns the refusal to answer it with.
    fn read(&mut self, line: &ReceivedLine) -> Result<RxJsonRpcMessage<RoleServer>, Box<ErrorResponse>> {
        let ReceivedLine::Whole(line) = line else {
            let text = format!("a message is at most {MAX_FRAME} bytes long");
            return Err(ErrorResponse::of(None, ErrorData::invalid_request(text, None)));
        };
        let mut object = message::read(line)?;
        let id = object.get("id").and_then(message::request_id);
        let method = object.get("method").and_then(Value::as_str).filter(|_| id.is_some()).map(str::to_owned);
        if let Some(method) = &method {
            params::check_turn(method, &object, self.was_initialized)
                .and_then(|()| params::check(method, &mut object))
                .map_err(|error| ErrorResponse::of(id.clone(), error))?;
        }
        let is_modern = params::is_modern(&object);
        let message =
            serde_json::from_value(Value::Object(object)).map_err(|_| message::no_message(id.clone()))?;
        self.admit(&message, is_modern).map_err(|error| ErrorResponse::of(id, error))?;
        self.was_initialized |= method.is_some_and(|method| method == "initialize");
        Ok(message)
    }

    /// Counts a request as in flight, or returns why it cannot be accepted.
    fn admit(&self, message: &RxJsonRpcMessage<RoleServer>, is_modern: bool) -> Result<(), ErrorData> {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            JsonRpcMessage::Request(_) if in_flight.len() >= IN_FLIGHT => {
                Err(ErrorData::new(BUSY, format!("{IN_FLIGHT} requests are in flight; wait for one"), None))
            }
            JsonRpcMessage::Request(request) => {
                if in_flight.contains_key(&request.id) {
                    return Err(ErrorData::invalid_request(ID_IN_FLIGHT, None));
                }
                in_flight.insert(request.id.clone(), is_modern);
                Ok(())
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    // A cancelled request gets no answer that would remove it from the count.
                    if let Some(id) = &cancelled.params.request_id {
                        in_flight.remove(id);
                        drop(self.unwritten.take(id));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl McpTransport<RoleServer> for Transport {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (outbox, in_flight) = (Arc::clone(&self.outbox), Arc::clone(&self.in_flight));
        let unwritten = self.unwritten.clone();
        async move {
            let answered = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => None,
            };
            let is_modern =
                answered.and_then(|id| in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(id));
            // Dropped, not marked as given, unless the answer is written completely.
            let mut notices = answered.and_then(|id| unwritten.take(id));
            name_method(&mut message);
            let line = match is_modern {
                Some(true) => SafeText::json(&results::with_server(serde_json::to_value(&message)?))?,
                _ => SafeText::json(&message)?,
            };
            AnswerNotices::wait_for_record(&mut notices).await;
            let mut outbox = outbox.lock().await;
            outbox.push(&line);
            outbox.flush().await?;
            if let Some(notices) = notices {
                notices.mark_delivered();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // A partly written refusal is completed first.
            if self.outbox.lock().await.flush().await.is_err() {
                break;
            }
            let line = match self.lines.next().await {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, "read from an agent");
                    break;
                }
            };
            if line == ReceivedLine::Whole(Vec::new()) {
                continue;
            }
            match self.read(&line) {
                Ok(message) => return Some(message),
                // `push` happens under the same lock as the flush above and does not block.
                Err(refusal) => {
                    let ErrorResponse { id, error } = *refusal;
                    let refusal = TxJsonRpcMessage::<RoleServer>::error(error, id);
                    let line = SafeText::json(&refusal).ok()?;
                    self.outbox.lock().await.push(&line);
                }
            }
        }
        self.gone.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outbox.lock().await.writer = None;
        Ok(())
    }
}

/// Makes a sentence of the error for a method that does not exist, whose text is the bare name.
fn name_method(message: &mut TxJsonRpcMessage<RoleServer>) {
    if let JsonRpcMessage::Error(answer) = message
        && answer.error.code == ErrorCode::METHOD_NOT_FOUND
    {
        let name = one_line(&answer.error.message, METHOD_CHARS);
        answer.error.message = format!("there is no method {name} here").into();
    }
}

impl WriteBuffer {
    fn push(&mut self, line: &SafeText) {
        self.pending.extend(line.bytes());
        self.pending.push_back(b'\n');
    }

    async fn flush(&mut self) -> io::Result<()> {
        let Some(writer) = &mut self.writer else { return Err(io::ErrorKind::NotConnected.into()) };
        while !self.pending.is_empty() {
            match timeout(STALL, writer.write(self.pending.as_slices().0)).await {
                Ok(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => drop(self.pending.drain(..written?)),
                Err(_) => {
                    tracing::warn!("an agent read nothing for {} s and was disconnected", STALL.as_secs());
                    self.writer = None;
                    self.pending = VecDeque::new();
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::net::UnixStream;

    use super::*;

    /// Sends lines to a transport and disconnects; returns how many were received and the answers.
    async fn exchange(sent: &[String]) -> (usize, Vec<Value>) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let (reader, writer) = ours.into_split();
        let gone = CancellationToken::new();
        let mut transport = Transport::new(LineReader::new(reader, MAX_FRAME), writer, gone.clone());
        let (reader, mut writer) = theirs.into_split();
        let speak = async {
            for line in sent {
                writer.write_all(format!("{line}\n").as_bytes()).await.expect("takes it");
            }
            drop(writer);
        };
        let hear = async {
            let mut received = 0;
            while transport.receive().await.is_some() {
                received += 1;
            }
            transport.close().await.expect("closes");
            received
        };
        let ((), received) = tokio::join!(speak, hear);
        assert!(gone.is_cancelled());
        drop(transport);
        let mut answers = Vec::new();
        let mut lines = LineReader::new(reader, MAX_FRAME);
        while let Ok(Some(ReceivedLine::Whole(line))) = lines.next().await {
            answers.push(serde_json::from_slice(&line).expect("JSON"));
        }
        (received, answers)
    }

    fn ping(id: impl Into<Value>) -> String {
        json!({"jsonrpc": "2.0", "id": id.into(), "method": "ping"}).to_string()
    }

    #[tokio::test]
    async fn an_invalid_line_is_answered_with_an_error_and_the_conversation_goes_on() {
        let long = json!({"jsonrpc": "2.0", "id": 1, "method": "x".repeat(MAX_FRAME)}).to_string();
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let sent = [
            long,
            deep,
            "not json".to_owned(),
            "{}".to_owned(),
            ping("x".repeat(200)),
            String::new(),
            ping(1),
        ];
        let (received, answers) = exchange(&sent).await;
        assert_eq!(received, 1);
        let codes: Vec<i64> = answers.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [-32_600, -32_600, -32_700, -32_600, -32_600]);
    }

    #[tokio::test]
    async fn a_request_over_the_limit_and_a_repeated_id_are_refused_under_their_ids() {
        let mut sent: Vec<String> = (0..=IN_FLIGHT).map(ping).collect();
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}});
        sent.extend([cancelled.to_string(), ping(5), ping("another")]);
        let (received, answers) = exchange(&sent).await;
        // The cancelled request makes room: not for the repeated id, but for a new one.
        assert_eq!(received, IN_FLIGHT + 2);
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(IN_FLIGHT), &json!(5)]);
    }
    #[tokio::test(start_paused = true)]
    async fn f31_a_peer_that_sends_and_never_reads_is_disconnected() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let (reader, writer) = ours.into_split();
        let gone = CancellationToken::new();
        let mut transport = Transport::new(LineReader::new(reader, MAX_FRAME), writer, gone.clone());
        let (_unread, mut writer) = theirs.into_split();
        let sending = tokio::spawn(async move {
            // Until the other end disconnects: it reads no answers.
            while writer.write_all(b"not json\n").await.is_ok() {}
        });
        assert!(transport.receive().await.is_none());
        assert!(gone.is_cancelled());
        let outbox = transport.outbox.lock().await;
        assert!(outbox.writer.is_none() && outbox.pending.is_empty());
        drop(outbox);
        drop(transport);
        sending.await.expect("the sender ends");
    }
}

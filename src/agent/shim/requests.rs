//! The state the shim needs to outlive its runtime: pure bookkeeping, no I/O.
//!
//! It tracks the unanswered requests and which side is to answer them, and how the client opened the conversation, so
//! that when one runtime replaces another, the requests can be answered and the opening replayed.

mod far;

use std::collections::{HashMap, HashSet};

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde_json::{Map, Value, json};

use super::loss::RequestLoss;
use crate::agent::message::{self, ErrorResponse};
use crate::agent::opening::LABEL_METHOD;
use crate::agent::{params, results};
use crate::agents::AgentProgram;
use crate::envelope::Envelope;
use crate::link::{ClientName, ResultProfile};
use crate::model::phrases::ID_IN_FLIGHT;
use crate::tools;

/// The id of a replayed `initialize`, whose answer the client must not see.
const REPLAY_ID: &str = "pilothouse-replay";
/// The maximum number of open requests to the client.
const MOST_ASKED: usize = 64;
/// The key in a request of the client's name and version.
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

/// The side that answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnsweringSide {
    /// The shim's own service, which needs no runtime.
    Own,
    Runtime,
}

/// What the shim must do about a line from the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientLine {
    /// Forward a request.
    Request(AnsweringSide, RequestId),
    /// Forward the cancellation of a request to the runtime; the request has been forwarded if `was_sent`.
    Withdrawn { id: RequestId, was_sent: bool },
    /// Forward the client's answer to a request from the runtime.
    Reply,
    /// Do nothing.
    Nothing,
    /// Send this answer to the client.
    Answer(String),
}

/// What the shim must do about a line from a side that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerLine {
    /// Forward it.
    AsItIs,
    /// Forward this instead.
    As(String),
    /// Forward nothing.
    Nothing,
    /// Treat the connection as broken: it is not the protocol.
    Broken,
}

/// The unanswered requests and the opening of the conversation.
#[derive(Debug, Default)]
pub(super) struct Requests {
    profile: ResultProfile,
    /// Whether the runtime is on another machine.
    is_far: bool,
    opening: Option<ClientOpening>,
    client: Option<ClientName>,
    label: Option<String>,
    flights: HashMap<RequestId, InFlightRequest>,
    /// The runtime's open requests to the client.
    asked: HashSet<RequestId>,
    heard: u64,
    sent: [usize; 2],
}

/// How a client of an older protocol revision opened the conversation.
#[derive(Debug)]
struct ClientOpening {
    id: RequestId,
    initialize: Map<String, Value>,
}

#[derive(Debug)]
struct InFlightRequest {
    number: u64,
    side: AnsweringSide,
    sent: bool,
    method: String,
    /// The tool called, if it is a `tools/call`.
    tool: Option<String>,
    modern: bool,
    /// The token for its progress, if the client wants to know.
    progress: Option<Value>,
}

impl Requests {
    pub(super) fn new(profile: ResultProfile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// Returns the same for a runtime on another machine, which is not trusted.
    pub(super) fn of_another_machine(self) -> Self {
        Self { is_far: true, ..self }
    }

    /// Returns a request as it is sent to a side.
    pub(super) fn outgoing_line(&self, side: AnsweringSide, line: Vec<u8>) -> Vec<u8> {
        if self.is_far && side == AnsweringSide::Runtime { far::told_far(line) } else { line }
    }

    /// Returns the client's identity, once known.
    pub(super) fn client(&self) -> Option<&ClientName> {
        self.client.as_ref()
    }

    /// Returns the label last assigned by a runtime.
    pub(super) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the lines that open a conversation the way the client did.
    pub(super) fn replay(&self) -> Vec<String> {
        let Some(opening) = &self.opening else { return Vec::new() };
        let mut initialize = opening.initialize.clone();
        initialize.insert("id".to_owned(), json!(REPLAY_ID));
        if self.is_far {
            far::opening_far(&mut initialize);
        }
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        vec![Value::Object(initialize).to_string(), initialized.to_string()]
    }

    /// Returns whether the client's opening has been answered.
    pub(super) fn has_opened(&self) -> bool {
        self.opening.as_ref().is_some_and(|opening| !self.flights.contains_key(&opening.id))
    }

    /// Processes a line from the client.
    pub(super) fn client_said(&mut self, line: &[u8]) -> ClientLine {
        let message = match message::read(line) {
            Ok(message) => message,
            Err(refusal) => return ClientLine::Answer(refusal.line()),
        };
        let id = message.get("id").and_then(message::request_id);
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            let is_answer = message.contains_key("result") || message.contains_key("error");
            return if is_answer {
                // An answer to nothing that was asked has no recipient.
                if id.is_some_and(|id| self.asked.remove(&id)) {
                    ClientLine::Reply
                } else {
                    ClientLine::Nothing
                }
            } else {
                ClientLine::Answer(message::no_message(id).line())
            };
        };
        match id {
            Some(id) => self.request(id, method, message),
            None if method == "notifications/cancelled" => self.withdrawn(&message),
            None => ClientLine::Nothing,
        }
    }

    fn request(&mut self, id: RequestId, method: String, message: Map<String, Value>) -> ClientLine {
        if self.flights.contains_key(&id) {
            let error = ErrorData::invalid_request(ID_IN_FLIGHT, None);
            return ClientLine::Answer(ErrorResponse::of(Some(id), error).line());
        }
        let params = message.get("params");
        let meta = params.and_then(|params| params.get("_meta"));
        let modern = params::is_modern(&message);
        let progress = meta.and_then(|meta| meta.get("progressToken")).cloned();
        let tool = params.filter(|_| method == "tools/call").and_then(|params| params.get("name"));
        let tool = tool.and_then(Value::as_str).map(str::to_owned);
        // A second one is refused, and what it says does not count.
        let opens = method == "initialize" && self.opening.is_none();
        let named = if opens {
            params.and_then(|params| params.get("clientInfo"))
        } else {
            meta.and_then(|meta| meta.get(CLIENT_KEY))
        };
        if let Some(Ok(named)) = named.map(|named| serde_json::from_value(named.clone())) {
            self.client = Some(named);
        }
        // A request without an opening, or a call without a name, is refused by either side: no runtime is needed for
        // that.
        let needs_runtime = tool.is_some() && (modern || self.opening.is_some());
        let side = if needs_runtime { AnsweringSide::Runtime } else { AnsweringSide::Own };
        if opens {
            self.opening = Some(ClientOpening { id: id.clone(), initialize: message });
        }
        self.heard += 1;
        let flight =
            InFlightRequest { number: self.heard, side, sent: false, method, tool, modern, progress };
        self.flights.insert(id.clone(), flight);
        ClientLine::Request(side, id)
    }

    /// Processes the client's cancellation of a request. What the shim itself answers is answered immediately: there
    /// is nothing to cancel.
    fn withdrawn(&mut self, message: &Map<String, Value>) -> ClientLine {
        let id = message.get("params").and_then(|params| params.get("requestId"));
        let Some(id) = id.and_then(message::request_id) else { return ClientLine::Nothing };
        // Some clients write the number of a request as text, or the other way round.
        let id = if self.flights.contains_key(&id) { id } else { other_form(&id).unwrap_or(id) };
        match self.flights.get(&id) {
            Some(InFlightRequest { side: AnsweringSide::Runtime, sent, .. }) => {
                let was_sent = *sent;
                // No answer is due any more.
                self.settle(&id);
                ClientLine::Withdrawn { id, was_sent }
            }
            _ => ClientLine::Nothing,
        }
    }

    /// Records that a request has been handed over.
    pub(super) fn mark_sent(&mut self, id: &RequestId) {
        if let Some(flight) = self.flights.get_mut(id)
            && !flight.sent
        {
            flight.sent = true;
            self.sent[flight.side as usize] += 1;
        }
    }

    /// Returns the number of requests in flight to a side.
    pub(super) fn in_flight(&self, side: AnsweringSide) -> usize {
        self.sent[side as usize]
    }

    fn settle(&mut self, id: &RequestId) -> Option<InFlightRequest> {
        let flight = self.flights.remove(id)?;
        if flight.sent {
            self.sent[flight.side as usize] -= 1;
        }
        Some(flight)
    }

    /// Processes a line from a side that answers.
    pub(super) fn process_line(&mut self, side: AnsweringSide, line: &[u8]) -> AnswerLine {
        if self.is_far && side == AnsweringSide::Runtime {
            return self.answered_from_far(line);
        }
        let passed = |is_forwarded| if is_forwarded { AnswerLine::AsItIs } else { AnswerLine::Nothing };
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else { return AnswerLine::AsItIs };
        if let Some(method) = message.get("method") {
            let label = message.get("params").and_then(|params| params.get("label")).and_then(Value::as_str);
            if method == LABEL_METHOD {
                self.label = label.map(str::to_owned);
            }
            let id = message.get("id").and_then(message::request_id);
            self.asked.extend(id.filter(|_| self.asked.len() < MOST_ASKED));
            return passed(method != LABEL_METHOD);
        }
        let Some(id) = message.get("id").and_then(message::request_id) else { return AnswerLine::AsItIs };
        self.settle(&id);
        if message.contains_key("error") && self.opening.as_ref().is_some_and(|opening| opening.id == id) {
            // The opening was refused: there is nothing to replay.
            self.opening = None;
        }
        passed(id != RequestId::String(REPLAY_ID.into()))
    }

    /// Returns whether every request has been answered.
    pub(super) fn is_settled(&self) -> bool {
        self.flights.is_empty()
    }

    /// Ends the requests to the runtime: all of them if none can be joined, otherwise those already sent to it.
    /// Returns their error responses, oldest first.
    pub(super) fn fail_runtime(&mut self, loss: RequestLoss<'_>) -> Vec<String> {
        // Another runtime numbers its own requests the same way.
        self.asked.clear();
        let all = matches!(loss, RequestLoss::Unreachable(_));
        let flights = self.end(|flight| flight.side == AnsweringSide::Runtime && (all || flight.sent));
        flights.iter().map(|(id, flight)| self.answer(id, flight, loss)).collect()
    }

    /// Ends the requests sent to the shim's own service before it ended. Returns their error responses.
    pub(super) fn fail_own(&mut self) -> Vec<String> {
        let text = "the conversation is not open; begin with `initialize`";
        let flights = self.end(|flight| flight.side == AnsweringSide::Own && flight.sent);
        let refused = |(id, _)| ErrorResponse::of(Some(id), ErrorData::invalid_request(text, None)).line();
        flights.into_iter().map(refused).collect()
    }

    fn end(&mut self, ends: impl Fn(&InFlightRequest) -> bool) -> Vec<(RequestId, InFlightRequest)> {
        let ids: Vec<RequestId> =
            self.flights.iter().filter(|(_, flight)| ends(flight)).map(|(id, _)| id.clone()).collect();
        let mut ended: Vec<_> =
            ids.into_iter().filter_map(|id| self.settle(&id).map(|flight| (id, flight))).collect();
        ended.sort_by_key(|(_, flight)| flight.number);
        ended
    }

    fn answer(&self, id: &RequestId, flight: &InFlightRequest, loss: RequestLoss<'_>) -> String {
        let error = loss.error(flight.only_reads());
        let Some(tool) = &flight.tool else {
            let text = format!("{}: {}", flight.method, error.message);
            let data = json!({ "kind": error.kind, "retryable": error.retryable });
            let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, text, Some(data));
            return ErrorResponse::of(Some(id.clone()), error).line();
        };
        let envelope = Envelope::error(tool, error);
        let client = self.client.as_ref().and_then(|client| AgentProgram::client(&client.name));
        let hides_meta = client.is_none_or(|client| client.hides_meta_of_errors);
        let mut result = results::result(self.profile, &envelope, tools::render(&envelope), hides_meta);
        if !flight.modern {
            result.result_type = None;
        }
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        message::line(&if flight.modern { results::with_server(answer) } else { answer })
    }
}

/// Returns an id in its other form: a number as text, or a text as the number in it.
fn other_form(id: &RequestId) -> Option<RequestId> {
    match id {
        RequestId::Number(number) => Some(RequestId::String(number.to_string().into())),
        RequestId::String(text) => text.parse().ok().map(RequestId::Number),
    }
}

impl InFlightRequest {
    /// Returns whether the request cannot have had an effect, wherever it got to.
    fn only_reads(&self) -> bool {
        let tool = self.tool.as_deref().and_then(tools::find);
        tool.is_some_and(|tool| tool.hints.read_only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ENVELOPE_KEY;
    use crate::agent::params::REVISION_KEY;
    use crate::agent::shim::ShimError;
    use crate::link::{self, MAX_FRAME, TransportError};

    fn hear(requests: &mut Requests, message: &Value) -> ClientLine {
        let heard = requests.client_said(message.to_string().as_bytes());
        if let ClientLine::Request(_, id) = &heard {
            requests.mark_sent(id);
        }
        heard
    }

    fn call(id: impl Into<Value>, tool: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": {}}})
    }

    fn initialize(id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "clientInfo": {"name": "codex", "version": "1"}}})
    }

    fn modern(mut message: Value) -> Value {
        message["params"]["_meta"] =
            json!({ REVISION_KEY: "2026-07-28", CLIENT_KEY: {"name": "gemini", "version": "2"} });
        message
    }

    fn opened() -> Requests {
        let mut requests = Requests::default();
        hear(&mut requests, &initialize(0));
        assert_eq!(
            requests.process_line(AnsweringSide::Runtime, br#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
            AnswerLine::AsItIs
        );
        requests
    }

    fn parsed(lines: &[String]) -> Vec<Value> {
        lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    #[test]
    fn only_calls_of_an_open_conversation_need_a_runtime() {
        let own = |number| ClientLine::Request(AnsweringSide::Own, id(number));
        let mut requests = Requests::default();
        for (message, expected) in [
            (call(1, "TaskList"), own(1)),
            (json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}), own(2)),
            (modern(call(3, "TaskList")), ClientLine::Request(AnsweringSide::Runtime, id(3))),
            (modern(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list"})), own(4)),
            (json!({"jsonrpc": "2.0", "id": 5, "method": "server/discover"}), own(5)),
            (initialize(6), own(6)),
            (call(7, "TaskList"), ClientLine::Request(AnsweringSide::Runtime, id(7))),
            (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), ClientLine::Nothing),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), ClientLine::Nothing),
        ] {
            assert_eq!(hear(&mut requests, &message), expected, "{message}");
        }
        assert_eq!(
            (requests.in_flight(AnsweringSide::Own), requests.in_flight(AnsweringSide::Runtime)),
            (5, 2)
        );
        for line in ["not json", "[1]", r#"{"id":9}"#, r#"{"id":7,"method":"ping"}"#] {
            assert!(matches!(requests.client_said(line.as_bytes()), ClientLine::Answer(_)), "{line}");
        }
        assert_eq!(
            (requests.in_flight(AnsweringSide::Own), requests.in_flight(AnsweringSide::Runtime)),
            (5, 2)
        );
    }

    #[test]
    fn the_client_is_known_from_a_request_of_either_era() {
        let name = |requests: &Requests| requests.client().map(|client| client.name.clone());
        let mut requests = Requests::default();
        assert_eq!(name(&requests), None);
        hear(&mut requests, &modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})));
        assert_eq!(name(&requests).as_deref(), Some("gemini"));
        assert_eq!(name(&opened()).as_deref(), Some("codex"));
    }

    #[test]
    fn the_label_is_for_the_shim_alone() {
        let mut requests = opened();
        let told = json!({"jsonrpc": "2.0", "method": LABEL_METHOD, "params": {"label": "codex#2"}});
        assert_eq!(
            requests.process_line(AnsweringSide::Runtime, told.to_string().as_bytes()),
            AnswerLine::Nothing
        );
        assert_eq!(requests.label(), Some("codex#2"));
    }

    #[test]
    fn only_requests_without_an_answer_are_answered_when_the_runtime_goes() {
        let mut requests = opened();
        for message in [call(1, "ExecCommand"), call("two", "TaskOutput"), call(3, "TaskStop")] {
            assert!(matches!(hear(&mut requests, &message), ClientLine::Request(AnsweringSide::Runtime, _)));
        }
        hear(&mut requests, &json!({"id": 4, "method": "tools/list"}));
        // Not handed over yet: the next runtime gets it.
        requests.client_said(call(5, "TaskList").to_string().as_bytes());
        assert_eq!(
            requests.process_line(AnsweringSide::Runtime, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            AnswerLine::AsItIs
        );
        let progress = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3}}"#;
        assert_eq!(requests.process_line(AnsweringSide::Runtime, progress), AnswerLine::AsItIs);
        let withdrawn = json!({"method": "notifications/cancelled", "params": {"requestId": "3"}});
        assert_eq!(hear(&mut requests, &withdrawn), ClientLine::Withdrawn { id: id(3), was_sent: true });

        let answers = parsed(&requests.fail_runtime(RequestLoss::Gone));
        assert_eq!(answers.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(), [json!("two")]);
        assert_eq!(answers[0]["result"]["isError"], json!(true));
        let envelope = &answers[0]["result"]["_meta"][ENVELOPE_KEY];
        assert_eq!(envelope["tool_name"], "TaskOutput");
        assert_eq!(envelope["error"]["kind"], "runtime_shutting_down");
        assert_eq!(envelope["error"]["retryable"], json!(true));
        assert!(requests.fail_runtime(RequestLoss::Gone).is_empty());
        let unopened = parsed(&requests.fail_own());
        assert_eq!(unopened[0]["id"], 4);
        assert_eq!(requests.in_flight(AnsweringSide::Own) + requests.in_flight(AnsweringSide::Runtime), 0);
        assert!(!requests.is_settled(), "5 still waits to be handed over");
    }

    #[test]
    fn a_legacy_conversation_is_opened_again_and_the_client_does_not_notice() {
        assert!(Requests::default().replay().is_empty());
        let mut requests = opened();
        let replay = parsed(&requests.replay());
        assert_eq!(replay[0]["id"], REPLAY_ID);
        assert_eq!(replay[0]["params"], initialize(0)["params"]);
        assert_eq!(replay[1]["method"], "notifications/initialized");
        let swallowed = json!({"jsonrpc": "2.0", "id": REPLAY_ID, "result": {}}).to_string();
        assert_eq!(requests.process_line(AnsweringSide::Runtime, swallowed.as_bytes()), AnswerLine::Nothing);
    }

    #[test]
    fn an_opening_that_was_refused_is_not_repeated() {
        let mut requests = Requests::default();
        hear(&mut requests, &initialize(7));
        assert_eq!(
            requests.process_line(
                AnsweringSide::Runtime,
                br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#
            ),
            AnswerLine::AsItIs
        );
        assert!(requests.replay().is_empty());
    }

    #[test]
    fn a_runtime_that_cannot_be_joined_ends_what_waits_for_it_with_the_reason() {
        let mut requests = opened();
        requests.client_said(call(1, "ExecCommand").to_string().as_bytes());
        let full = ShimError::Link(link::Error::TooManyConnections {
            limit: 64,
            of: link::ConnectionKind::OfProcess,
        });
        let answers = parsed(&requests.fail_runtime(RequestLoss::Unreachable(&full)));
        let error = &answers[0]["result"]["_meta"][ENVELOPE_KEY]["error"];
        assert_eq!(error["kind"], "too_many_connections");
        assert_eq!(error["details"], json!({"limit": 64}));
        assert_eq!(error["retryable"], json!(true));
        requests.client_said(call(3, "ExecCommand").to_string().as_bytes());
        let large = ShimError::Link(link::Error::LargeEnvironment { bytes: 3 << 20 });
        let answers = parsed(&requests.fail_runtime(RequestLoss::Unreachable(&large)));
        let error = &answers[0]["result"]["_meta"][ENVELOPE_KEY]["error"];
        assert_eq!(
            (&error["kind"], &error["details"]),
            (&json!("environment_too_large"), &json!({"bytes": 3 << 20}))
        );
        requests.client_said(call(2, "ExecCommand").to_string().as_bytes());
        let taken = ShimError::Link(link::Error::Gone);
        let answers = parsed(&requests.fail_runtime(RequestLoss::Unreachable(&taken)));
        let text = answers[0]["result"]["content"][0]["text"].as_str().expect("a receipt");
        assert!(text.contains("went away"), "{text}");
        assert!(requests.is_settled());
    }

    #[test]
    fn only_a_call_that_cannot_have_had_an_effect_is_retryable() {
        let retryable = |tool: &str, is_sent: bool, loss: RequestLoss<'_>| {
            let mut requests = opened();
            let call = call(1, tool);
            if is_sent {
                drop(hear(&mut requests, &call))
            } else {
                drop(requests.client_said(call.to_string().as_bytes()))
            }
            let answers = parsed(&requests.fail_runtime(loss));
            answers[0]["result"]["_meta"][ENVELOPE_KEY]["error"]["retryable"].as_bool().expect("a flag")
        };
        let carried = |why: TransportError| link::Error::Carried { host: "box".into(), why };
        let exited = |said: &str| carried(TransportError::Exited { code: Some(255), said: said.into() });
        let broken = exited("Connection to box closed by remote host");
        for tool in &tools::TOOLS {
            let only_reads = tool.hints.read_only;
            assert_eq!(retryable(tool.name, true, RequestLoss::Gone), only_reads, "{}", tool.name);
            assert_eq!(retryable(tool.name, true, RequestLoss::Link(&broken)), only_reads, "{}", tool.name);
        }
        assert!(!retryable("NoSuchTool", true, RequestLoss::Gone));
        for (why, may_pass) in [
            (carried(TransportError::NoRuntime { place: "/does/not/exist".into() }), false),
            (carried(TransportError::NoProgram { said: String::new() }), false),
            (carried(TransportError::NoCarrier { program: "ssh".into(), why: "x".into() }), false),
            (exited("Host key verification failed"), false),
            (exited("Permission denied (publickey)"), false),
            (exited("Error: No such container: box"), false),
            (exited("ssh: connect to host box port 22: Connection timed out"), true),
            (carried(TransportError::Silent { said: String::new() }), true),
            (link::Error::Refused { reason: "find the workspace /does/not/exist".into() }, false),
            (link::Error::Unreachable { pid: 1, path: "/x".into() }, false),
            (link::Error::Silent { log: "/x".into() }, true),
            (link::Error::Gone, true),
        ] {
            let text = why.to_string();
            assert_eq!(
                retryable("ExecCommand", false, RequestLoss::Unreachable(&ShimError::Link(why))),
                may_pass,
                "{text}"
            );
        }
    }

    #[test]
    fn the_modern_era_has_no_opening_and_names_the_result_type() {
        let mut requests = Requests::new(ResultProfile::Structured);
        hear(&mut requests, &modern(call(9, "TaskList")));
        assert!(requests.replay().is_empty());
        hear(&mut requests, &initialize(0));
        hear(&mut requests, &call(10, "TaskList"));
        let answers = parsed(&requests.fail_runtime(RequestLoss::Gone));
        assert_eq!(answers[0]["result"]["resultType"], "complete");
        let server = "io.modelcontextprotocol/serverInfo";
        assert_eq!(answers[0]["result"]["_meta"][server]["name"], "pilothouse");
        assert_eq!(answers[1]["result"]["_meta"].get(server), None);
        assert_eq!(answers[0]["result"]["structuredContent"]["status"], "error");
        assert_eq!(answers[1]["result"].get("resultType"), None);
    }

    #[test]
    fn the_shim_answers_a_message_over_the_frame_limit_itself() {
        let mut requests = Requests::default();
        let mut long = call(5, "ExecCommand");
        long["params"]["arguments"] = json!({"cmd": "x".repeat(MAX_FRAME)});
        let ClientLine::Answer(answer) = hear(&mut requests, &long) else { panic!("passed on") };
        assert_eq!(parsed(&[answer])[0]["id"], 5);
        assert!(requests.fail_runtime(RequestLoss::Gone).is_empty());
    }
}

//! What the shim must remember to survive its runtime: pure bookkeeping, no I/O.
//!
//! It knows which requests have no answer yet, and how the client opened the conversation, so that
//! the first can be answered and the second repeated when one runtime takes over from another.

use serde_json::{Map, Value, json};

use super::super::results;
use crate::envelope::{Envelope, ErrorKind, ToolError};
use crate::link::{MAX_FRAME, Profile};
use crate::tools;

/// The id of a repeated `initialize`, whose answer the client must not see.
const REPLAY_ID: &str = "pilothouse-replay";
/// The first protocol revision without `initialize`.
const MODERN: &str = "2026-07-28";
/// The request's own word for its revision.
const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The JSON-RPC code of an internal error.
const INTERNAL_ERROR: i64 = -32_603;
/// The JSON-RPC code of a request that is none.
const INVALID_REQUEST: i64 = -32_600;

/// What a line from the client asks of the shim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// A request: join a runtime if need be and pass it on.
    Request,
    /// Anything else: pass it on if a runtime is there.
    Other,
    /// Answered here.
    Answer(String),
}

/// Why requests end without their answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loss<'a> {
    /// The runtime went away while they were in flight.
    Gone,
    /// No runtime could be joined.
    Unreachable(&'a str),
}

/// Requests in flight and the opening of the conversation.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    profile: Profile,
    opening: Option<Opening>,
    in_flight: Vec<Flight>,
}

/// How a client of a legacy revision opened the conversation.
#[derive(Debug)]
struct Opening {
    id: Value,
    initialize: Map<String, Value>,
    initialized: bool,
}

#[derive(Debug)]
struct Flight {
    id: Value,
    method: String,
    /// The tool called, of a `tools/call`.
    tool: Option<String>,
    modern: bool,
}

impl Ledger {
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// Returns the lines that open the conversation with another runtime as the client opened it
    /// with the first. Asked for before the request that needs the runtime is heard.
    pub(super) fn replay(&self) -> Vec<String> {
        let Some(opening) = &self.opening else { return Vec::new() };
        let mut initialize = opening.initialize.clone();
        initialize.insert("id".to_owned(), json!(REPLAY_ID));
        let mut lines = vec![Value::Object(initialize).to_string()];
        if opening.initialized {
            lines.push(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        }
        lines
    }

    /// Takes note of a line from the client.
    pub(super) fn client_said(&mut self, line: &[u8]) -> Heard {
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else { return Heard::Other };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(id) = message.get("id").filter(|_| !method.is_empty()).cloned() else {
            self.note(&method, &message);
            return Heard::Other;
        };
        let params = message.get("params");
        let tool = params.filter(|_| method == "tools/call").and_then(|params| params.get("name"));
        let tool = tool.and_then(Value::as_str).map(str::to_owned);
        if line.len() > MAX_FRAME {
            let text = format!("a message is at most {MAX_FRAME} bytes long, this one has {}", line.len());
            return Heard::Answer(failure(&id, INVALID_REQUEST, &text, None));
        }
        let revision = params.and_then(|params| params.get("_meta")).and_then(|meta| meta.get(REVISION_KEY));
        let modern = revision.and_then(Value::as_str).is_some_and(|revision| revision >= MODERN);
        if method == "initialize" {
            self.opening = Some(Opening { id: id.clone(), initialize: message, initialized: false });
        }
        self.in_flight.push(Flight { id, method, tool, modern });
        Heard::Request
    }

    /// Takes note of a notification.
    fn note(&mut self, method: &str, message: &Map<String, Value>) {
        match (method, &mut self.opening) {
            ("notifications/initialized", Some(opening)) => opening.initialized = true,
            ("notifications/cancelled", _) => {
                // No answer is due any more, from anyone.
                let id = message.get("params").and_then(|params| params.get("requestId"));
                self.in_flight.retain(|flight| Some(&flight.id) != id);
            }
            _ => {}
        }
    }

    /// Takes note of a line from the runtime; tells whether the client gets it.
    pub(super) fn runtime_said(&mut self, line: &[u8]) -> bool {
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else { return true };
        if message.contains_key("method") {
            return true;
        }
        let id = message.get("id");
        self.in_flight.retain(|flight| Some(&flight.id) != id);
        id.and_then(Value::as_str) != Some(REPLAY_ID)
    }

    /// Tells whether every request has its answer.
    pub(super) fn is_settled(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Ends all requests in flight; returns their answers, oldest first.
    pub(super) fn lost(&mut self, loss: Loss<'_>) -> Vec<String> {
        let flights = std::mem::take(&mut self.in_flight);
        if let Some(opening) = &self.opening
            && flights.iter().any(|flight| flight.id == opening.id)
        {
            // The client never heard that the conversation was open.
            self.opening = None;
        }
        flights.iter().map(|flight| self.answer(flight, loss)).collect()
    }

    fn answer(&self, flight: &Flight, loss: Loss<'_>) -> String {
        let Some(tool) = &flight.tool else {
            let text = format!("{}: {}", flight.method, loss.message());
            let data = json!({ "kind": ErrorKind::RuntimeShuttingDown.as_str(), "retryable": true });
            return failure(&flight.id, INTERNAL_ERROR, &text, Some(data));
        };
        let error = ToolError::new(ErrorKind::RuntimeShuttingDown, loss.message()).with_hint(loss.hint());
        let envelope = Envelope::error(tool, error);
        let mut result = results::result(self.profile, &envelope, tools::render(&envelope));
        if !flight.modern {
            result.result_type = None;
        }
        json!({ "jsonrpc": "2.0", "id": flight.id, "result": result }).to_string()
    }
}

impl Loss<'_> {
    fn message(self) -> String {
        match self {
            Self::Gone => "The Pilothouse runtime went away during the call.".to_owned(),
            Self::Unreachable(reason) => format!("No Pilothouse runtime can be reached: {reason}."),
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Gone => {
                "Its tasks were ended. The next call joins or starts a runtime; check what the command \
                 had done before you repeat it."
            }
            Self::Unreachable(_) => "Tell the operator, or try again.",
        }
    }
}

fn failure(id: &Value, code: i64, message: &str, data: Option<Value>) -> String {
    let mut error = json!({ "code": code, "message": message });
    if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
        error.insert("data".to_owned(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ENVELOPE_KEY;

    fn hear(ledger: &mut Ledger, message: &Value) -> Heard {
        ledger.client_said(message.to_string().as_bytes())
    }

    fn call(id: impl Into<Value>, tool: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": {}}})
    }

    fn initialize(id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "clientInfo": {"name": "codex"}}})
    }

    fn parsed(lines: &[String]) -> Vec<Value> {
        lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn what_a_line_asks_of_the_shim() {
        for (line, expected) in [
            (call(1, "TaskList").to_string(), Heard::Request),
            (json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}).to_string(), Heard::Request),
            (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(), Heard::Other),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string(), Heard::Other),
            ("not json".to_owned(), Heard::Other),
            ("[1]".to_owned(), Heard::Other),
        ] {
            assert_eq!(Ledger::default().client_said(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn only_requests_without_an_answer_are_answered_when_the_runtime_goes() {
        let mut ledger = Ledger::default();
        for message in [
            call(1, "ExecCommand"),
            call("two", "TaskOutput"),
            call(3, "TaskStop"),
            json!({"id": 4, "method": "tools/list"}),
        ] {
            assert_eq!(hear(&mut ledger, &message), Heard::Request);
        }
        assert!(ledger.runtime_said(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        assert!(ledger.runtime_said(
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3}}"#
        ));
        hear(&mut ledger, &json!({"method": "notifications/cancelled", "params": {"requestId": 3}}));

        let answers = parsed(&ledger.lost(Loss::Gone));
        assert_eq!(
            answers.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(),
            [json!("two"), json!(4)]
        );
        assert_eq!(answers[0]["result"]["isError"], json!(true));
        let envelope = &answers[0]["result"]["_meta"][ENVELOPE_KEY];
        assert_eq!(envelope["tool_name"], "TaskOutput");
        assert_eq!(envelope["error"]["kind"], "runtime_shutting_down");
        assert_eq!(envelope["error"]["retryable"], json!(true));
        assert_eq!(answers[1]["error"]["data"]["kind"], "runtime_shutting_down");
        assert!(ledger.lost(Loss::Gone).is_empty());
    }

    #[test]
    fn a_legacy_conversation_is_opened_again_and_the_client_does_not_notice() {
        let mut ledger = Ledger::default();
        assert!(ledger.replay().is_empty());
        hear(&mut ledger, &initialize(0));
        assert!(ledger.runtime_said(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#));
        assert_eq!(ledger.replay().len(), 1);
        hear(&mut ledger, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert!(ledger.lost(Loss::Gone).is_empty());

        let replay = parsed(&ledger.replay());
        assert_eq!(replay[0]["id"], REPLAY_ID);
        assert_eq!(replay[0]["params"], initialize(0)["params"]);
        assert_eq!(replay[1]["method"], "notifications/initialized");
        let swallowed = json!({"jsonrpc": "2.0", "id": REPLAY_ID, "result": {}}).to_string();
        assert!(!ledger.runtime_said(swallowed.as_bytes()));
    }

    #[test]
    fn an_opening_the_client_never_heard_of_is_not_repeated() {
        let mut ledger = Ledger::default();
        hear(&mut ledger, &initialize(7));
        let answers = parsed(&ledger.lost(Loss::Unreachable("the lock is held")));
        assert_eq!(answers[0]["id"], 7);
        assert!(
            answers[0]["error"]["message"].as_str().is_some_and(|text| text.contains("the lock is held"))
        );
        assert!(ledger.replay().is_empty());
    }

    #[test]
    fn the_modern_era_has_no_opening_and_names_the_result_type() {
        let mut ledger = Ledger::new(Profile::Structured);
        let mut modern = call(9, "TaskList");
        modern["params"]["_meta"] = json!({ REVISION_KEY: "2026-07-28" });
        hear(&mut ledger, &modern);
        hear(&mut ledger, &call(10, "TaskList"));
        assert!(ledger.replay().is_empty());
        let answers = parsed(&ledger.lost(Loss::Gone));
        assert_eq!(answers[0]["result"]["resultType"], "complete");
        assert_eq!(answers[0]["result"]["structuredContent"]["status"], "error");
        assert_eq!(answers[1]["result"].get("resultType"), None);
    }

    #[test]
    fn a_message_over_the_frame_limit_is_answered_here() {
        let mut ledger = Ledger::default();
        let mut long = call(5, "ExecCommand");
        long["params"]["arguments"] = json!({"cmd": "x".repeat(MAX_FRAME)});
        let Heard::Answer(answer) = hear(&mut ledger, &long) else { panic!("passed on") };
        assert_eq!(parsed(&[answer])[0]["id"], 5);
        assert!(ledger.lost(Loss::Gone).is_empty());
    }
}

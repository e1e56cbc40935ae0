//! What a runtime on another machine may send an agent: answers to what the agent asked, and the progress of that.
//!
//! The other machine is not trusted with the agent or its person: its own requests, such as a form to fill in, are not
//! handed on, and it is not told that the agent could show one.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde_json::{Map, Value, json};

use super::{AnswerLine, AnsweringSide, REPLAY_ID, Requests};
use crate::agent::message::{self, ErrorResponse};
use crate::agent::opening::LABEL_METHOD;
use crate::link::Strict;

/// The longest label that is taken over, in bytes.
const LABEL_BYTES: usize = 200;
/// The key in a request of what the client can do.
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

impl Requests {
    /// Processes a line from another machine.
    pub(super) fn answered_from_far(&mut self, line: &[u8]) -> AnswerLine {
        let Ok(Strict(Value::Object(message))) = serde_json::from_slice(line) else {
            return AnswerLine::Broken;
        };
        if let Some(method) = message.get("method") {
            let params = message.get("params");
            if method == LABEL_METHOD {
                let label = params.and_then(|params| params.get("label")).and_then(Value::as_str);
                self.label = label.filter(|label| label.len() <= LABEL_BYTES).map(str::to_owned);
                return AnswerLine::Nothing;
            }
            let is_progress = method == "notifications/progress" && !message.contains_key("id");
            let token = params.and_then(|params| params.get("progressToken")).filter(|_| is_progress);
            return match token.is_some_and(|token| self.has_progress(token)) {
                true => AnswerLine::As(message::line(&Value::Object(message))),
                false => AnswerLine::Nothing,
            };
        }
        let Some(id) = message.get("id").and_then(message::request_id) else { return AnswerLine::Nothing };
        let is_open =
            self.flights.get(&id).is_some_and(|flight| flight.side == AnsweringSide::Runtime && flight.sent);
        let is_answer = message.contains_key("result") != message.contains_key("error");
        if id == RequestId::String(REPLAY_ID.into()) || !is_open || !is_answer {
            return AnswerLine::Nothing;
        }
        self.settle(&id);
        AnswerLine::As(if asks(&message) { refusal_line(id) } else { message::line(&Value::Object(message)) })
    }

    fn has_progress(&self, token: &Value) -> bool {
        self.flights
            .values()
            .any(|flight| flight.side == AnsweringSide::Runtime && flight.progress.as_ref() == Some(token))
    }
}

/// Tells whether an answer is itself a question to the person.
fn asks(answer: &Map<String, Value>) -> bool {
    answer
        .get("result")
        .and_then(|result| result.get("resultType"))
        .is_some_and(|kind| kind == "input_required")
}

fn refusal_line(id: RequestId) -> String {
    let text = "the other machine asked a question instead of answering; it was not passed on";
    ErrorResponse::of(Some(id), ErrorData::new(ErrorCode::INTERNAL_ERROR, text, None)).line()
}

/// Returns a request as it is sent to another machine: without what the client can be asked.
pub(super) fn told_far(line: Vec<u8>) -> Vec<u8> {
    let Ok(mut message) = message::read(&line) else { return line };
    let key = format!("/params/_meta/{}", CAPABILITIES_KEY.replace('/', "~1"));
    let mut whole = Value::Object(std::mem::take(&mut message));
    match whole.pointer_mut(&key) {
        Some(capabilities) => *capabilities = json!({}),
        None => return line,
    }
    whole.to_string().into_bytes()
}

/// Returns an opening as it is sent to another machine.
pub(super) fn opening_far(initialize: &mut Map<String, Value>) {
    if let Some(params) = initialize.get_mut("params").and_then(Value::as_object_mut) {
        params.insert("capabilities".to_owned(), json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClientLine;
    use super::*;

    fn far() -> Requests {
        Requests::default().of_another_machine()
    }

    fn hear(requests: &mut Requests, message: &Value) {
        let ClientLine::Request(_, id) = requests.client_said(message.to_string().as_bytes()) else {
            panic!("{message} is a request")
        };
        requests.mark_sent(&id);
    }

    fn call(id: Value) -> Value {
        let meta = json!({"progressToken": "mine", "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            CAPABILITIES_KEY: {"elicitation": {"form": {}}}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "TaskList", "_meta": meta}})
    }

    fn said(requests: &mut Requests, line: &str) -> AnswerLine {
        requests.process_line(AnsweringSide::Runtime, line.as_bytes())
    }

    #[test]
    fn f57_only_answers_to_ids_that_were_asked_are_handed_on_from_another_machine() {
        let mut requests = far();
        hear(&mut requests, &call(json!(1)));
        hear(&mut requests, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        for unasked in [
            r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"password?"}}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"rm -rf"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","id":1,"params":{"progressToken":"mine"}}"#,
            r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"pilothouse-replay","result":{}}"#,
            "{}",
        ] {
            assert_eq!(said(&mut requests, unasked), AnswerLine::Nothing, "{unasked}");
        }
        let progress =
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine"}}"#;
        assert_eq!(said(&mut requests, progress), AnswerLine::As(progress.to_owned()));
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        assert_eq!(said(&mut requests, answer), AnswerLine::As(answer.to_owned()));
        assert_eq!(said(&mut requests, answer), AnswerLine::Nothing, "once");
        assert_eq!(said(&mut requests, progress), AnswerLine::Nothing, "it is over");
    }

    #[test]
    fn f57_a_line_that_is_no_json_or_ambiguous_breaks_the_link_to_another_machine() {
        for noise in ["Last login: today", "[1]", "7", "", r#"{"id":1,"id":2,"result":{}}"#, "{\"id\":1"] {
            let mut requests = far();
            hear(&mut requests, &call(json!(1)));
            assert_eq!(said(&mut requests, noise), AnswerLine::Broken, "{noise}");
        }
        // A deep document is refused by the parser.
        let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(said(&mut far(), &deep), AnswerLine::Broken);
    }

    #[test]
    fn f57_another_machine_is_not_told_that_the_person_can_be_asked_and_its_question_is_no_answer() {
        let told = told_far(call(json!(3)).to_string().into_bytes());
        let told: Value = serde_json::from_slice(&told).expect("JSON");
        assert_eq!(told["params"]["_meta"][CAPABILITIES_KEY], json!({}));
        assert_eq!(told["params"]["name"], "TaskList");
        let mut requests = far();
        let capable =
            json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}, "sampling": {}}});
        hear(&mut requests, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": capable}));
        let opening: Value = serde_json::from_str(&requests.replay()[0]).expect("JSON");
        assert_eq!(opening["params"]["capabilities"], json!({}));
        hear(&mut requests, &call(json!(4)));
        let asks = r#"{"jsonrpc":"2.0","id":4,"result":{"resultType":"input_required","inputRequests":{}}}"#;
        let AnswerLine::As(line) = said(&mut requests, asks) else { panic!("an answer is due") };
        assert!(line.contains("not passed on") && !line.contains("inputRequests"), "{line}");
    }
}

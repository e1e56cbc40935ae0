//! The workspace of a client that starts its server outside any repository: the client is asked once where it works, if it
//! offers to say that (`roots`). Calls wait for the answer.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::agent::file_url::file_path;

/// The id of the question to the client.
const ID: &str = "pilothouse-roots";
/// How long calls wait for the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a client was asked about its folders.
#[derive(Debug, Default)]
pub(super) enum RootsQuestion {
    /// It need not be asked, or has been.
    #[default]
    Settled,
    /// It is asked once it has opened the conversation.
    Open,
    /// It has until then.
    Asked(Instant),
}

impl RootsQuestion {
    /// Takes in a message of the client; returns the question, if it is to be asked now.
    pub(super) fn hear(&mut self, message: &Map<String, Value>) -> Option<String> {
        let method = message.get("method").and_then(Value::as_str);
        match (&self, method) {
            (Self::Open, Some("initialize")) => {
                let offers = message.get("params").and_then(|params| params.pointer("/capabilities/roots"));
                if !offers.is_some_and(Value::is_object) {
                    *self = Self::Settled;
                }
                None
            }
            (Self::Open, Some("notifications/initialized")) => {
                *self = Self::Asked(Instant::now() + PATIENCE);
                Some(json!({ "jsonrpc": "2.0", "id": ID, "method": "roots/list" }).to_string())
            }
            _ => None,
        }
    }

    /// Returns the folders in a message of the client, the first one first, if it is the answer; from then on, nothing waits.
    pub(super) fn answer(&mut self, message: &Map<String, Value>) -> Option<Vec<PathBuf>> {
        let is_answer = !message.contains_key("method") && message.get("id").is_some_and(|id| id == ID);
        if !is_answer {
            return None;
        }
        *self = Self::Settled;
        let roots = message.get("result").and_then(|result| result["roots"].as_array());
        Some(roots.into_iter().flatten().filter_map(|root| file_path(root["uri"].as_str()?)).collect())
    }

    /// Returns until when calls wait for the answer.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        if let Self::Asked(until) = self { Some(*until) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[tokio::test]
    async fn a_client_that_offers_its_roots_is_asked_once_and_another_is_not() {
        let opening = |capabilities: Value| {
            message(json!({"id": 1, "method": "initialize", "params": {"capabilities": capabilities}}))
        };
        let opened = message(json!({"method": "notifications/initialized"}));
        let mut question = RootsQuestion::Open;
        assert_eq!(question.hear(&opening(json!({}))), None);
        assert_eq!(question.hear(&opened), None);
        let mut question = RootsQuestion::Open;
        question.hear(&opening(json!({"roots": {}})));
        assert!(question.hear(&opened).is_some_and(|line| line.contains("roots/list")));
        assert_eq!(question.hear(&opened), None);
        assert!(question.waits_until().is_some());
        assert_eq!(question.answer(&message(json!({"id": 1, "result": {}}))), None);
        let roots = json!([{"uri": "https://x/y"}, {"uri": "file:///w/my%20app"}]);
        let answer = message(json!({"id": ID, "result": {"roots": roots}}));
        assert_eq!(question.answer(&answer), Some(vec![PathBuf::from("/w/my app")]));
        assert_eq!(question.waits_until(), None);
        // A refusal is an answer.
        let mut question = RootsQuestion::Asked(Instant::now());
        assert_eq!(question.answer(&message(json!({"id": ID, "error": {}}))), Some(Vec::new()));
    }
}

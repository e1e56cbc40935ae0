//! Parses and builds protocol messages. Pure: anything not recognised here is forwarded unchanged.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine as _};
use serde::Deserialize;
use serde_json::{Value, json};

/// The beginning of every line, whatever else stands in it.
#[derive(Debug, Deserialize)]
struct LineHead<'a> {
    id: Option<Value>,
    #[serde(default, borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    params: Option<ProcessName>,
}

/// The process that a message is about.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProcessName {
    process_id: Option<String>,
}

/// A message about one process, given by its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProcessMessage {
    /// The id that an answer must carry; `None` for a notification.
    pub(super) id: Option<Value>,
    /// `process/…`
    pub(super) method: String,
    pub(super) process: String,
}

/// Parses a line that is about a process; `None` for any other line.
pub(super) fn about(line: &[u8]) -> Option<ProcessMessage> {
    // A quick byte search avoids parsing lines that carry file contents.
    memchr::memmem::find(line, b"process")?;
    let head: LineHead<'_> = serde_json::from_slice(line).ok()?;
    let method = head.method?;
    method.starts_with("process/").then_some(())?;
    Some(ProcessMessage { id: head.id, method: method.into_owned(), process: head.params?.process_id? })
}

/// Parses the response to one of our own requests, returning the request's id with it.
pub(super) fn answer(line: &[u8]) -> Option<(String, Value)> {
    #[derive(Deserialize)]
    struct AnswerId {
        id: String,
    }
    memchr::memmem::find(line.get(..line.len().min(4096))?, OWN_ID.as_bytes())?;
    let AnswerId { id } = serde_json::from_slice(line).ok()?;
    id.starts_with(OWN_ID).then_some(())?;
    Some((id, serde_json::from_slice(line).ok()?))
}

/// The prefix of the ids of our own requests and the names of our own processes.
pub(super) const OWN_ID: &str = "pilothouse-";

/// Parses the parameters of a message.
pub(super) fn params<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Result<T, String> {
    #[derive(Deserialize)]
    struct LineParams<T> {
        params: T,
    }
    serde_json::from_slice::<LineParams<T>>(line).map(|whole| whole.params).map_err(|error| error.to_string())
}

/// `process/read`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadParams {
    pub(super) after_seq: Option<u64>,
    pub(super) max_bytes: Option<usize>,
    pub(super) wait_ms: Option<u64>,
}

/// `process/write`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct WriteParams {
    /// Bytes in base64.
    pub(super) chunk: String,
}

/// `process/signal`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct SignalParams {
    pub(super) signal: String,
}

/// The request is not valid in the current state.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// The parameters cannot be parsed.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The request could not be carried out.
pub(super) const INTERNAL: i32 = -32603;

/// Returns a result message as a line.
pub(super) fn result(id: &Value, result: &Value) -> Vec<u8> {
    line(&json!({ "id": id, "result": result }))
}

/// Returns an error message as a line.
pub(super) fn error(id: &Value, code: i32, message: &str) -> Vec<u8> {
    line(&json!({ "error": { "code": code, "message": message }, "id": id }))
}

/// Returns a request or notification as a line.
pub(super) fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Encodes bytes as the protocol does (base64).
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes bytes as the protocol does (base64).
pub(super) fn decode(text: &str) -> Result<Vec<u8>, DecodeError> {
    STANDARD.decode(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_that_names_a_process_is_read() {
        let read = |line: &str| about(line.as_bytes());
        let start = r#"{"id":7,"method":"process/start","params":{"processId":"p","new":[1]},"more":{}}"#;
        let expected =
            ProcessMessage { id: Some(json!(7)), method: "process/start".into(), process: "p".into() };
        assert_eq!(read(start), Some(expected));
        assert_eq!(read(r#"{"method":"process/x","params":{"processId":"p"}}"#).expect("read").id, None);
        for other in [
            r#"{"id":1,"method":"fs/readFile","params":{"path":"file:///process/"}}"#,
            r#"{"id":1,"method":"process/start","params":{"processId":7}}"#,
            r#"{"id":1,"method":"process/start"}"#,
            r#"{"id":1,"method":"process/start","method":"x","params":{"processId":"p"}}"#,
            r#"[{"id":1,"method":"process/start","params":{"processId":"p"}}]"#,
            r#"{"id":1,"result":{"processId":"p"}}"#,
            "process",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn an_answer_is_recognised_as_ours_by_its_id_alone() {
        assert!(answer(br#"{"id":"pilothouse-1","result":{}}"#).is_some());
        assert!(answer(br#"{"id":"x","result":"pilothouse-1"}"#).is_none());
        assert!(answer(br#"{"id":1,"result":{}}"#).is_none());
    }
}

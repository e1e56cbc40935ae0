//! One line from an agent: a JSON-RPC message, or the error with which to answer it. The input is untrusted.
//!
//! Whatever is wrong with a line, its sender waits for an answer: the error carries the id of the request whenever it
//! can be extracted.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde_json::error::Category;
use serde_json::{Map, Value, json};

use crate::envelope::{ErrorKind, SafeText};
use crate::link::{MAX_DEPTH, MAX_FRAME, Strict, depth_within};

/// The maximum length of a request id, in bytes.
const ID_BYTES: usize = 128;
/// The header of a framing that MCP over stdio does not have.
const HEADER: &[u8] = b"content-length:";
/// What is said to who uses it.
const FRAMED: &str =
    "not JSON: MCP over stdio has no Content-Length headers; send each message as one line of JSON";

#[derive(Debug)]
pub(super) struct ErrorResponse {
    /// The request's id, if known.
    pub(super) id: Option<RequestId>,
    /// Why the request is refused.
    pub(super) error: ErrorData,
}

impl ErrorResponse {
    pub(super) fn of(id: Option<RequestId>, error: ErrorData) -> Box<Self> {
        Box::new(Self { id, error })
    }

    /// Returns the refusal as a protocol line.
    pub(super) fn line(&self) -> String {
        line(&json!({ "jsonrpc": "2.0", "id": self.id, "error": self.error }))
    }
}

/// Serialises a message as a line without hidden characters.
pub(super) fn line(message: &Value) -> String {
    SafeText::json(message).map_or_else(|_| message.to_string(), |text| text.as_str().to_owned())
}

/// Parses a line as a JSON object, rejecting duplicate keys as `pilothouse exec` does.
///
/// # Errors
/// When it is too long, too deep, not JSON, ambiguous, or has an id that no answer could carry.
pub(super) fn read(line: &[u8]) -> Result<Map<String, Value>, Box<ErrorResponse>> {
    let refuse = |text: String| ErrorResponse::of(id_of(line), ErrorData::invalid_request(text, None));
    if line.len() > MAX_FRAME {
        let length = line.len();
        return Err(refuse(format!("a message is at most {MAX_FRAME} bytes long, this one has {length}")));
    }
    if !depth_within(line, MAX_DEPTH) {
        return Err(refuse(format!("JSON nests at most {MAX_DEPTH} deep")));
    }
    let value = match serde_json::from_slice(line) {
        Ok(Strict(value)) => value,
        Err(error) if error.classify() == Category::Data => return Err(ambiguous(line, &error)),
        Err(error) => {
            let text = match is_framed(line) {
                true => FRAMED.to_owned(),
                false => format!("not JSON: {error}"),
            };
            return Err(ErrorResponse::of(id_of(line), ErrorData::new(ErrorCode::PARSE_ERROR, text, None)));
        }
    };
    let Value::Object(message) = value else { return Err(no_message(None)) };
    match message.get("id") {
        Some(Value::String(id)) if id.len() > ID_BYTES => {
            Err(refuse(format!("an id is at most {ID_BYTES} bytes long")))
        }
        Some(id) if message.contains_key("method") && request_id(id).is_none() => {
            Err(refuse("an id is a string or a whole number".to_owned()))
        }
        _ => Ok(message),
    }
}

/// Returns whether a line is, or ends with, the header that other protocols put before a message.
fn is_framed(line: &[u8]) -> bool {
    let last = line.rsplit(|byte| *byte == b'}').next().unwrap_or(line).trim_ascii_start();
    last.get(..HEADER.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(HEADER))
}

/// Returns the refusal of JSON that is not a message of the protocol.
pub(super) fn no_message(id: Option<RequestId>) -> Box<ErrorResponse> {
    ErrorResponse::of(id, ErrorData::invalid_request("not a JSON-RPC message", None))
}

/// Returns the refusal of ambiguous input.
fn ambiguous(line: &[u8], error: &serde_json::Error) -> Box<ErrorResponse> {
    let data = json!({ "kind": ErrorKind::InvalidToolInput.as_str(), "retryable": false });
    ErrorResponse::of(id_of(line), ErrorData::invalid_params(error.to_string(), Some(data)))
}

/// Parses an id.
pub(super) fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::String(text) if text.len() <= ID_BYTES => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// Extracts the id of a message, however malformed the rest of it is.
fn id_of(line: &[u8]) -> Option<RequestId> {
    let mut rest = line.trim_ascii_start().strip_prefix(b"{")?;
    let mut depth = 1_usize;
    loop {
        let (first, after) = rest.split_first()?;
        rest = match first {
            b'"' => {
                let (text, after) = string(rest)?;
                match after.trim_ascii_start().strip_prefix(b":") {
                    Some(value) if depth == 1 && text == br#""id""# => {
                        return token(value.trim_ascii_start());
                    }
                    _ => after,
                }
            }
            b'{' | b'[' => {
                depth += 1;
                after
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                after
            }
            _ => after,
        };
    }
}

/// Splits off a string, with its quotes.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        is_end
    })?;
    text.split_at_checked(end + 2)
}

/// Parses the string or number at the start of a text as an id.
fn token(text: &[u8]) -> Option<RequestId> {
    let token = match text.first()? {
        b'"' => string(text)?.0,
        _ => text.split(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\r')).next()?,
    };
    request_id(&serde_json::from_slice(token).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(line: &[u8]) -> (i32, Option<RequestId>) {
        let refusal = read(line).expect_err("refused");
        (refusal.error.code.0, refusal.id)
    }

    #[test]
    fn a_malformed_line_is_refused_with_the_id_of_its_request_where_that_can_be_read() {
        let number = |id: i64| Some(RequestId::Number(id));
        let deep = format!(r#"{{"id":3,"params":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        let deep_first = format!(r#"{{"params":{}{},"id":"a\"b"}}"#, "[".repeat(200), "]".repeat(200));
        let long = format!(r#"{{"id":4,"params":"{}"}}"#, "x".repeat(MAX_FRAME));
        let cases: [(&[u8], i32, Option<RequestId>); 14] = [
            (deep.as_bytes(), -32_600, number(3)),
            (deep_first.as_bytes(), -32_600, Some(RequestId::String("a\"b".into()))),
            (long.as_bytes(), -32_600, number(4)),
            (b"{\"id\":5,\"method\":\"\xff\"}", -32_700, number(5)),
            (br#"{"method":"\ud800","id":6}"#, -32_700, number(6)),
            (br#"{"id":7,"method":"ping""#, -32_700, number(7)),
            (br#"{"id": -8 ,"method":"ping","method":"x"}"#, -32_602, number(-8)),
            (
                br#"{"id":9,"method":"tools/call","params":{"arguments":{"cmd":"a","cmd":"b"}}}"#,
                -32_602,
                number(9),
            ),
            (br#"{"params":{"id":10},"method":}"#, -32_700, None),
            (br#"{"a":"\"id\":11", "x":"#, -32_700, None),
            (br#"{"id":1.5,"method":"ping"}"#, -32_600, None),
            (br#"{"id":null,"method":"ping"}"#, -32_600, None),
            (b"not json", -32_700, None),
            (b"[1]", -32_600, None),
        ];
        for (line, code, id) in cases {
            assert_eq!(refused(line), (code, id), "{}", String::from_utf8_lossy(&line[..line.len().min(80)]));
        }
        assert!(read(br#"{"id":1,"method":"ping"}"#).is_ok());
        for (line, id) in [
            (b"Content-Length: 94\r".as_slice(), None),
            (b"content-length: 94", None),
            (br#"{"id":12,"method":"ping","params":{}}Content-Length: 40"#, number(12)),
        ] {
            let refusal = read(line).expect_err("refused");
            assert_eq!((refusal.error.message.as_ref(), &refusal.id), (FRAMED, &id));
        }
        let long = format!(r#"{{"id":"{}","method":"ping"}}"#, "x".repeat(ID_BYTES + 1));
        assert_eq!(refused(long.as_bytes()), (-32_600, None));
    }

    proptest! {
        #[test]
        fn the_id_of_a_line_is_the_one_that_serde_finds(
            before in r#"("[a-h]{3}":(1|"x\\\\\\"id"|\{"id":7\}|\["id",\{\}\]),){0,3}"#,
            id in prop_oneof![any::<i64>().prop_map(Value::from), "[ -~]{0,20}".prop_map(Value::from)],
            after in r#"(,"[a-z]{3}":\[1,"\}"\]){0,2}"#,
        ) {
            let line = format!(r#"{{{before}"id": {id}{after}}}"#);
            prop_assert!(serde_json::from_str::<Value>(&line).is_ok(), "{}", line);
            prop_assert_eq!(id_of(line.as_bytes()), request_id(&id), "{}", line);
        }

        #[test]
        fn noise_never_makes_the_reader_panic(noise in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&noise);
            let _ = id_of(&[b"{\"id\":".as_slice(), &noise].concat());
        }
    }
}

//! Fuzz targets: the parsers of lines from a client and from a runtime.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

use super::loss::RequestLoss;
use super::requests::{AnsweringSide, Requests};
use crate::agent::message;

/// Interprets bytes as a conversation: each line is sent first by the client, then by the runtime.
#[doc(hidden)]
pub fn fuzz_lines(bytes: &[u8]) {
    let (mut requests, mut far) = (Requests::default(), Requests::default().of_another_machine());
    for line in bytes.split(|byte| *byte == b'\n') {
        let _ = requests.client_said(line);
        if let Ok(read) = message::read(line) {
            let _ = serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(Value::Object(read));
        }
        let _ = requests.replay();
        let _ = requests.process_line(AnsweringSide::Runtime, line);
        let _ = far.client_said(line);
        let _ = far.process_line(AnsweringSide::Runtime, line);
        let _ = far.outgoing_line(AnsweringSide::Runtime, line.to_vec());
    }
    let _ = requests.fail_runtime(RequestLoss::Gone);
}

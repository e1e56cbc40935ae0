//! Fuzz targets: the parsers of lines from a client and from a runtime.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

use super::requests::{Loss, Requests};
use crate::agent::message;

/// Interprets bytes as a conversation: each line is sent first by the client, then by the runtime.
#[doc(hidden)]
pub fn fuzz_lines(bytes: &[u8]) {
    let mut requests = Requests::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let _ = requests.client_said(line);
        if let Ok(read) = message::read(line) {
            let _ = serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(Value::Object(read));
        }
        let _ = requests.replay();
        let _ = requests.answered(line);
    }
    let _ = requests.lost(Loss::Gone);
}

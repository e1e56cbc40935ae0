//! For the fuzz targets: what reads the lines of a client and of a runtime.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

use super::requests::{Loss, Requests};
use crate::agent::message;

/// Reads bytes as a conversation: each line is said by the client, and then by the runtime.
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

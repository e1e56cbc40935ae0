//! A small MCP client over the agents' socket: plays the part of an agent in the demo.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::results::ENVELOPE_KEY;
use crate::envelope::Envelope;
use crate::link::{self, ClientRole, Hello, LineReader, OpenConnection, ReceivedLine, dial};

/// The maximum length of a response, in bytes.
const MAX_ANSWER: usize = 16 << 20;
/// The protocol revision to request.
const REVISION: &str = "2025-11-25";

/// One connection, one request at a time.
pub struct ToolClient {
    lines: LineReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    asked: u64,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The runtime could not be reached.
    #[error(transparent)]
    Link(#[from] link::Error),
    /// The connection broke.
    #[error("talk to the runtime")]
    Talk(#[source] std::io::Error),
    /// The runtime closed the connection.
    #[error("the runtime hung up")]
    HungUp,
    /// The runtime refused the request.
    #[error("{method} was refused: {message}")]
    Refused {
        /// The request's method.
        method: &'static str,
        /// The runtime's error message.
        message: String,
    },
    /// The response violates the protocol.
    #[error("an answer that is none: {0}")]
    Odd(String),
}

impl ToolClient {
    /// Connects as the agent `name`, whose commands start in `cwd`, and performs the handshake.
    ///
    /// # Errors
    /// When the runtime cannot be reached or refuses.
    pub async fn connect(socket: &Path, cwd: PathBuf, name: &str) -> Result<Self, ClientError> {
        let OpenConnection { lines, writer, .. } = dial(socket, &Hello::new(ClientRole::Mcp, cwd)).await?;
        let mut client = Self { lines: lines.with_cap(MAX_ANSWER), writer, asked: 0 };
        let params = json!({
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": { "name": name, "version": env!("CARGO_PKG_VERSION") },
        });
        client.request("initialize", params).await?;
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(client)
    }

    /// Calls a tool and returns its canonical envelope.
    ///
    /// # Errors
    /// When the connection breaks. A tool error is not one of these: it is returned as an envelope.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Envelope, ClientError> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let envelope = result.pointer("/_meta").and_then(|meta| meta.get(ENVELOPE_KEY)).cloned();
        let envelope = envelope.ok_or_else(|| ClientError::Odd("a result without an envelope".into()))?;
        serde_json::from_value(envelope).map_err(|error| ClientError::Odd(error.to_string()))
    }

    async fn request(&mut self, method: &'static str, params: Value) -> Result<Value, ClientError> {
        self.asked += 1;
        let id = json!(self.asked);
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        loop {
            let line = match self.lines.next().await.map_err(ClientError::Talk)? {
                Some(ReceivedLine::Whole(line)) => line,
                Some(ReceivedLine::TooLong) => {
                    return Err(ClientError::Odd(format!("over {MAX_ANSWER} bytes")));
                }
                None => return Err(ClientError::HungUp),
            };
            let mut message: Value =
                serde_json::from_slice(&line).map_err(|error| ClientError::Odd(error.to_string()))?;
            if message.get("id") != Some(&id) {
                continue;
            }
            if let Some(message) = message.pointer("/error/message").and_then(Value::as_str) {
                return Err(ClientError::Refused { method, message: message.to_owned() });
            }
            return Ok(message.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    async fn write(&mut self, message: &Value) -> Result<(), ClientError> {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.map_err(ClientError::Talk)
    }
}

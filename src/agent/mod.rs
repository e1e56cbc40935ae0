//! The agent-facing layer: the MCP service over the tool table, its transport and the stdio shim.
//!
//! rmcp is used only here. Nothing in this layer writes to a terminal; the shim's standard output carries only the
//! protocol.

mod belonging;
mod client;
pub mod codex;
mod elicitation;
mod file_url;
mod hook;
mod input_required;
mod label;
mod launch;
mod local_service;
mod message;
mod opening;
mod params;
mod progress;
mod results;
mod schema;
mod script;
mod service;
mod sessions;
pub mod shell;
mod shim;
mod transport;

pub use client::{ClientError, ToolClient};
pub use hook::serve as serve_hook;
pub use launch::serve as serve_launch;
pub use results::ENVELOPE_KEY;
pub use script::{AgentScript, OperatorAct, ScriptError, ScriptStage, ScriptWords};
pub use service::serve;
pub use sessions::AgentSessions;
#[doc(hidden)]
pub use shim::fuzz_lines;
pub use shim::{Shim, ShimError, ShimTarget};

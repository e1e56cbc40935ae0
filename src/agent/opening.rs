//! The opening of a conversation over MCP: the protocol revision, and the instructions for every agent.

use std::borrow::Cow;

use rmcp::ServerHandler;
use rmcp::model::{
    ErrorData, Implementation, InitializeRequestParams, InitializeResult, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};

/// The instructions that every agent receives once.
const INSTRUCTIONS: &str = "\
Your shell is here: ExecCommand runs a shell command, TaskOutput reads on and waits for one that still runs. \
An operator watches live and may type into commands or stop them; run every command here rather than in a built-in shell.
- ExecCommand runs one command and returns its output. A command still running after yield_time_ms goes on \
as a managed pilothouse task; you get its task_id. Nothing is restarted or lost.
- ExecCommandBatch runs several short commands in one call, when you need them all before your next decision.
- TaskOutput waits for a task or reads on, TaskInput types into it, TaskStop ends it, TaskStatus and TaskList \
tell how things stand. Use task ids exactly as you got them.
- Question shows what running programs wait for somebody to decide, and answers what is yours to answer.
- Commands start in the directory you were started in unless you pass workdir.
- The operator shares the tasks with you: `held_by_operator` means a person is typing, so wait and read the \
output; `stopped by operator` means a person ended it on purpose, so do not just run it again.";

/// The method of the notification that gives a shim the label of its agent.
pub(super) const LABEL_METHOD: &str = "notifications/dev.pilothouse/label";

/// The protocol revisions that are spoken here. 2025-03-26 is not: it has several messages in one line.
static REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Returns this server's description for clients.
pub(super) fn server() -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().build();
    let own = Implementation::new("pilothouse", env!("CARGO_PKG_VERSION")).with_title("Pilothouse");
    ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
}

/// Returns the protocol revisions that are spoken here.
pub(super) fn revisions() -> Cow<'static, [ProtocolVersion]> {
    Cow::Borrowed(&REVISIONS)
}

/// Answers the opening of a conversation. A client that offers 2025-03-26 gets the revision after it, which differs
/// from it least.
///
/// # Errors
/// When there is no revision to answer with.
pub(super) fn answer(
    handler: &impl ServerHandler,
    request: &InitializeRequestParams,
) -> Result<InitializeResult, ErrorData> {
    let mut answer = handler.negotiate_initialize(request)?;
    if request.protocol_version == ProtocolVersion::V_2025_03_26 {
        answer.protocol_version = ProtocolVersion::V_2025_06_18;
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Actor;
    use crate::model::phrases::stop_clause;

    #[test]
    fn the_instructions_quote_the_words_of_a_stop() {
        assert!(INSTRUCTIONS.contains(&format!("`{}`", stop_clause(&Actor::Operator))));
    }
}

//! The clients that are known: what they call themselves, and what they hand to their model.
//!
//! **To add one**: a row of [`CLIENTS`], proven with the real agent (`.ci/long agents`, tests/agents).

use crate::tools::{RECEIPT_CHARS, Room};

/// What is known of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Client {
    /// How the name begins by which it introduces itself.
    begins: &'static str,
    /// What its agent is called.
    pub(super) label: &'static str,
    /// What it hands on of a receipt without cutting it.
    pub(super) room: Room,
    /// Whether an error may carry the envelope in `_meta` out of the model's sight.
    pub(super) hides_meta_of_errors: bool,
}

const fn client(begins: &'static str, label: &'static str, room: Room) -> Client {
    Client { begins, label, room, hides_meta_of_errors: true }
}

const CLIENTS: [Client; 4] = [
    client("claude-code", "claude-code", Room::chars(RECEIPT_CHARS)),
    // With a model it does not know, Codex cuts the middle out of more than about 9,500 characters; it does not say which
    // model it has. The setting `agents.receipt_chars` does.
    client("codex-mcp-client", "codex", Room::chars(RECEIPT_CHARS)),
    // It cuts at 40,000 with marks of its own around the receipt, and gives its model an error as JSON of the whole answer.
    Client { hides_meta_of_errors: false, ..client("gemini-cli-mcp-client", "gemini", Room::chars(39_500)) },
    // It keeps the first 2,000 lines or 50 KB.
    client("opencode", "opencode", Room { chars: RECEIPT_CHARS, bytes: 48_000, lines: 1_900 }),
];

/// Finds what is known of the client of this name.
pub(super) fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| name.starts_with(client.begins))
}

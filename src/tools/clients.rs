//! The clients that are known: what they call themselves, and what they hand to their model.
//!
//! **To add one**: a row of `CLIENTS`, proven with the real agent (`.ci/long agents`, tests/agents).

use super::budget::{RECEIPT_CHARS, Room};

/// What is known of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// How the name begins by which it introduces itself.
    begins: &'static str,
    /// What its agent is called.
    pub label: &'static str,
    /// What it hands on of a receipt without cutting it.
    pub room: Room,
    /// Whether an error may carry the envelope in `_meta` out of the model's sight.
    pub hides_meta_of_errors: bool,
    /// What it cuts, in words.
    cuts: &'static str,
    /// Which tools its model does not see at once, in words.
    defers: &'static str,
}

const fn client(begins: &'static str, label: &'static str, room: Room) -> Client {
    Client { begins, label, room, hides_meta_of_errors: true, cuts: "nothing", defers: "no tool" }
}

const CLIENTS: [Client; 4] = [
    Client {
        defers: "no tool: they ask to be loaded (alwaysLoad)",
        ..client("claude-code", "claude-code", Room::chars(RECEIPT_CHARS))
    },
    Client {
        // It does not say which model it has.
        cuts: "the middle of more than about 9,500 characters, with a model that it does not know (setting \
               `agents.receipt_chars`)",
        defers: "all tools behind its search, which returns 8, with a model that it knows",
        ..client("codex-mcp-client", "codex", Room::chars(RECEIPT_CHARS))
    },
    Client {
        // It puts marks of its own around a receipt, and gives its model an error as JSON of the whole answer.
        hides_meta_of_errors: false,
        cuts: "what is beyond 40,000 characters",
        ..client("gemini-cli-mcp-client", "gemini", Room::chars(39_500))
    },
    Client {
        cuts: "what is beyond 2,000 lines or 50 KB",
        ..client("opencode", "opencode", Room { chars: RECEIPT_CHARS, bytes: 48_000, lines: 1_900 })
    },
];

/// Finds what is known of the client of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| name.starts_with(client.begins))
}

/// Finds what is known of the client of the agent of this label.
#[must_use]
pub fn of_agent(label: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.label == label)
}

impl Client {
    /// Says what it cuts and defers, and what a receipt for it has at most.
    #[must_use]
    pub fn about(&self) -> String {
        let Room { chars, bytes, lines } = self.room;
        let bytes = if bytes == usize::MAX { String::new() } else { format!(", {} KB", bytes / 1_000) };
        let lines = if lines == usize::MAX { String::new() } else { format!(", {lines} lines") };
        format!(
            "it cuts {}, and defers {}; a receipt for it has at most {chars} characters{bytes}{lines}",
            self.cuts, self.defers
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_client_is_what_its_receipts_have() {
        let about = find("opencode").map(Client::about).unwrap_or_default();
        assert_eq!(
            about,
            "it cuts what is beyond 2,000 lines or 50 KB, and defers no tool; a receipt for it has at most 40000 \
             characters, 48 KB, 1900 lines"
        );
        assert_eq!(of_agent("gemini"), find("gemini-cli-mcp-client-x"));
        assert_eq!(find("cursor"), None);
    }
}

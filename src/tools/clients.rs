//! The known clients: how they identify themselves, and how much they pass to their model.
//!
//! **To add one**: add a row to `CLIENTS` and verify it with the real agent (`.ci/long agents`, tests/agents).

use super::budget::{RECEIPT_CHARS, Room};

/// What is known about a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The prefix of the name by which it identifies itself.
    begins: &'static str,
    /// The label of its agent.
    pub label: &'static str,
    /// How much of a receipt it passes on without truncating it.
    pub room: Room,
    /// Whether an error may include the envelope in `_meta`, because the client does not show that to its model.
    pub hides_meta_of_errors: bool,
    /// What it truncates, for people.
    cuts: &'static str,
    /// Which tools it does not show its model at once, for people.
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
        // It does not report which model it uses.
        cuts: "the middle of more than about 9,500 characters, with a model that it does not know (setting \
               `agents.receipt_chars`)",
        defers: "all tools behind its search, which returns 8, with a model that it knows",
        ..client("codex-mcp-client", "codex", Room::chars(RECEIPT_CHARS))
    },
    Client {
        // It wraps receipts in markers of its own, and passes an error to its model as JSON of the whole answer.
        hides_meta_of_errors: false,
        cuts: "what is beyond 40,000 characters",
        ..client("gemini-cli-mcp-client", "gemini", Room::chars(39_500))
    },
    Client {
        cuts: "what is beyond 2,000 lines or 50 KB",
        ..client("opencode", "opencode", Room { chars: RECEIPT_CHARS, bytes: 48_000, lines: 1_900 })
    },
];

/// Returns the known client with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| name.starts_with(client.begins))
}

/// Returns the known client of agents with this label.
#[must_use]
pub fn of_agent(label: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.label == label)
}

impl Client {
    /// Describes what it truncates and defers, and the maximum size of its receipts.
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
